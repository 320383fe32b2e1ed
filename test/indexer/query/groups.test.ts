import { rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { compile } from '#indexer/query/compile.ts';
import { openQueryDatabase } from '#indexer/query/database.ts';
import { integerOf, sortable } from '#indexer/query/functions.ts';
import { type Filter, type GroupsQuery, QueryTooLarge } from '#indexer/query/query.ts';
import type { Engine } from '#indexer/query/threads/engine.ts';
import type { Group, RowExpression } from '#lib/expression.ts';
import { temporaryFolder } from '../support.ts';
import { indexOf, type TransactionRow } from './grouped-rows.ts';

const MAX_UINT256 = 2n ** 256n - 1n;
const ALICE = `0x${'a1'.repeat(20)}`;
const BOB = `0x${'b0'.repeat(20)}`;

let folder: string;
let next = 0;
const engines: Engine[] = [];

beforeAll(async () => {
  ({ folder } = await temporaryFolder());
});

afterEach(() => {
  for (const engine of engines.splice(0)) engine.close();
});

afterAll(() => rm(folder, { recursive: true }));

const row = (different: Partial<TransactionRow>): TransactionRow => ({
  block_timestamp: 1_700_000_000n,
  from_address: ALICE,
  to_address: BOB,
  value: 1n,
  gas: 21_000n,
  gas_price: 1n,
  max_fee_per_gas: null,
  gas_used: 21_000n,
  transaction_type: 0n,
  status: 1n,
  data: '0x',
  ...different,
});

async function engineOver(...rows: Partial<TransactionRow>[]): Promise<Engine> {
  next += 1;
  const { engine } = await indexOf(folder, { chainId: next, rows: rows.map(row) });
  engines.push(engine);
  return engine;
}

function groups(engine: Engine, asked: Partial<GroupsQuery>): readonly Group[] {
  const answer = engine.run({
    kind: 'groups',
    entity: 'transactions',
    filters: [],
    keys: [],
    folds: [],
    limit: 100,
    ...asked,
  });
  if (!('groups' in answer)) throw new Error('no groups');
  return answer.groups;
}

const field = (name: string): RowExpression => ({ kind: 'field', name });
const from = field('from_address');
const value = field('value');
const gasUsed = field('gas_used');
const plus = (left: RowExpression, right: RowExpression): RowExpression => ({
  kind: 'arithmetic',
  operator: '+',
  left,
  right,
});

test('no rows make one group without keys, and none with keys', async () => {
  const engine = await engineOver();
  const folds = [
    { kind: 'count' },
    { kind: 'sum', of: value },
    { kind: 'max', of: gasUsed },
    { kind: 'distinct', of: from },
  ] as const;

  expect(groups(engine, { folds })).toEqual([{ keys: [], folds: [0n, null, null, []] }]);
  expect(groups(engine, { folds, keys: [from] })).toEqual([]);
});

test('256-bit sums are exact beyond 256 bits', async () => {
  const engine = await engineOver({ value: MAX_UINT256 }, { value: MAX_UINT256 }, { value: 1n });

  const [group] = groups(engine, { folds: [{ kind: 'sum', of: value }] });

  expect(group?.folds).toEqual([2n * MAX_UINT256 + 1n]);
});

test('64-bit columns that are fuller than they may be are still added up exactly', async () => {
  const huge = 2n ** 62n + 1n;
  const engine = await engineOver({ gas_used: huge }, { gas_used: huge }, { gas_used: huge });

  const [group] = groups(engine, {
    keys: [plus(gasUsed, gasUsed)],
    folds: [
      { kind: 'sum', of: gasUsed },
      { kind: 'max', of: plus(gasUsed, gasUsed) },
      { kind: 'distinct', of: plus(gasUsed, gasUsed) },
      { kind: 'sum', of: field('block_timestamp') },
    ],
  });

  expect(group).toEqual({ keys: [2n * huge], folds: [3n * huge, 2n * huge, [2n * huge], 5_100_000_000n] });
});

test('bytes are a number by their last 32, and no bytes are 0', async () => {
  const word = 'ff'.repeat(32);
  const engine = await engineOver({ data: `0x01${word}` }, { data: '0x' }, { data: '0x0100' });
  const of: RowExpression = { kind: 'hexToInteger', of: field('data') };

  const [group] = groups(engine, {
    folds: [
      { kind: 'sum', of },
      { kind: 'distinct', of },
    ],
  });

  expect(group?.folds[0]).toBe(MAX_UINT256 + 256n);
  expect(new Set(Array.isArray(group?.folds[1]) ? group.folds[1] : [])).toEqual(
    new Set([MAX_UINT256, 0n, 256n]),
  );
});

test('division by zero is null, a quotient has a fraction, a remainder the sign of the dividend', async () => {
  const engine = await engineOver({ value: 7n, gas: 2n, gas_used: 0n });
  const over = (operator: '/' | '%', left: RowExpression, right: RowExpression): RowExpression => ({
    kind: 'arithmetic',
    operator,
    left,
    right,
  });
  const minusSeven: RowExpression = { kind: 'literal', value: -7n };

  const [group] = groups(engine, {
    keys: [
      over('/', value, field('gas')),
      over('/', value, gasUsed),
      over('%', value, gasUsed),
      over('%', gasUsed, gasUsed),
      over('%', minusSeven, field('gas')),
      over('%', minusSeven, { kind: 'literal', value: 2n }),
    ],
  });

  expect(group?.keys).toEqual([3.5, null, null, null, -1n, -1n]);
});

test('as many groups, and as many different values, as the limit says, and not one more', async () => {
  const engine = await engineOver(...[1n, 2n, 3n].map(amount => ({ value: amount })));
  const distinct = { kind: 'distinct', of: value } as const;

  expect(groups(engine, { keys: [value], limit: 3 })).toHaveLength(3);
  expect(groups(engine, { folds: [distinct], limit: 3 })).toEqual([{ keys: [], folds: [[1n, 2n, 3n]] }]);
  for (const asked of [{ keys: [value] }, { folds: [distinct] }, { keys: [value], folds: [distinct] }]) {
    expect(() => groups(engine, { ...asked, limit: 2 })).toThrow(new QueryTooLarge('groups'));
  }
  expect(groups(engine, { keys: [from] })).toHaveLength(1);
});

test('the values of all lists and all groups are counted together', async () => {
  const engine = await engineOver(...[1n, 2n, 3n].map(amount => ({ value: amount })));
  const distinct = { kind: 'distinct', of: value } as const;
  const other = { kind: 'distinct', of: field('hash') } as const;
  const [sum, highest] = [{ kind: 'sum', of: value } as const, { kind: 'max', of: value } as const];
  const tooMany = new QueryTooLarge('groups');

  expect(groups(engine, { folds: [distinct, other], limit: 6 })[0]?.folds).toHaveLength(2);
  expect(() => groups(engine, { folds: [distinct, other], limit: 5 })).toThrow(tooMany);
  expect(groups(engine, { keys: [value], folds: [sum], limit: 3 })).toHaveLength(3);
  expect(() => groups(engine, { keys: [value], folds: [sum, highest], limit: 3 })).toThrow(tooMany);
  // What one query held is not counted for the next.
  expect(groups(engine, { folds: [distinct], limit: 3 })[0]?.folds).toEqual([[1n, 2n, 3n]]);
});

test('what is grouped or sorted goes to files when it is large', async () => {
  const { file } = await indexOf(folder, { chainId: 9_000, rows: [] });
  const db = openQueryDatabase({ file, tick: () => undefined });
  expect(db.pragma('temp_store')).toEqual([{ temp_store: 1n }]);
  db.close();
});

test('rows of a page that are too long together are too many, and fewer of them are not', async () => {
  const data = `0x${'00'.repeat(2 ** 20)}`;
  const engine = await engineOver(...Array.from({ length: 9 }, () => ({ data })));
  const page = (limit: number) =>
    engine.run({
      kind: 'rows',
      entity: 'transactions',
      filters: [],
      sort: { field: 'block_number', order: 'asc' },
      limit,
      offset: 0,
      countUpTo: 100,
    });

  expect(() => page(9)).toThrow(new QueryTooLarge('page'));
  expect(page(7)).toMatchObject({ total: 9 });
});

test('values that are too long to hold together are too many', async () => {
  const long = '00'.repeat(2 ** 20);
  const rows = Array.from({ length: 34 }, (_, index) => ({
    data: `0x${long}${String(index).padStart(2, '0')}`,
  }));
  const engine = await engineOver(...rows);
  const data = field('data');

  for (const asked of [{ keys: [data] }, { folds: [{ kind: 'distinct', of: data }] as const }]) {
    expect(() => groups(engine, asked)).toThrow(new QueryTooLarge('groups'));
  }
  expect(groups(engine, { keys: [field('hash')], folds: [{ kind: 'count', of: data }] })).toHaveLength(34);
});

test('filters hold before rows are grouped', async () => {
  const engine = await engineOver({ value: 1n }, { value: 2n }, { value: 4n, from_address: BOB });
  const filters: Filter[] = [{ field: 'value', operator: 'gte', value: 2n }];

  const found = groups(engine, { filters, keys: [from], folds: [{ kind: 'sum', of: value }] });

  expect(found).toEqual([
    { keys: [ALICE], folds: [2n] },
    { keys: [BOB], folds: [4n] },
  ]);
  expect(groups(engine, { filters, wallet: ALICE, folds: [{ kind: 'count' }] })[0]?.folds).toEqual([1n]);
});

test('literals are bound and names are looked up, so neither is in the SQL', () => {
  const compiling = { entity: 'transactions', trustsIntegers: true } as const;
  const literals = [424_242n, 10n ** 40n, "x' or 1=1 --"];

  for (const literal of literals) {
    const compiled = compile({ kind: 'literal', value: literal }, compiling);
    expect(compiled.sql).toBe('?');
  }
  expect(() => compile(field('1; drop table blocks'), compiling)).toThrow(RangeError);
  expect(() => compile(field('constructor'), compiling)).toThrow(RangeError);
});

test('what has no number in it is not calculated with', () => {
  const compiling = { entity: 'transactions', trustsIntegers: true } as const;
  const wrong: RowExpression[] = [
    plus(from, gasUsed),
    { kind: 'hexToInteger', of: gasUsed },
    { kind: 'bucket', bucket: 'day', of: value },
    {
      kind: 'arithmetic',
      operator: '%',
      left: { kind: 'arithmetic', operator: '/', left: value, right: value },
      right: value,
    },
  ];

  for (const expression of wrong) expect(() => compile(expression, compiling)).toThrow(TypeError);
});

test('sortable text comes back as the integer, and sorts as integers do', () => {
  const amounts = [
    0n,
    1n,
    9n,
    10n,
    99n,
    2n ** 64n,
    MAX_UINT256,
    10n ** 98n,
    10n ** 99n,
    10n ** 99n + 1n,
    10n ** 400n,
  ];
  const rising = [
    ...amounts
      .slice(1)
      .map(amount => -amount)
      .reverse(),
    ...amounts,
  ];

  const texts = rising.map(sortable);

  expect(texts.map(integerOf)).toEqual(rising);
  expect([...texts].sort()).toEqual(texts);
});
