import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GroupsQuery, QueryTooLarge } from '#indexer/query/query.ts';
import type { Group, RowExpression } from '#query-model/expression.ts';
import type { Filter } from '#query-model/row-selection.ts';
import { bothDatabases, type TestDatabases } from '#test/support/databases.ts';
import { CHAIN_ID } from '../support.ts';
import { indexOf, type RowsIndex, type TransactionRow } from './grouped-rows.ts';

const MAX_UINT256 = 2n ** 256n - 1n;
const ALICE = `0x${'a1'.repeat(20)}`;
const BOB = `0x${'b0'.repeat(20)}`;

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

bothDatabases('groups of an index', groupsSuite);

function groupsSuite(databases: TestDatabases): void {
  let index: RowsIndex;

  beforeAll(async () => {
    index = await indexOf(await databases.create(), { chainId: CHAIN_ID, rows: [] });
  });

  afterAll(() => index.close());

  const given = (...rows: Partial<TransactionRow>[]) => index.replace(rows.map(row));

  async function groups(asked: Partial<GroupsQuery>): Promise<readonly Group[]> {
    const answer = await index.engine.run({
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

  /** Values of the first fold of the only group. */
  async function listOf(asked: Partial<GroupsQuery>): Promise<Set<unknown>> {
    const [group] = await groups(asked);
    return new Set(Array.isArray(group?.folds[0]) ? group.folds[0] : []);
  }

  test('no rows give one group without keys, and no group with keys', async () => {
    await given();
    const folds = [
      { kind: 'count' },
      { kind: 'sum', of: value },
      { kind: 'max', of: gasUsed },
      { kind: 'distinct', of: from },
    ] as const;

    expect(await groups({ folds })).toEqual([{ keys: [], folds: [0n, null, null, []] }]);
    expect(await groups({ folds, keys: [from] })).toEqual([]);
  });

  test('256-bit sums are exact beyond 256 bits', async () => {
    await given({ value: MAX_UINT256 }, { value: MAX_UINT256 }, { value: 1n });

    const [group] = await groups({ folds: [{ kind: 'sum', of: value }] });

    expect(group?.folds).toEqual([2n * MAX_UINT256 + 1n]);
  });

  test('64-bit columns with values beyond their range are still summed exactly', async () => {
    const huge = 2n ** 62n + 1n;
    const gas = field('gas');
    await given({ gas: huge }, { gas: huge }, { gas: huge });

    const [group] = await groups({
      keys: [plus(gas, gas)],
      folds: [
        { kind: 'sum', of: gas },
        { kind: 'max', of: plus(gas, gas) },
        { kind: 'distinct', of: plus(gas, gas) },
        { kind: 'sum', of: field('block_timestamp') },
      ],
    });

    expect(group).toEqual({ keys: [2n * huge], folds: [3n * huge, 2n * huge, [2n * huge], 5_100_000_000n] });
  });

  test('bytes are the number in their last 32, and no bytes are 0', async () => {
    const word = 'ff'.repeat(32);
    await given({ data: `0x01${word}` }, { data: '0x' }, { data: '0x0100' });
    const of: RowExpression = { kind: 'hexToInteger', of: field('data') };

    const [group] = await groups({
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

  test('division by zero is null, a quotient has a fraction, and a remainder has the sign of the dividend', async () => {
    await given({ value: 7n, gas: 2n, gas_used: 0n });
    const over = (operator: '/' | '%', left: RowExpression, right: RowExpression): RowExpression => ({
      kind: 'arithmetic',
      operator,
      left,
      right,
    });
    const minusSeven: RowExpression = { kind: 'literal', value: -7n };

    const [group] = await groups({
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

  test('a number beyond the range of a double is null, and one too close to zero is 0', async () => {
    await given({ value: 10n ** 77n }, { value: 10n ** 77n });
    const by = (operator: '/' | '*' | '+', left: RowExpression, right: RowExpression): RowExpression => ({
      kind: 'arithmetic',
      operator,
      left,
      right,
    });
    const literal = (amount: bigint): RowExpression => ({ kind: 'literal', value: amount });
    const huge = by('*', by('*', value, value), by('*', value, value));
    const real = by('/', huge, literal(1n));
    const little = by('/', literal(1n), huge);

    const [group] = await groups({
      keys: [real, by('*', real, real), by('/', literal(1n), by('*', real, real)), by('*', little, little)],
      folds: [
        { kind: 'sum', of: real },
        { kind: 'sum', of: by('*', real, literal(10n)) },
        { kind: 'max', of: by('/', by('*', huge, value), literal(1n)) },
        { kind: 'sum', of: by('*', huge, huge) },
      ],
    });

    expect(group?.keys).toEqual([1e308, null, 0, 0]);
    expect(group?.folds).toEqual([null, null, null, 2n * 10n ** 616n]);
  });

  test('times are truncated to their spans, also before 1970, and have no month after the year 9999', async () => {
    await given({});
    const cut = (bucket: 'minute' | 'day' | 'week' | 'month', seconds: bigint): RowExpression => ({
      kind: 'bucket',
      bucket,
      of: { kind: 'literal', value: seconds },
    });

    const [group] = await groups({
      keys: [
        cut('minute', -61n),
        cut('day', 1_709_251_199n),
        cut('week', 1_709_251_199n),
        cut('month', 1_709_251_199n),
        cut('month', -1n),
        cut('month', 253_402_300_799n),
        cut('month', 253_402_300_800n),
        cut('month', 2n ** 61n),
      ],
    });

    expect(group?.keys).toEqual([
      -60n,
      1_709_164_800n,
      1_708_905_600n,
      1_706_745_600n,
      -2_678_400n,
      253_399_622_400n,
      null,
      null,
    ]);
  });

  test('a limit allows exactly as many groups, and as many distinct values', async () => {
    await given(...[1n, 2n, 3n].map(amount => ({ value: amount })));
    const distinct = { kind: 'distinct', of: value } as const;

    expect(await groups({ keys: [value], limit: 3 })).toHaveLength(3);
    expect(await listOf({ folds: [distinct], limit: 3 })).toEqual(new Set([1n, 2n, 3n]));
    for (const asked of [{ keys: [value] }, { folds: [distinct] }, { keys: [value], folds: [distinct] }]) {
      await expect(groups({ ...asked, limit: 2 })).rejects.toThrow(new QueryTooLarge('groups'));
    }
    expect(await groups({ keys: [from] })).toHaveLength(1);
  });

  test('the values of all lists and groups are counted together', async () => {
    await given(...[1n, 2n, 3n].map(amount => ({ value: amount })));
    const distinct = { kind: 'distinct', of: value } as const;
    const other = { kind: 'distinct', of: field('hash') } as const;
    const [sum, highest] = [{ kind: 'sum', of: value } as const, { kind: 'max', of: value } as const];
    const tooMany = new QueryTooLarge('groups');

    expect((await groups({ folds: [distinct, other], limit: 6 }))[0]?.folds).toHaveLength(2);
    await expect(groups({ folds: [distinct, other], limit: 5 })).rejects.toThrow(tooMany);
    expect(await groups({ keys: [value], folds: [sum], limit: 3 })).toHaveLength(3);
    await expect(groups({ keys: [value], folds: [sum, highest], limit: 3 })).rejects.toThrow(tooMany);
    // The values of one query do not count towards the next.
    expect(await listOf({ folds: [distinct], limit: 3 })).toEqual(new Set([1n, 2n, 3n]));
  });

  test('rows of a page that are too long in total are refused, and fewer of them are not', async () => {
    const data = `0x${'00'.repeat(2 ** 20)}`;
    await given(...Array.from({ length: 9 }, () => ({ data })));
    const page = (limit: number) =>
      index.engine.run({
        kind: 'rows',
        entity: 'transactions',
        filters: [],
        sort: { field: 'block_number', order: 'asc' },
        limit,
        offset: 0,
        countUpTo: 100,
      });

    await expect(page(9)).rejects.toThrow(new QueryTooLarge('page'));
    expect(await page(7)).toMatchObject({ total: 9 });
  });

  test('values that are too long in total are refused', async () => {
    const long = '00'.repeat(2 ** 20);
    const rows = Array.from({ length: 34 }, (_, index) => ({
      data: `0x${long}${String(index).padStart(2, '0')}`,
    }));
    await given(...rows);
    const data = field('data');

    for (const asked of [{ keys: [data] }, { folds: [{ kind: 'distinct', of: data }] as const }]) {
      await expect(groups(asked)).rejects.toThrow(new QueryTooLarge('groups'));
    }
    expect(await groups({ keys: [field('hash')], folds: [{ kind: 'count', of: data }] })).toHaveLength(34);
  });

  test('a block range of any length is grouped exactly, from end to end without gaps', async () => {
    const count = 600;
    await index.replace(Array.from({ length: count }, () => row({})));
    const limits = [0n, 1n, 2n, 255n, 256n, 257n, 512n, 513n, 599n, 600n, 601n, 10n ** 12n];

    for (const lower of limits) {
      for (const upper of limits) {
        const filters: Filter[] = [
          { field: 'block_number', operator: 'gte', value: lower },
          { field: 'block_number', operator: 'gt', value: 1n },
          { field: 'block_number', operator: 'lt', value: upper },
        ];
        const least = lower > 2n ? lower : 2n;
        const most = upper > 601n ? 601n : upper;

        const [group] = await groups({ filters, folds: [{ kind: 'count' }] });

        expect(group?.folds, `from ${lower} to ${upper}`).toEqual([most > least ? most - least : 0n]);
      }
    }
  });

  test('filters apply before rows are grouped', async () => {
    await given({ value: 1n }, { value: 2n }, { value: 4n, from_address: BOB });
    const filters: Filter[] = [{ field: 'value', operator: 'gte', value: 2n }];

    const found = await groups({ filters, keys: [from], folds: [{ kind: 'sum', of: value }] });

    expect(new Set(found)).toEqual(
      new Set([
        { keys: [ALICE], folds: [2n] },
        { keys: [BOB], folds: [4n] },
      ]),
    );
    expect((await groups({ filters, wallet: ALICE, folds: [{ kind: 'count' }] }))[0]?.folds).toEqual([1n]);
  });
}
