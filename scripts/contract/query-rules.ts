import { type Json, type JsonObject, list } from '../../src/contract/contracts/document.ts';
import { isObject } from '../../src/lib/json.ts';
import { gathered } from './gathered-values.ts';
import type { Target } from './judge.ts';
import { withQuery } from './paths.ts';
import type { Tester } from './tester.ts';

const COMPARED: Readonly<Record<string, (a: Sortable, b: Sortable) => boolean>> = {
  gte: (a, b) => a >= b,
  gt: (a, b) => a > b,
  lte: (a, b) => a <= b,
  lt: (a, b) => a < b,
};
type Sortable = bigint | string;

/** Aggregations over fields of every kind of record, in the limited grammar (Decision 83). */
const AGGREGATES = [
  'count()',
  'count() as how_many, max(block_number) as newest',
  'countDistinct(block_hash)',
  'avg(block_number + 1)',
  'min(block_timestamp) as first',
];

/** True for operations with filters, order, aggregation and pages over several chains. */
export function isQuery({ parameters }: Target): boolean {
  return parameters.some(({ name }) => name === 'aggregate');
}

/** Checks the responses of a query against its rows at `path`. */
export async function tryQueryRules(tester: Tester, target: Target, path: string): Promise<void> {
  const body = await tester.body(target, path);
  const rows = rowsOf(body, 'data');
  const [first] = rows;
  if (first === undefined) return;
  await tryFilters(tester, target, { path, rows });
  for (const field of Object.keys(first).filter(name => isSortable(first, name))) {
    await tryOrder(tester, target, { path, field });
    await tryGroups(tester, target, { path, field });
  }
  await tryAggregates(tester, target, path);
  await tryPages(tester, target, { path, rows });
  await tryChains(tester, target, path);
}

async function tryFilters(
  tester: Tester,
  target: Target,
  { path, rows }: { path: string; rows: readonly JsonObject[] },
): Promise<void> {
  const names = target.parameters.map(({ name }) => String(name)).filter(name => name.startsWith('filter_'));
  for (const name of names) {
    const [, base = '', operator] = /^filter_(.*?)(?:_(gte|gt|lte|lt))?$/.exec(name) ?? [];
    const sample = rows.map(row => filtered(row, base)).find(value => value !== undefined);
    if (sample === undefined) continue;
    const query = withQuery(path, `${name}=${sample}`);
    const matches = COMPARED[operator ?? ''] ?? ((a, b) => a === b);
    const found = rowsOf(await tester.body(target, query), 'data').map(row => filtered(row, base));
    const isMissing = found.length === 0 && operator !== 'gt' && operator !== 'lt';
    if (isMissing) tester.report(`${target.id}: ${query}: lacks the record that it was taken from`);
    if (!found.every(value => value !== undefined && matches(value, sample)))
      tester.report(`${target.id}: ${query}: has a record that does not match`);
  }
}

async function tryOrder(tester: Tester, target: Target, { path, field }: { path: string; field: string }) {
  for (const order of ['asc', 'desc']) {
    const query = withQuery(path, `sort_by=${field}&sort_order=${order}&limit=100`);
    const values = rowsOf(await tester.body(target, query), 'data').flatMap(
      row => sortable(row[field]) ?? [],
    );
    const isInOrder = values.every((value, index) => {
      const before = values[index - 1];
      return before === undefined || (order === 'asc' ? before <= value : before >= value);
    });
    if (values.length === 0) tester.report(`${target.id}: ${query}: has no records`);
    if (!isInOrder) tester.report(`${target.id}: ${query}: is not in this order`);
  }
}

async function tryGroups(tester: Tester, target: Target, { path, field }: { path: string; field: string }) {
  const query = withQuery(path, `group_by=${field}&aggregate=count()%20as%20how_many&limit=5`);
  await hasGroups(tester, target, { query, keys: [field, 'how_many'] });
}

async function tryAggregates(tester: Tester, target: Target, path: string): Promise<void> {
  for (const expression of AGGREGATES) {
    const keys = expression.split(', ').map(part => part.split(' as ')[1] ?? part);
    const query = withQuery(path, `aggregate=${encodeURIComponent(expression)}`);
    await hasGroups(tester, target, { query, keys });
  }
  const byDay = 'toStartOfDay(block_timestamp) as day';
  const query = withQuery(path, `group_by=${encodeURIComponent(byDay)}&sort_by=day`);
  await hasGroups(tester, target, { query, keys: ['day', 'count'] });
  const wrong = ['aggregate=sum(', 'aggregate=sum(no_field)', 'group_by=no_field', 'sort_by=no_field'];
  for (const one of wrong) {
    await tester.check(target, { path: withQuery(path, one) }, status => status === 400);
  }
}

