import { describe, expect, test } from 'vitest';
import type { RowExpression } from '#query-model/expression.ts';
import type { Behaviour, SeenRequest } from '../../lab/scripted-upstream.ts';
import { about, failureOf, groupsFor, openedThirdweb, sentTo } from './opened-thirdweb.ts';

const SENDER = '0x28c6c06298d514db089934071355e5743bf21d60';
const OTHER = `0x${'ab'.repeat(20)}`;
const field = (name: string): RowExpression => ({ kind: 'field', name });
const digits = (value: bigint): RowExpression => ({ kind: 'literal', value });
const arithmetic = (operator: '*' | '-', left: RowExpression, right: RowExpression): RowExpression => ({
  kind: 'arithmetic',
  operator,
  left,
  right,
});
const bucket = (name: 'day' | 'week', of = field('block_timestamp')): RowExpression => ({
  kind: 'bucket',
  bucket: name,
  of,
});
const count = { kind: 'count' } as const;

const answering = (aggregations: unknown) => (): Behaviour => ({ json: { aggregations } });
/** Raw JSON, for numbers that JavaScript cannot represent. */
const bare = (aggregations: string) => (): Behaviour => ({
  text: `{"aggregations":${aggregations}}`,
  type: 'application/json',
});

async function groups(
  respond: (request: SeenRequest) => Behaviour,
  query: Parameters<typeof groupsFor>[0],
  chainIds: readonly number[] = [1],
) {
  await using to = await openedThirdweb(respond);
  return await to.insights.groups(groupsFor(query), about(...chainIds));
}

describe('a request', () => {
  test('has expressions in our own spelling and under our own names', async () => {
    await using to = await openedThirdweb(answering([]));
    const fees = arithmetic('*', field('gas_used'), field('gas_price'));

    await to.insights.groups(
      groupsFor({
        filters: [{ field: 'value', operator: 'gt', value: 10n ** 20n }],
        keys: [field('from_address'), bucket('day')],
        folds: [count, { kind: 'sum', of: fees }, { kind: 'max', of: field('block_number') }],
      }),
      about(1),
    );

    expect(sentTo(to.requests[0])).toEqual([
      'chain_id=1',
      'filter_value_gt=100000000000000000000',
      'aggregate=toStartOfDay(block_timestamp) as k1',
      'aggregate=count() as f0',
      'aggregate=sum((gas_used * gas_price)) as f1',
      'aggregate=max(block_number) as f2',
      'aggregate=count() as n',
      'group_by=from_address',
      'group_by=k1',
      'sort_by=from_address',
      'sort_order=asc',
      'limit=500',
      'page=0',
    ]);
  });

  test('reads amounts in event data as upstream does', async () => {
    await using to = await openedThirdweb(answering([{ f0: '5', n: 1 }]));
    const of = { kind: 'hexToInteger', of: field('data') } as const;

    await to.insights.groups(groupsFor({ entity: 'events', folds: [{ kind: 'sum', of }] }), about(1));

    expect(to.requests[0]?.query.getAll('aggregate')).toEqual([
      'sum(reinterpretAsUInt256(reverse(unhex(substring(data, 3))))) as f0',
      'count() as n',
    ]);
  });

  test('keeps chains apart, uses upstream’s column names, and keeps wide integers exact', async () => {
    await using to = await openedThirdweb(answering([]));
    const shifted = arithmetic('-', field('difficulty'), digits(2n ** 200n));

    await to.insights.groups(
      groupsFor({ entity: 'blocks', keys: [field('block_hash')], folds: [{ kind: 'min', of: shifted }] }),
      about(1, 10),
    );

    expect(to.requests[0]?.query.getAll('group_by')).toEqual(['chain_id', 'hash']);
    expect(to.requests[0]?.query.getAll('aggregate')[0]).toBe(
      `min((difficulty - toUInt256('${2n ** 200n}'))) as f0`,
    );
  });

  test.each<[string, Parameters<typeof groupsFor>[0]]>([
    ['days of weeks', { keys: [{ kind: 'bucket', bucket: 'day', of: bucket('week') }], folds: [count] }],
    ['a literal text', { keys: [{ kind: 'literal', value: "'); DROP TABLE logs --" }], folds: [count] }],
    ['an unknown field', { keys: [field('insert_timestamp')], folds: [count] }],
    ['a sum of times', { folds: [{ kind: 'sum', of: field('block_timestamp') }] }],
    ['a sum of hex', { folds: [{ kind: 'sum', of: field('hash') }] }],
  ])('with %s is unsupported, and is not sent', async (_name, query) => {
    await using to = await openedThirdweb(answering([]));

    const failure = await failureOf(to.insights.groups(groupsFor(query), about(1)));

    expect([failure.kind, to.requests.length]).toEqual(['unsupported', 0]);
  });
});

