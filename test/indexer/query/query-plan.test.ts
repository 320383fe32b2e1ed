import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RowsQuery } from '#indexer/query/query.ts';
import { countingOf, keysOf } from '#indexer/query/rows.ts';
import { selectionOf } from '#indexer/query/selection.ts';
import { sqliteQueries } from '#indexer/query/sqlite/sqlite-dialect.ts';
import { openQueryDatabase, type QueryDatabase } from '#indexer/query/sqlite/sqlite-engine.ts';
import { isQuick } from '#indexer/query/threads/pool.ts';
import { CHAIN_ID, temporaryFolder } from '../support.ts';
import { equal, query, quickQueries } from './quick-queries.ts';
import { ADDRESSES, randomBlocks, TOPICS, writeIndex } from './random-blocks.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let db: QueryDatabase;

beforeAll(async () => {
  folder = await temporaryFolder();
  const file = join(folder.folder, 'index.sqlite');
  await writeIndex({ file }, { chainId: CHAIN_ID, blocks: randomBlocks({ seed: 1, count: 5 }) });
  db = openQueryDatabase({ file, tick: () => undefined });
});

afterAll(async () => {
  db.close();
  await folder.remove();
});

function planOf({ sql, bindings }: { sql: string; bindings: readonly unknown[] }): string {
  const steps = db
    .prepare(`explain query plan ${sql}`)
    .raw()
    .all(...bindings);
  return steps.map(step => (Array.isArray(step) ? String(step.at(-1)) : '')).join('\n');
}

const keysPlan = (asked: RowsQuery) => {
  const { sql, bindings } = keysOf(asked, sqliteQueries);
  return planOf({ sql, bindings: [...bindings, 50n, 0n] });
};

const [wallet = ''] = ADDRESSES;
const [topic = ''] = TOPICS;
const hash = `0x${'11'.repeat(32)}`;
const event = [equal('address', wallet), equal('topic_0', topic)];

const KEYS = 'INTEGER PRIMARY KEY (rowid>? AND rowid<?)';
/** Index by which SQLite finds each of the quick queries. */
const INDEXES: Readonly<Record<string, string>> = {
  'blocks of a range': KEYS,
  'blocks of a time': KEYS,
  'a block': '(hash=?)',
  'transactions of a range': KEYS,
  'transactions of a time': KEYS,
  'transactions of a block': KEYS,
  'a transaction': '(hash=?)',
  'what one sent': 'by_from (from_address=?)',
  'what one received': 'by_to (to_address=?)',
  'calls of a function': 'by_function (selector=?)',
  'a wallet': 'by_from (from_address=?)',
  'a wallet in a range': 'by_from (from_address=? AND rowid>? AND rowid<?)',
  'all events of a contract': 'logs_by_address (address=?)',
  'events of all contracts': 'logs_by_topic (topic0=?)',
  'events of all contracts in a range': 'logs_by_topic (topic0=? AND rowid>? AND rowid<?)',
  'events of a contract': 'logs_by_event (kind=?)',
  'events in a range': 'logs_by_event (kind=? AND rowid>? AND rowid<?)',
  'events with topic 1': 'logs_by_topic1 (kind=? AND topic1=?)',
  'events with topic 2': 'logs_by_topic2 (kind=? AND topic2=?)',
  'events with topic 3': 'logs_by_topic3 (kind=? AND topic3=?)',
  'events of a transaction': 'rowid>? AND rowid<?)',
};

for (const [what, asked] of quickQueries({ wallet, topic, hash, selector: '0xa9059cbb' })) {
  const by = INDEXES[what] ?? 'no index';

  test(`${what}: found and counted by an index, and never sorted`, () => {
    const plan = keysPlan(asked);

    expect(plan).toContain(by);
    expect(planOf(countingOf(asked, sqliteQueries))).toContain(by);
    expect(plan).not.toMatch(/TEMP B-TREE|SCAN [btl]\b/);
    if (asked.wallet !== undefined) expect(plan).toContain(by.replaceAll('from', 'to'));
    expect(isQuick(asked)).toBe(true);
  });
}

test('the newest rows are read from the end of the chain', () => {
  for (const entity of ['blocks', 'transactions', 'events'] as const) {
    const asked = query(entity, []);

    expect(keysPlan(asked)).not.toContain('TEMP B-TREE');
    expect(isQuick(asked)).toBe(true);
  }
});

test('a query that has to walk the chain does not count as quick', () => {
  const above = { field: 'value', operator: 'gte', value: 7n } as const;

  expect(isQuick(query('transactions', [above]))).toBe(false);
  expect(isQuick(query('transactions', [], { sort: { field: 'value', order: 'asc' } }))).toBe(false);
  expect(isQuick({ kind: 'groups', entity: 'blocks', filters: [], keys: [], folds: [], limit: 1 })).toBe(
    false,
  );
});

test('a filter next to another index’s one, or on a field without an index, does not count as quick', () => {
  const selector = equal('function_selector', '0xa9059cbb');
  const topics = [equal('topic_1', topic), equal('topic_2', topic)];

  for (const asked of [
    query('transactions', [equal('function_selector', '0x')]),
    query('transactions', [selector, equal('to_address', wallet)]),
    query('transactions', [equal('from_address', wallet), equal('to_address', wallet)]),
    query('transactions', [selector], { wallet }),
    query('events', [...event, ...topics]),
    query('events', [equal('address', wallet), ...topics.slice(1)]),
    query('events', topics.slice(0, 1)),
  ])
    expect(isQuick(asked)).toBe(false);
});

test('calls of a function by an address are found by the address', () => {
  const selector = equal('function_selector', '0xa9059cbb');

  expect(keysPlan(query('transactions', [selector, equal('to_address', wallet)]))).toContain(
    '(to_address=?)',
  );
  expect(keysPlan(query('transactions', [selector, equal('from_address', wallet)]))).toContain(
    '(from_address=?)',
  );
  const plan = keysPlan(query('transactions', [selector], { wallet }));
  expect(plan).toContain('(from_address=?)');
  expect(plan).toContain('(to_address=?)');
  expect(plan).not.toContain('selector=?');
});

test('a wallet’s groups are found by the indexes of both sides', () => {
  const { from, where, bindings } = selectionOf(
    { entity: 'transactions', filters: [], wallet },
    { dialect: sqliteQueries },
  );
  const plan = planOf({ sql: `select count(*) from ${from} where ${where}`, bindings });

  expect(plan).toContain('MULTI-INDEX OR');
});
