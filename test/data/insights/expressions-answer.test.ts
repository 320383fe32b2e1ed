import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Aggregation, planOf } from '#data/insights/expressions/plan.ts';
import type { Group, Value } from '#query-model/expression.ts';
import { answerOf, written } from '#query-model/group-answer.ts';

const ALL = { limit: 1000, page: 0 };

function answered(asked: Aggregation, lists: readonly (readonly Group[])[]) {
  return answerOf(planOf('transactions', asked), lists, ALL).rows;
}

test('the pages of many groups contain each group once, in order', () => {
  const plan = planOf('transactions', {
    aggregate: ['count() as n'],
    group_by: ['nonce'],
    sort_by: 'n',
    sort_order: 'asc',
  });
  const many = fc.array(fc.nat(50), { minLength: 4000, maxLength: 6000, size: 'max' });

  fc.assert(
    fc.property(many, fc.constantFrom(300, 1500), (counts, limit) => {
      const groups = counts.map((count, nonce) => ({ keys: [BigInt(nonce)], folds: [BigInt(count)] }));
      const pages = Array.from({ length: Math.ceil(groups.length / limit) + 1 }, (_, page) => page);

      const rows = pages.flatMap(page => answerOf(plan, [groups], { limit, page }).rows);

      const sorted = counts
        .map((n, nonce) => ({ nonce, n }))
        .sort((left, right) => left.n - right.n || left.nonce - right.nonce);
      expect(rows).toEqual(sorted);
    }),
    { numRuns: 10 },
  );
});

describe.each(['transactions', 'events'] as const)('chains of %s', entity => {
  const ids = [10n, 8453n, 1n, 137n];
  const lists = ids.map(id => [{ keys: [id], folds: [id] }]);
  const grouped = (sort_order: 'asc' | 'desc') =>
    answerOf(
      planOf(entity, { group_by: ['chain_id'], aggregate: ['min(chain_id) as least'], sort_order }),
      lists,
      ALL,
    ).rows.map(({ chain_id }) => chain_id);

  test('are sorted by number and written as text, like those of records', () => {
    expect(grouped('asc')).toEqual(['1', '10', '137', '8453']);
    expect(grouped('desc')).toEqual(['8453', '137', '10', '1']);
  });

  test('have a minimum and a maximum by number', () => {
    const plan = planOf(entity, { aggregate: ['min(chain_id) as least', 'max(chain_id) as most'] });
    const { rows } = answerOf(
      plan,
      [9n, 10n, 8453n].map(id => [{ keys: [], folds: [id, id] }]),
      ALL,
    );

    expect(rows).toEqual([{ least: '9', most: '8453' }]);
  });
});

describe('groups of several chains', () => {
  test('are merged only where their keys are equal', () => {
    const lists: Value[][][] = [
      [
        ['a', 'b'],
        ['a"1:b', ''],
        [null, ''],
        ['null', ''],
        ['1', ''],
        [1n, ''],
      ],
      [
        ['a', 'b'],
        ['', 'ab'],
        [null, ''],
        [1n, ''],
        [1n, null],
      ],
    ];

    const { rows, total } = answerOf(
      planOf('transactions', { group_by: ['from_address', 'to_address'] }),
      lists.map(list => list.map(keys => ({ keys, folds: [1n] }))),
      ALL,
    );

    expect(total).toBe(8);
    expect(rows.filter(({ count }) => count === 2).map(row => row.from_address)).toEqual(['a', '1', null]);
  });

  test('have the average of all rows, not of the chains’ averages', () => {
    const rows = answered({ aggregate: ['avg(value) as mean'] }, [
      [{ keys: [], folds: [10n, 1n] }],
      [{ keys: [], folds: [2n, 3n] }],
      [{ keys: [], folds: [null, 0n] }],
    ]);

    expect(rows).toEqual([{ mean: 3 }]);
  });

  test('count each distinct value once across three chains', () => {
    const group = (...values: Value[]): Group[] => [{ keys: [], folds: [values] }];
    const asked = { aggregate: ['count(distinct value) as n'] };
    const first = group(1n, 2n);

    expect(answered(asked, [first, group(2n, 3n), group(), group(1n, 4n)])).toEqual([{ n: 4 }]);
    expect(answered(asked, [first])).toEqual([{ n: 2 }]);
  });

  test('are one row without group_by, even when no chain has a row', () => {
    const asked = {
      aggregate: ['count() as n', 'sum(value) as total', 'uniq(hash) as hashes', 'avg(gas) as mean'],
    };

    expect(answered(asked, [[], []])).toEqual([{ n: 0, total: null, hashes: 0, mean: null }]);
    expect(answered({ ...asked, group_by: ['hash'] }, [[], []])).toEqual([]);
  });
});

describe('sort_by', () => {
  const groups = [
    { keys: ['0x01', 5n], folds: [3n] },
    { keys: ['0x02', null], folds: [null] },
    { keys: ['0x03', 5n], folds: [10n ** 30n] },
  ];
  const order = (more: Aggregation) =>
    answered({ group_by: ['from_address', 'status as state'], aggregate: ['sum( value )'], ...more }, [
      groups,
    ]).map(row => row.from_address);
  const cases: [Aggregation, string[]][] = [
    [{}, ['0x03', '0x02', '0x01']],
    [{ sort_order: 'asc' }, ['0x01', '0x02', '0x03']],
    [{ sort_by: 'sum(value)' }, ['0x03', '0x01', '0x02']],
    [{ sort_by: ' sum( value)', sort_order: 'asc' }, ['0x01', '0x03', '0x02']],
    [{ sort_by: 'state' }, ['0x03', '0x01', '0x02']],
    [{ sort_by: 'status', sort_order: 'asc' }, ['0x01', '0x03', '0x02']],
  ];
  test.each(cases)('%j sorts as it says: ties by the keys, nulls last', (more, wanted) => {
    expect(order(more)).toEqual(wanted);
  });
});

describe('a value is written', () => {
  const number = { type: 'integer', isNumber: true } as const;
  const amount = { type: 'integer', isNumber: false } as const;
  const moment = { type: 'moment', isNumber: false } as const;
  const safe = 2n ** 53n - 1n;
  test.each([
    ['an exact number of a number field', safe, number, Number.MAX_SAFE_INTEGER],
    ['beyond 2^53 - 1', safe + 1n, number, '9007199254740992'],
    ['below -(2^53 - 1)', -safe - 1n, number, '-9007199254740992'],
    ['a small amount', 1n, amount, '1'],
    ['null', null, amount, null],
    ['a fraction', 1.5, { type: 'real', isNumber: true } as const, 1.5],
    [
      'a value beyond the range of numbers',
      Number.POSITIVE_INFINITY,
      { type: 'real', isNumber: true } as const,
      null,
    ],
    ['the start of a day', 1_709_251_200n, moment, '2024-03-01T00:00:00.000Z'],
    ['a time beyond the calendar', 10n ** 15n, moment, '1000000000000000'],
    ['text', '0xab', { type: 'hex', isNumber: false } as const, '0xab'],
    ['an integer of a text field', 1n, { type: 'text', isNumber: false } as const, '1'],
  ])('%s', (_, value, shape, wanted) => {
    expect(written(value, shape)).toBe(wanted);
  });
});

test('a division by zero is null, and so is every value computed from it', () => {
  const rows = answered(
    { aggregate: ['sum(value) / count(value) + 1 as a', 'sum(value) % count(value) as b'] },
    [[{ keys: [], folds: [5n, 0n] }]],
  );

  expect(rows).toEqual([{ a: null, b: null }]);
});