describe('values', () => {
  const query = {
    keys: [field('from_address'), bucket('day')],
    folds: [count, { kind: 'sum', of: field('value') }, { kind: 'min', of: field('block_timestamp') }],
  } as const;
  const expected = [
    {
      keys: [SENDER, 1_746_403_200n],
      folds: [12n, 123_456_789_012_345_678_901_234n, 1_746_448_211n],
    },
  ];

  test.each<[string, () => Behaviour]>([
    [
      'rows with wide integers as text',
      answering([
        {
          from_address: SENDER,
          k1: '2025-05-05T00:00:00Z',
          f0: 12,
          f1: '123456789012345678901234',
          f2: '2025-05-05T12:30:11Z',
          n: 12,
        },
      ]),
    ],
    [
      'rows with bare wide integers',
      bare(
        `[{"from_address":"${SENDER.toUpperCase().replace('0X', '0x')}","k1":"2025-05-05","f0":"12",` +
          `"f1":123456789012345678901234,"f2":1746448211,"n":"12"}]`,
      ),
    ],
    [
      'one object per chain',
      answering([
        {
          0: {
            from_address: SENDER,
            k1: '2025-05-05 00:00:00',
            f0: '12',
            f1: '123456789012345678901234',
            f2: '2025-05-05 12:30:11',
            n: '12',
          },
          chain_id: '1',
        },
      ]),
    ],
    [
      'an object of rows',
      answering({
        0: {
          from_address: SENDER,
          k1: 1_746_403_200,
          f0: 12,
          f1: '123456789012345678901234',
          f2: 1_746_448_211,
          n: 12,
        },
      }),
    ],
  ])('are exact from %s', async (_name, respond) => {
    expect(await groups(respond, query)).toEqual(expected);
  });

  test('null means no rows, which without keys is one empty group', async () => {
    const folds = [
      count,
      { kind: 'sum', of: field('value') },
      { kind: 'distinct', of: field('value') },
    ] as const;

    expect(await groups(answering(null), { keys: [field('to_address')], folds })).toEqual([]);
    expect(await groups(answering(null), { folds })).toEqual([{ keys: [], folds: [0n, null, []] }]);
  });

  test('a zero, upstream’s minimum of no rows, is null', async () => {
    const folds = [count, { kind: 'min', of: field('block_number') }] as const;

    expect(await groups(answering([{ f0: 0, f1: '0', n: 0 }]), { folds })).toEqual([
      { keys: [], folds: [0n, null] },
    ]);
  });

  test('an empty string is null', async () => {
    const rows = [{ to_address: '', f0: 3, n: 3 }];

    expect(await groups(answering(rows), { keys: [field('to_address')], folds: [count] })).toEqual([
      { keys: [null], folds: [3n] },
    ]);
  });

  test('a row without a value is an outage', async () => {
    const pending = groups(answering([{ from_address: SENDER, n: 1 }]), {
      keys: [field('from_address')],
      folds: [{ kind: 'sum', of: field('value') }],
    });

    expect(await failureOf(pending)).toMatchObject({ kind: 'unavailable', reason: 'unreadable' });
  });
});

