import { expect, test } from 'vitest';
import { compile } from '#indexer/query/compile.ts';
import { postgresQueries } from '#indexer/query/postgres/postgres-engine.ts';
import { integerOf, sortable } from '#indexer/query/sqlite/functions.ts';
import { sqliteQueries } from '#indexer/query/sqlite/sqlite-dialect.ts';
import { openQueryDatabase } from '#indexer/query/sqlite/sqlite-engine.ts';
import type { RowExpression } from '#query-model/expression.ts';
import { sqliteDatabase } from '#test/support/databases.ts';
import { CHAIN_ID } from '../support.ts';
import { writeIndex } from './random-blocks.ts';

const DIALECTS = [
  ['SQLite', sqliteQueries],
  ['PostgreSQL', postgresQueries],
] as const;
const MAX_UINT256 = 2n ** 256n - 1n;

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

test('large groups and sorts are written to files', async () => {
  const { options, remove } = await sqliteDatabase();
  await writeIndex(options, { chainId: CHAIN_ID, blocks: [] });

  const db = openQueryDatabase({ file: options.file, tick: () => undefined });

  expect(db.pragma('temp_store')).toEqual([{ temp_store: 1n }]);
  db.close();
  await remove();
});

test.each(DIALECTS)(
  'literals are bound and names are looked up, so the SQL of %s contains neither',
  (_, dialect) => {
    const compiling = { entity: 'transactions', dialect, trustsIntegers: true } as const;
    const literals = [424_242n, 10n ** 40n, "x' or 1=1 --"];

    for (const literal of literals) {
      const compiled = compile({ kind: 'literal', value: literal }, compiling);
      expect(compiled.sql).toMatch(/^(?:\?|cast\(\? as \w+\)(?: collate "C")?)$/);
    }
    expect(() => compile(field('1; drop table blocks'), compiling)).toThrow(RangeError);
    expect(() => compile(field('constructor'), compiling)).toThrow(RangeError);
  },
);

test.each(DIALECTS)('a value without a number is not used in arithmetic in %s', (_, dialect) => {
  const compiling = { entity: 'transactions', dialect, trustsIntegers: true } as const;
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

test('sortable text is read back as the integer, and sorts like integers', () => {
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
