import { isObject } from '#lib/json.ts';
import { type Entity, NAMED_FIELDS } from '#query-model/row-selection.ts';
import { isOfKind } from '../port/backend-error.ts';
import type { InsightsAsk, InsightsOperationId, RecordSelection } from '../port/insights-backend.ts';
import type { Fields } from '../upstream-json/fields.ts';
import { isName, type Parameters, read, segment, type ThirdwebSource } from './source.ts';

/** Upstream path and filters for the rows of a selection. */
interface Route {
  readonly operation: InsightsOperationId;
  readonly path: string;
  readonly filters: Parameters;
}

/**
 * Reads rows of a selection, or values derived from them.
 * @throws BackendError `not_found` with `unknown_name` for a 404 about a name: nothing else can be missing.
 */
export async function readSelected<Result>(
  source: ThirdwebSource,
  selected: RecordSelection,
  parameters: Parameters,
  ask: InsightsAsk,
  normalise: (body: Fields) => Result | Promise<Result>,
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
    return [`filter_${upstreamColumn(entity, field)}${suffix}`, String(value)];
  });
}

function addressesOf({ filters, wallet, contract }: RecordSelection): string[] {
  const filtered = filters.filter(({ field }) => NAMED_FIELDS.has(field));
  const named = [wallet, contract].filter(address => address !== undefined);
  return [...named, ...filtered.map(({ value }) => String(value))];
}

/**
 * Routes of a selection. The second is for services that lack the first. Upstream filters events by a bare topic, and
 * its signature path takes no hash; other services have only that path.
 */
function routesOf({ entity, wallet, contract, event }: RecordSelection): readonly [Route, Route?] {
  if (wallet !== undefined) {
    const path = `/wallets/${segment(wallet)}/transactions`;
    return [{ operation: 'queryWalletTransactions', path, filters: [] }];
  }
  if (entity === 'blocks') return [{ operation: 'queryBlocks', path: '/blocks', filters: [] }];
  if (entity === 'transactions') return transactionRoutes(contract);
  if (contract === undefined) return [{ operation: 'queryAllEvents', path: '/events', filters: [] }];
  const path = `/events/${segment(contract)}`;
  if (event === undefined) return [{ operation: 'queryContractEvents', path, filters: [] }];
  const operation = 'queryEvents';
  const { topic0, signature, canonical } = event;
  const text = signature?.replace(/^event\s+/, '') ?? canonical;
  const below = (name: string): Route => ({ operation, path: `${path}/${segment(name)}`, filters: [] });
  if (text !== undefined) return [below(text)];
  return [{ operation, path, filters: [['filter_topic_0', topic0]] }, below(topic0)];
}

/** Routes of transactions. Services that lack the path of a contract have a filter for it. */
function transactionRoutes(contract: string | undefined): readonly [Route, Route?] {
  const path = '/transactions';
  if (contract === undefined) return [{ operation: 'queryTransactions', path, filters: [] }];
  const operation = 'queryContractTransactions';
  return [
    { operation, path: `${path}/${segment(contract)}`, filters: [] },
    { operation, path, filters: [['filter_to_address', contract]] },
  ];
}

/** Columns of the original's tables whose names differ from the record's fields. Source: its `field_validation.go`. */
const COLUMNS: Readonly<Record<Entity, Readonly<Record<string, string>>>> = {
  blocks: { block_hash: 'hash' },
  transactions: {},
  events: {},
};

/** Upstream's name of a field in filters, orders and groups. */
export function upstreamColumn(entity: Entity, field: string): string {
  const columns = COLUMNS[entity];
  return (Object.hasOwn(columns, field) ? columns[field] : undefined) ?? field;
}

/**
 * Reads the rows of `aggregations` in either form. One is a list with an object per group. The other is an object, or a
 * list with one object per chain: its numbered members are the groups, and its other members apply to all of them.
 * Source: the original's Go service; clients of the hosted one.
 */
export function aggregationRows(aggregations: unknown): Fields[] {
  if (Array.isArray(aggregations)) return aggregations.flatMap(aggregationRows);
  if (!isObject(aggregations)) return [];
  const members = Object.entries(aggregations);
  const groups = members.filter(([, member]) => isObject(member));
  if (groups.length === 0) return members.length === 0 ? [] : [aggregations];
  const shared = Object.fromEntries(members.filter(([name, member]) => !isObject(member) && !isIndex(name)));
  return groups.flatMap(([, group]) => aggregationRows(group)).map(row => ({ ...shared, ...row }));
}

function isIndex(name: string): boolean {
  return /^\d+$/.test(name);
}