test('groups of several chains are merged: sums are added, extremes are compared as numbers', async () => {
  const rows = [
    { chain_id: '1', from_address: SENDER, f0: 2, f1: '9', f2: '100', n: 2 },
    { chain_id: '10', from_address: SENDER, f0: 3, f1: '10', f2: '99', n: 3 },
    { chain_id: '10', from_address: OTHER, f0: 1, f1: '1', f2: '1', n: 1 },
    { chain_id: '56', from_address: OTHER, f0: 7, f1: '7', f2: '7', n: 7 },
  ];
  const value = field('value');

  const merged = await groups(
    answering(rows),
    { keys: [field('from_address')], folds: [count, { kind: 'min', of: value }, { kind: 'max', of: value }] },
    [1, 10],
  );

  expect(merged).toEqual([
    { keys: [SENDER], folds: [5n, 9n, 100n] },
    { keys: [OTHER], folds: [1n, 1n, 1n] },
  ]);
});

test('distinct values are read as groups, and the other values are summed over them', async () => {
  await using to = await openedThirdweb(
    answering([
      { to_address: SENDER, from_address: OTHER, f0: 2, f2: '7', n: 2 },
      { to_address: SENDER, from_address: SENDER, f0: 5, f2: '8', n: 5 },
      { to_address: SENDER, from_address: '', f0: 1, f2: '1', n: 1 },
    ]),
  );

  const found = await to.insights.groups(
    groupsFor({
      keys: [field('to_address')],
      folds: [count, { kind: 'distinct', of: field('from_address') }, { kind: 'sum', of: field('value') }],
    }),
    about(1),
  );

  expect(found).toEqual([{ keys: [SENDER], folds: [8n, [OTHER, SENDER], 16n] }]);
  expect(to.requests[0]?.query.getAll('group_by')).toEqual(['to_address', 'from_address']);
});

test('weeks, which start on Sunday upstream, are composed of days', async () => {
  const week = bucket('week');
  await using to = await openedThirdweb(
    answering([
      { k0: '2025-05-04T00:00:00Z', f0: 1, f1: '2025-05-04T00:00:00Z', n: 1 },
      { k0: '2025-05-05T00:00:00Z', f0: 2, f1: '2025-05-05T00:00:00Z', n: 2 },
      { k0: '2025-05-11T00:00:00Z', f0: 4, f1: '2025-05-11T00:00:00Z', n: 4 },
    ]),
  );

  const found = await to.insights.groups(
    groupsFor({ keys: [week], folds: [count, { kind: 'max', of: week }] }),
    about(1),
  );

  const [april28, may5] = [1_745_798_400n, 1_746_403_200n];
  expect(to.requests[0]?.query.getAll('aggregate')[0]).toBe('toStartOfDay(block_timestamp) as k0');
  expect(found).toEqual([
    { keys: [april28], folds: [1n, april28] },
    { keys: [may5], folds: [6n, may5] },
  ]);
});

describe('pages of groups', () => {
  const page = (from: number, length: number) =>
    Array.from({ length }, (_, index) => ({ block_number: from + index, f0: 1, n: 1 }));
  const query = { keys: [field('block_number')], folds: [count] };

  test('are read until one is not full', async () => {
    const respond = ({ query: asked }: SeenRequest): Behaviour => {
      const number = Number(asked.get('page'));
      return { json: { aggregations: page(number * 500, number === 2 ? 5 : 500) } };
    };

    const found = await groups(respond, query);

    expect(found).toHaveLength(1005);
    expect('json' in found ? undefined : found.at(-1)).toEqual({ keys: [1004n], folds: [1n] });
  });

  test('are at most twenty, and more are refused with advice', async () => {
    await using to = await openedThirdweb(({ number }) => ({
      json: { aggregations: page(number * 500, 500) },
    }));

    const failure = await failureOf(to.insights.groups(groupsFor(query), about(1)));

    expect(failure.kind).toBe('rejected');
    expect(failure.message).toBe('there are more than 10000 groups: narrow the filters or group by less');
    expect(to.requests).toHaveLength(20);
  });

  test('that repeat a group have lost another one, which is an outage', async () => {
    const respond = ({ number }: SeenRequest): Behaviour => ({
      json: { aggregations: page(number * 499, 500) },
    });

    expect(await failureOf(groups(respond, query))).toMatchObject({
      kind: 'unavailable',
      reason: 'incomplete',
    });
  });
});
