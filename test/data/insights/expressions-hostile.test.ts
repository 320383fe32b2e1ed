import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InvalidParameter } from '#contract/contracts/violations.ts';
import { type Aggregation, planOf } from '#data/insights/expressions/plan.ts';
import type { GroupsQuery } from '#indexer/query/query.ts';
import type { AggregationPlan } from '#query-model/aggregation-plan.ts';
import type { Group } from '#query-model/expression.ts';
import { SORTABLE } from '#query-model/fields.ts';
import { answerOf } from '#query-model/group-answer.ts';
import { bothDatabases, type TestDatabases } from '#test/support/databases.ts';
import { indexOf, type RowsIndex } from '../../indexer/query/grouped-rows.ts';
import { rowsOfChain } from './expression-rows.ts';

const HOSTILE = [
  "'; drop table transactions; --",
  '1) from transactions union select name from sqlite_master --',
  'count() from transactions; attach database "other.db" as x',
  "load_extension('x')",
  'sum(value) filter (where 1=1)',
  'count() /* */ , 1',
  'count() -- ',
  '(select count(*) from transactions)',
  'sum(case when 1 then 1 else 0 end)',
  'randomblob(1000000000)',
  'printf("%d")',
  'sqlite_version()',
  'tick()',
  'exact_sum(value)',
  'max(rowid)',
  't.value',
  '"value"',
  '[value]',
  '`value`',
  'value collate nocase',
  'sum(value) over ()',
  '? ?1 :x @x $x',
  "x'41'",
  '\u0000',
  '\ud800',
  'ſum(value)',
  'count()\u00a0as\u00a0x',
  '__proto__',
  'hasOwnProperty()',
  '%',
  ')'.repeat(512),
  '('.repeat(512),
  'a'.repeat(100_000),
  `sum(${'1*'.repeat(200)}1)`,
];
const SIZE = 20;

function planned(asked: Aggregation): AggregationPlan | null {
  try {
    return planOf('transactions', asked);
  } catch (error) {
    if (error instanceof InvalidParameter) return null;
    throw error;
  }
}

describe.each(HOSTILE.map(text => [text]))('%j', text => {
  test('is refused as an expression, a key, a sort name and an alias', () => {
    expect(planned({ aggregate: [text] })).toBeNull();
    expect(planned({ group_by: [text] })).toBeNull();
    expect(planned({ aggregate: ['count()'], sort_by: text })).toBeNull();
    expect(planned({ aggregate: [`count() as ${text}`] })).toBeNull();
  });
});

test('any text is either planned or a 400', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.string());

  fc.assert(
    fc.property(text, text, text, (aggregate, key, sort) => {
      planned({ aggregate: [aggregate] });
      planned({ group_by: [key, aggregate] });
      planned({ aggregate: ['count() as n', aggregate], group_by: [key], sort_by: sort });
      expect(planned({ aggregate: ['count() as n'], sort_by: 'n' })).not.toBeNull();
    }),
    { numRuns: 500 },
  );
});

bothDatabases('answers of an index', hostileSuite);

function hostileSuite(databases: TestDatabases): void {
  let index: RowsIndex;

  beforeAll(async () => {
    index = await indexOf(await databases.create(), { chainId: 1, rows: rowsOfChain(4, SIZE) });
  });

  afterAll(() => index.close());

  async function groups(asked: Partial<GroupsQuery>): Promise<readonly Group[]> {
    const query = { kind: 'groups', entity: 'transactions', filters: [], keys: [], limit: 1000 } as const;
    const answer = await index.engine.run({ ...query, folds: [{ kind: 'count' }], ...asked });
    if (!('groups' in answer)) throw new Error('no groups');
    return answer.groups;
  }

  test.each(HOSTILE.map(text => [text]))(
    '%j is an ordinary value in filters, wallets and literals, and never a field',
    async text => {
      for (const field of ['hash', 'from_address', 'data'] as const) {
        for (const operator of ['eq', 'gt', 'lt'] as const) {
          const [group] = await groups({ filters: [{ field, operator, value: text }] });
          expect(group?.folds[0]).toBeLessThanOrEqual(BigInt(SIZE));
        }
      }
      expect((await groups({ wallet: text }))[0]?.folds).toEqual([0n]);
      // PostgreSQL has no such text, and expressions have no text values at all.
      if (databases.kind === 'sqlite' || !text.includes('\u0000')) {
        const known = await groups({ keys: [{ kind: 'literal', value: text }] });
        expect(known).toEqual([{ keys: [text.toWellFormed()], folds: [BigInt(SIZE)] }]);
      }
      await expect(groups({ filters: [{ field: text, operator: 'eq', value: 1n }] })).rejects.toThrow(
        RangeError,
      );
      await expect(groups({ keys: [{ kind: 'field', name: text }] })).rejects.toThrow(RangeError);
    },
  );

  test('any sequence of grammar pieces is either a 400 or can be answered', async () => {
    const names = SORTABLE.transactions;
    const piece = fc.constantFrom(
      ...['(', ')', ',', '+', '-', '*', '/', '%', '1', '0', '2.5', '9'.repeat(78), ' as x', ' as count'],
      ...['count(', 'count(distinct ', 'sum(', 'avg(', 'min(', 'max(', 'uniq(', 'toDate(', 'toStartOfWeek('],
      ...[
        'reinterpretAsUInt256(reverse(unhex(substring(data, 3))))',
        'reverse(',
        'distinct ',
        'day',
        'month',
      ],
      ...names,
    );
    const nameOf = fc.constantFrom(...names, 'day', 'week');
    // Mostly valid, so that a good part of it is accepted.
    const call = fc
      .tuple(
        fc.constantFrom('count(', 'sum(', 'min(', 'avg(', 'uniq('),
        fc.array(piece, { maxLength: 2 }),
        nameOf,
      )
      .map(([open, more, name]) => `${open}${name}${more.join('')})`);
    const soup = fc.oneof(
      fc.array(piece, { maxLength: 12 }).map(pieces => pieces.join('')),
      call,
    );
    let answered = 0;

    await fc.assert(
      fc.asyncProperty(
        fc.array(soup, { maxLength: 3 }),
        fc.array(fc.oneof(soup, nameOf), { maxLength: 2 }),
        async (aggregate, group_by) => {
          const plan = planned({ aggregate, group_by });
          if (plan === null) return;
          const { rows, total } = answerOf(plan, [await groups(plan)], { limit: 5, page: 0 });
          answered += 1;
          expect(rows).toHaveLength(Math.min(total, 5));
          expect(JSON.parse(JSON.stringify(rows))).toEqual(rows);
        },
      ),
      { numRuns: 2000 },
    );
    expect(answered).toBeGreaterThan(100);
  });
}