/** Checks that there is a group, and that each has exactly these keys. */
async function hasGroups(
  tester: Tester,
  target: Target,
  { query, keys }: { query: string; keys: readonly string[] },
): Promise<void> {
  const body = await tester.body(target, query);
  const groups = rowsOf(body, 'aggregations');
  if (groups.length === 0) tester.report(`${target.id}: ${query}: has no groups`);
  const wanted = keys.toSorted().join();
  const other = groups.map(group => Object.keys(group).sort().join()).find(own => own !== wanted);
  if (other !== undefined) tester.report(`${target.id}: ${query}: has a group of ${other}, not of ${wanted}`);
}

async function tryPages(
  tester: Tester,
  target: Target,
  { path, rows }: { path: string; rows: readonly JsonObject[] },
): Promise<void> {
  const at = (query: string) => withQuery(path, query);
  const ordered = 'sort_order=asc&limit=1';
  const pages = await Promise.all([0, 1].map(page => tester.body(target, at(`${ordered}&page=${page}`))));
  const [one, two] = pages.map(page => JSON.stringify(rowsOf(page, 'data')));
  if (rows.length > 1 && one === two) tester.report(`${target.id}: ${path}: page 1 is page 0 again`);
  const none = await tester.body(target, at('limit=0'));
  if (rowsOf(none, 'data').length > 0) tester.report(`${target.id}: ${path}: limit=0 has records`);
  if (!(Number(metaOf(none).total_items) > 0)) tester.report(`${target.id}: ${path}: limit=0 has no total`);
  await tester.body(target, at('page=20'));
  await tester.body(target, at('page=500&aggregate=count()'));
  for (const query of ['page=21', 'page=501&aggregate=count()']) {
    await tester.check(target, { path: at(query) }, status => status === 400);
  }
}

/**
 * Tests one chain, by the current and the deprecated parameter, and all chains. Records must belong to them, and `meta`
 * and the header must name them.
 */
async function tryChains(tester: Tester, target: Target, path: string): Promise<void> {
  const all = gathered(tester.found, 'chain').sort((a, b) => Number(a) - Number(b));
  const wanted = [
    ...all.flatMap(id => [
      [`chain_id=${id}`, id],
      [`chain=${id}`, id],
    ]),
  ];
  if (all.length > 1) {
    wanted.push([all.map(id => `chain_id=${id}`).join('&'), ...all], [`chain_id=${all.join()}`, ...all]);
  }
  for (const [query = '', ...ids] of wanted) {
    const exchange = await tester.check(target, { path: withQuery(path, query) }, status => status === 200);
    const body: Json | undefined = exchange.status === 200 ? JSON.parse(exchange.text) : undefined;
    if (body === undefined) continue;
    const asked = list(metaOf(body), 'chain_ids').map(String).sort();
    if (asked.join() !== ids.toSorted().join())
      tester.report(`${target.id}: ${path} with ${query}: meta names the chains ${asked}`);
    if (exchange.headers['x-chain-id'] !== ids.join(', '))
      tester.report(`${target.id}: ${path} with ${query}: X-Chain-Id is ${exchange.headers['x-chain-id']}`);
    if (!rowsOf(body, 'data').every(row => ids.includes(String(row.chain_id))))
      tester.report(`${target.id}: ${path} with ${query}: has a record of another chain`);
  }
}

function rowsOf(body: Json | undefined, name: string): JsonObject[] {
  return isObject(body) ? list(body, name).filter(entry => isObject(entry)) : [];
}

function metaOf(body: Json | undefined): JsonObject {
  return isObject(body) && isObject(body.meta) ? body.meta : {};
}

/** Value that a filter applies to. A block's `hash` filter applies to `block_hash`. */
function filtered(row: JsonObject, base: string): Sortable | undefined {
  const topic = /^topic_(\d)$/.exec(base)?.[1];
  if (topic !== undefined) return sortable(list(row, 'topics')[Number(topic)]);
  return sortable(base === 'hash' && !('hash' in row) ? row.block_hash : row[base]);
}

function isSortable(row: JsonObject, name: string): boolean {
  // Lists stored as text are not fields.
  return !name.endsWith('_json') && sortable(row[name]) !== undefined;
}

/** Sort key: numbers and amounts by size, everything else as text; undefined for null, lists and objects. */
function sortable(value: Json | undefined): Sortable | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (typeof value !== 'string') return undefined;
  return /^\d+$/.test(value) ? BigInt(value) : value;
}
