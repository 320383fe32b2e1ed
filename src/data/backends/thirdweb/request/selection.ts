import { isOfKind } from '../../port/backend-error.ts';
import type { InsightsAsk, InsightsOperationId, RecordSelection } from '../../port/insights-backend.ts';
import type { Fields } from '../../upstream-json/fields.ts';
import { columnOf } from './columns.ts';
import { type InsightSource, isName, type Parameters, read, segment } from './source.ts';

/** A place upstream where the rows of a selection are. */
interface Route {
  readonly operation: InsightsOperationId;
  readonly path: string;
  readonly filters: Parameters;
}

/**
 * Reads something about the rows that are selected.
 * @throws BackendError `not_found` with `unknown_name` for a 404 about a name: nothing else can be missing.
 */
export async function readSelected<Result>(
  source: InsightSource,
  selected: RecordSelection,
  parameters: Parameters,
  ask: InsightsAsk,
  normalise: (body: Fields) => Result,
): Promise<Result> {
  const [first, second] = routesOf(selected);
  const missing = addressesOf(selected).some(isName) ? 'the name' : 'nothing';
  const get = ({ operation, path, filters }: Route, about: typeof missing) => {
    const all = [...filters, ...filtersOf(selected), ...parameters];
    return read(source, { operation, path, parameters: all, ask, missing: about }, normalise);
  };
  if (second === undefined) return get(first, missing);
  return get(first, 'nothing').catch((error: unknown) => {
    if (isOfKind(error, 'unsupported') && error.reason !== 'incomplete') return get(second, missing);
    throw error;
  });
}

function filtersOf({ entity, filters }: RecordSelection): Parameters {
  return filters.map(({ field, operator, value }) => {
    const suffix = operator === 'eq' ? '' : `_${operator}`;
    return [`filter_${columnOf(entity, field)}${suffix}`, String(value)];
  });
}

function addressesOf({ filters, wallet, event }: RecordSelection): string[] {
  const filtered = filters.filter(({ field }) => field === 'from_address' || field === 'to_address');
  const named = [wallet, event?.contract].filter(address => address !== undefined);
  return [...named, ...filtered.map(({ value }) => String(value))];
}

/**
 * The second one is for services that lack the first: an event known by its topic alone is a filter upstream, whose path
 * of a signature takes no hash; services that have just that path do.
 */
function routesOf({ entity, wallet, event }: RecordSelection): readonly [Route, Route?] {
  if (wallet !== undefined) {
    const path = `/wallets/${segment(wallet)}/transactions`;
    return [{ operation: 'queryWalletTransactions', path, filters: [] }];
  }
  if (entity === 'blocks') return [{ operation: 'queryBlocks', path: '/blocks', filters: [] }];
  if (entity === 'transactions') {
    return [{ operation: 'queryTransactions', path: '/transactions', filters: [] }];
  }
  const operation = 'queryEvents';
  if (event === undefined) return [{ operation, path: '/events', filters: [] }];
  const { contract, topic0, signature, canonical } = event;
  const text = signature?.replace(/^event\s+/, '') ?? canonical;
  const path = `/events/${segment(contract)}`;
  const below = (name: string): Route => ({ operation, path: `${path}/${segment(name)}`, filters: [] });
  if (text !== undefined) return [below(text)];
  return [{ operation, path, filters: [['filter_topic_0', topic0]] }, below(topic0)];
}
