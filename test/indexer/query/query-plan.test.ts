import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { selectionOf } from '#indexer/query/entities.ts';
import type { Entity, Filter, RowsQuery } from '#indexer/query/query.ts';
import { countingOf, keysOf } from '#indexer/query/rows.ts';
import { openQueryDatabase, type QueryDatabase } from '#indexer/query/sqlite/database.ts';
import { sqliteQueries } from '#indexer/query/sqlite/sqlite-dialect.ts';
import { isQuick } from '#indexer/query/threads/pool.ts';
import { CHAIN_ID, temporaryFolder } from '../support.ts';
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

function query(entity: Entity, filters: readonly Filter[], parts: Partial<RowsQuery> = {}): RowsQuery {
  return {
    kind: 'rows',
    entity,
    filters,
    sort: { field: 'block_number', order: 'desc' },
    limit: 50,
    offset: 0,
    countUpTo: 10_000,
    ...parts,
  };
}

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
const equal = (field: string, value: bigint | string): Filter => ({ field, operator: 'eq', value });
const between = (field: string, from: bigint, to: bigint): Filter[] => [
  { field, operator: 'gte', value: from },
  { field, operator: 'lt', value: to },
];
const event = [equal('address', wallet), equal('topic_0', topic)];

const KEYS = 'INTEGER PRIMARY KEY (rowid>? AND rowid<?)';
const QUICK: readonly [what: string, asked: RowsQuery, by: string][] = [
  ['blocks of a range', query('blocks', between('block_number', 1n, 9n)), KEYS],
  ['blocks of a time', query('blocks', between('block_timestamp', 1n, 9n)), KEYS],
  ['a block', query('blocks', [equal('block_hash', hash)]), '(hash=?)'],
  ['transactions of a range', query('transactions', between('block_number', 1n, 9n)), KEYS],
  ['transactions of a time', query('transactions', between('block_timestamp', 1n, 9n)), KEYS],
  ['transactions of a block', query('transactions', [equal('block_hash', hash)]), KEYS],
  ['a transaction', query('transactions', [equal('hash', hash)]), '(hash=?)'],
  ['what one sent', query('transactions', [equal('from_address', wallet)]), 'by_from (from_address=?)'],
  ['what one received', query('transactions', [equal('to_address', wallet)]), 'by_to (to_address=?)'],
  [
    'calls of a function',
    query('transactions', [equal('function_selector', '0xa9059cbb')]),
    'by_function (selector=?)',
  ],
  ['a wallet, sent', query('transactions', [], { wallet }), 'by_from (from_address=?)'],
  ['a wallet, received', query('transactions', [], { wallet }), 'by_to (to_address=?)'],
  [
    'a wallet in a range',
    query('transactions', between('block_number', 1n, 9n), { wallet }),
    'by_from (from_address=? AND rowid>? AND rowid<?)',
  ],
  ['events of a contract', query('events', event), 'logs_by_event (address=? AND topic0=?)'],
  [
    'events in a range',
    query('events', [...event, ...between('block_number', 1n, 9n)]),
    'logs_by_event (address=? AND topic0=? AND rowid>? AND rowid<?)',
  ],
  ...([1, 2, 3] as const).map((at): [string, RowsQuery, string] => [
    `events with topic ${at}`,
    query('events', [...event, equal(`topic_${at}`, topic)]),
    `logs_by_topic${at} (address=? AND topic0=? AND topic${at}=?)`,
  ]),
  [
    'events of a transaction',
    query('events', [...event, equal('transaction_hash', hash)]),
    'rowid>? AND rowid<?)',
  ],
];

for (const [what, asked, by] of QUICK) {
  test(`${what}: found by an index, counted by it, and never sorted`, () => {
    const plan = keysPlan(asked);

    expect(plan).toContain(by);
    expect(planOf(countingOf(asked, sqliteQueries))).toContain(by);
    expect(plan).not.toMatch(/TEMP B-TREE|SCAN [btl]\b/);
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

test('what has to walk the chain is not taken for quick', () => {
  const above = { field: 'value', operator: 'gte', value: 7n } as const;

  expect(isQuick(query('transactions', [above]))).toBe(false);
  expect(isQuick(query('transactions', [], { sort: { field: 'value', order: 'asc' } }))).toBe(false);
  expect(isQuick({ kind: 'groups', entity: 'blocks', filters: [], keys: [], folds: [], limit: 1 })).toBe(
    false,
  );
});

test('a filter beside that of another index, or on what no index has, is not taken for quick', () => {
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

test('calls of a function by an address are found among those of the address', () => {
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
