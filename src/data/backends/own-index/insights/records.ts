import { QueriesBusy, type QueryEngine, QueryTooLarge } from '#indexer/query/query.ts';
import { type Filter, NAMED_FIELDS, type RowSelection } from '#query-model/row-selection.ts';
import { BackendError } from '../../port/backend-error.ts';
import type { InsightsAnswers, RecordSelection } from '../../port/insights-backend.ts';
import { resolveAddress } from '../source/names.ts';
import { assertCaughtUp, assertWhole, type IndexSource } from '../source/source.ts';

/** Maximum count of matches per chain (Decision 75). */
const COUNT_UP_TO = 10_000;
/** Maximum number of groups per chain, and of distinct values in all of them together. */
const MAX_GROUPS = 100_000;
/** Maximum size of the decoded values in one answer with their text, in bytes. */
const MAX_DECODED = 4_000_000;

/** Blocks, transactions and events of an index, as records and in groups. */
export function recordAnswers(
  source: IndexSource,
  queries: QueryEngine,
): Required<Pick<InsightsAnswers, 'records' | 'groups'>> {
  return {
    async records(query, { signal, clients }) {
      await assertWithin(source, query);
      const { sort, limit, page, decode, event } = query;
      const selected = await inIndexTerms(source, query);
      const like = event?.abi;
      // A signature that marks the indexed parameters is enough to decode by.
      const isDecoded = decode || like !== undefined;
      const decoding = { mostBytes: MAX_DECODED, ...(like === undefined ? {} : { like }) };
      const slice = { sort, limit, offset: page * limit, countUpTo: COUNT_UP_TO };
      const { json, total, isCapped } = await withQueryAdvice(
        queries.records(
          { kind: 'rows', ...selected, ...slice, ...(isDecoded ? { decoding } : {}) },
          signal,
          clients,
        ),
      );
      return { records: json, total, isCapped, pages: limit === 0 ? 0 : Math.ceil(total / limit) };
    },

    async groups(query, { signal, clients }) {
      await assertWithin(source, query);
      const { keys, folds, page } = query;
      const selected = await inIndexTerms(source, query);
      const asked = { kind: 'groups', ...selected, keys, folds, limit: MAX_GROUPS } as const;
      if (page !== undefined) return withQueryAdvice(queries.groupPage({ ...asked, page }, signal, clients));
      return (await withQueryAdvice(queries.groups(asked, signal, clients))).groups;
    },
  };
}

/**
 * @throws BackendError `unavailable` while the index has holes, `unsupported` when the query may include blocks before
 * its first.
 */
async function assertWithin(source: IndexSource, { filters }: RecordSelection): Promise<void> {
  assertCaughtUp(source);
  const firstBlock = source.firstBlock();
  if (firstBlock === 0 || filters.some(filter => isFromBlock(filter, BigInt(firstBlock)))) return;
  if (filters.some(({ field }) => field === 'block_timestamp')) {
    const first = await source.reader.blockByNumberOrHash(firstBlock);
    if (first !== null && filters.some(filter => isAfter(filter, BigInt(first.timestamp)))) return;
  }
  assertWhole(source);
}

/** True when the filter excludes all blocks before that block. */
function isFromBlock({ field, operator, value }: Filter, firstBlock: bigint): boolean {
  if (field !== 'block_number' || typeof value !== 'bigint') return false;
  if (operator === 'gt') return value + 1n >= firstBlock;
  return (operator === 'gte' || operator === 'eq') && value >= firstBlock;
}

/** True when the filter excludes all blocks up to that time. Blocks before the first one may share its time. */
function isAfter({ field, operator, value }: Filter, timestampMs: bigint): boolean {
  if (field !== 'block_timestamp' || typeof value !== 'bigint') return false;
  if (operator === 'gt') return value * 1_000n >= timestampMs;
  return (operator === 'gte' || operator === 'eq') && value * 1_000n > timestampMs;
}

/** Resolves all names of a selection, and converts contract and event to filters. */
async function inIndexTerms(
  source: IndexSource,
  { entity, filters, wallet, contract, event }: RecordSelection,
): Promise<RowSelection> {
  const all = [...filters];
  const field = entity === 'events' ? 'address' : 'to_address';
  if (contract !== undefined) all.push({ field, operator: 'eq', value: contract });
  if (event !== undefined) all.push({ field: 'topic_0', operator: 'eq', value: event.topic0 });
  const resolved = await Promise.all(
    all.map(async filter =>
      NAMED_FIELDS.has(filter.field)
        ? { ...filter, value: await resolveAddress(source, String(filter.value)) }
        : filter,
    ),
  );
  return {
    entity,
    filters: resolved,
    ...(wallet === undefined ? {} : { wallet: await resolveAddress(source, wallet) }),
  };
}

const ADVICE = {
  deadline:
    'the query took longer than 10 seconds: narrow it with filter_block_number or filter_block_timestamp',
  groups:
    'the query has more than 100000 groups or different values, or more than 200000 values in all groups, or too long ones: group by fewer fields, aggregate less, or narrow it with filters',
  page: 'the rows of this page have more than 16 MB: ask for a lower limit',
  memory:
    'the query needs more memory than it may have: group by fewer fields, aggregate less, or narrow it with filters',
} as const;

/** Time after which a query that found no free thread may be retried, in milliseconds (Decision 164). */
const RETRY_AFTER_MS = 1_000;

/**
 * Waits for a query and translates its failures.
 * @throws BackendError `rejected`, with advice, for a query that is too large; `unavailable` while other queries use
 * all threads.
 */
export async function withQueryAdvice<Result>(pending: Promise<Result>): Promise<Result> {
  try {
    return await pending;
  } catch (cause) {
    if (cause instanceof QueriesBusy) {
      const message = 'it is busy with other long queries';
      throw new BackendError('unavailable', 'busy', message, { cause, retryAfterMs: RETRY_AFTER_MS });
    }
    if (!(cause instanceof QueryTooLarge)) throw cause;
    throw new BackendError('rejected', 'bad_input', ADVICE[cause.reason], { cause });
  }
}
