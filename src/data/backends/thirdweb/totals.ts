import { BackendError } from '../port/backend-error.ts';
import type { InsightsAsk, RecordsQuery } from '../port/insights-backend.ts';
import { required } from '../upstream-json/fields.ts';
import { integerOrNull } from '../upstream-json/values.ts';
import { chainIdOf } from './normalise/forms.ts';
import { aggregationRows, readSelected } from './selection.ts';
import type { ThirdwebSource } from './source.ts';

/** Maximum count of matches per chain (Decision 75). */
const MAX_COUNT = 10_000;
/** Limit of count groups. There is one per chain, and at most 55 chains. */
const COUNT_GROUPS = '500';

/** Facts that a page gives about the total. */
export interface PageFacts {
  /** Rows by chain. */
  readonly counts: ReadonlyMap<number, number>;
  /** Upstream's `total_items`. */
  readonly said: { readonly items: number | null; readonly isCapped: boolean };
}

export interface RecordTotal {
  readonly total: number;
  readonly isCapped: boolean;
  readonly pages: number;
}

/** Matches on one chain; `isLow` when there may be more. */
interface Count {
  readonly items: number;
  readonly isLow: boolean;
}

/**
 * Computes the total of matches. Upstream's `total_items` counts the rows of the answer on some services and all
 * matches on others. It is used only when it exceeds the rows known from the page. A page that is not full gives the
 * total itself. For other chains upstream counts; if it cannot, the total is the proven minimum and marked as capped.
 */
export async function totalsOf(
  source: ThirdwebSource,
  query: RecordsQuery,
  { counts, said }: PageFacts,
  ask: InsightsAsk,
): Promise<RecordTotal> {
  const { limit } = query;
  const asked = limit === 0 ? 1 : limit;
  const offset = limit === 0 ? 0 : limit * query.page;
  const known = new Map<number, Count>();
  const open: number[] = [];
  for (const [chainId, rows] of counts) {
    const items = rows === 0 ? 0 : offset + rows;
    const isWhole = rows < asked && (rows > 0 || offset === 0);
    known.set(chainId, { items, isLow: !isWhole });
    if (!isWhole) open.push(chainId);
  }
  const [only] = open;
  if (counts.size === 1 && only !== undefined && (said.items ?? 0) > (known.get(only)?.items ?? 0)) {
    known.set(only, { items: said.items ?? 0, isLow: said.isCapped });
  } else if (only !== undefined) {
    for (const [chainId, items] of await counted(source, query, { ...ask, chainIds: open })) {
      // The two requests may see different rows. The total must cover the page.
      known.set(chainId, { items: Math.max(items, known.get(chainId)?.items ?? 0), isLow: false });
    }
  }
  return summed([...known.values()], limit);
}

function summed(counts: readonly Count[], limit: number): RecordTotal {
  const items = counts.map(count => Math.min(count.items, MAX_COUNT));
  return {
    total: items.reduce((sum, count) => sum + count, 0),
    isCapped: counts.some(count => count.isLow || count.items > MAX_COUNT),
    pages: limit === 0 ? 0 : Math.ceil(Math.max(0, ...items) / limit),
  };
}

/** Matches by chain; none when upstream cannot count. */
async function counted(
  source: ThirdwebSource,
  query: RecordsQuery,
  ask: InsightsAsk,
): Promise<ReadonlyMap<number, number>> {
  const parameters = [
    ['aggregate', 'count() as n'],
    ['group_by', 'chain_id'],
    ['limit', COUNT_GROUPS],
    ['page', '0'],
  ] as const;
  try {
    return await readSelected(source, query, parameters, ask, ({ aggregations }) => {
      const found = new Map(ask.chainIds.map(id => [id, 0]));
      for (const row of aggregationRows(aggregations)) {
        const id = chainIdOf(row, ask);
        if (found.has(id)) found.set(id, (found.get(id) ?? 0) + required(integerOrNull(row.n), 'n'));
      }
      return found;
    });
  } catch (error) {
    // A failed count must not lose the page, for example on an upstream without aggregation.
    if (ask.signal.aborted || !(error instanceof BackendError)) throw error;
    return new Map();
  }
}
