import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { planOf } from '#data/insights/expressions/plan.ts';
import type { AggregationPlan } from '#query-model/aggregation-plan.ts';
import type { Group } from '#query-model/expression.ts';
import { SORTABLE } from '#query-model/fields.ts';
import { answerOf } from '#query-model/group-answer.ts';
import type { Entity } from '#query-model/row-selection.ts';
import { bothDatabases, type TestDatabases } from '#test/support/databases.ts';
import { indexOf, type RowsIndex } from '../../indexer/query/grouped-rows.ts';
import {
  aggregate,
  type GroupModel,
  key,
  type Plain,
  type Row,
  type RowModel,
  writtenPlain,
} from './expression-model.ts';
import { rowsOfChain } from './expression-rows.ts';

const SIZES = [60, 25, 0];
const chains = SIZES.map((size, index) => rowsOfChain(index + 1, size));
const number = (row: (typeof chains)[number][number], index: number): Row => ({
  ...row,
  block_number: BigInt(index + 1),
});

interface Case {
  readonly keys: readonly RowModel[];
  readonly items: readonly GroupModel[];
  /** Index of the value that groups are sorted by: keys first, then items; null sorts by the keys. */
  readonly sort: number | null;
  readonly order: 'asc' | 'desc';
  readonly chains: readonly number[];
  readonly limit: number;
  readonly page: number;
}

const cases: fc.Arbitrary<Case> = fc.record({
  keys: fc.uniqueArray(key, { maxLength: 3, selector: ({ text }) => text }),
  items: fc.array(aggregate, { minLength: 1, maxLength: 4 }),
  sort: fc.option(fc.nat(6)),
  order: fc.constantFrom('asc', 'desc'),
  chains: fc.constantFrom([0], [1], [2], [0, 1], [2, 1, 0]),
  limit: fc.constantFrom(0, 1, 7, 1000),
  page: fc.constantFrom(0, 0, 1),
});

function compared(order: 'asc' | 'desc', left: Plain, right: Plain): number {
  if (left === right) return 0;
  if (left === null || right === null) return left === null ? 1 : -1;
  return left < right === (order === 'asc') ? -1 : 1;
}

/** The expected answer, computed by the model. */
function expected({ keys, items, sort, order, chains: asked, limit, page }: Case) {
  const rows = asked.flatMap(index => chains[index]?.map(number) ?? []);
  const groups = Map.groupBy(rows, row => keys.map(one => String(one.of(row))).join('|'));
  if (keys.length === 0) groups.set('', rows);
  const all = [...groups.values()].map(members => {
    const [first] = members;
    const keyValues = keys.map(one => (first === undefined ? null : one.of(first)));
    const sortKeys = [...keyValues];
    const by = sort === null ? null : (keyValues[sort] ?? null);
    const item = sort === null ? undefined : items[sort - keys.length];
    if (sort !== null && sort < keys.length) sortKeys.unshift(by);
    else if (item?.sorted) sortKeys.unshift(item.sorted(members));
    return { members, keyValues, sortKeys };
  });
  all.sort((left, right) =>
    left.sortKeys.reduce<number>(
      (found, value, index) => found || compared(order, value, right.sortKeys[index] ?? null),
      0,
    ),
  );
  const rowsOfPage = all
    .slice(page * limit, (page + 1) * limit)
    .map(({ members, keyValues }) => [
      ...keys.map((one, index) => writtenPlain(keyValues[index] ?? null, one.isNumber)),
      ...items.map(one => one.written(members)),
    ]);
  return { rows: rowsOfPage, total: all.length };
}

function asked({ keys, items, sort, order }: Case) {
  const sortItem = sort === null ? undefined : items[sort - keys.length];
  const sortKey = sort === null ? undefined : keys[sort];
  const sortBy = sortKey?.text ?? (sortItem?.sorted ? `item${(sort ?? 0) - keys.length}` : undefined);
  return {
    aggregate: items.map(({ text }, index) => `${text} as item${index}`),
    group_by: keys.map(({ text }, index) => (index === 1 ? `${text} AS second` : text)),
    // The second key sorts by its alias; its own name sorts only when it is a field's.
    sort_by: sort === 1 && sortKey !== undefined ? 'second' : sortBy,
    sort_order: order,
  };
}

/** Rounded sums depend on their order, exact values do not. */
const close = (row: readonly unknown[], models: readonly (GroupModel | null)[]) =>
  row.map((value, index) =>
    models[index]?.isReal && typeof value === 'number' ? value.toPrecision(9) : value,
  );

bothDatabases('aggregations', meaningSuite);

function meaningSuite(databases: TestDatabases): void {
  const indexes: RowsIndex[] = [];

  beforeAll(async () => {
    let place = await databases.create();
    for (const [index, rows] of chains.entries()) {
      // On PostgreSQL a database holds several chains.
      if (index > 0 && databases.kind === 'sqlite') place = await databases.create();
      indexes.push(await indexOf(place, { chainId: index + 1, rows }));
    }
  });

  afterAll(() => Promise.all(indexes.map(index => index.close())));

  async function groupsOfChain(
    index: RowsIndex | undefined,
    { keys, folds }: AggregationPlan,
    entity: Entity = 'transactions',
  ): Promise<readonly Group[]> {
    const query = { kind: 'groups', entity, filters: [], keys, folds, limit: 10_000 } as const;
    const answer = await index?.engine.run(query);
    if (answer === undefined || !('groups' in answer)) throw new Error('no groups');
    return answer.groups;
  }

  test('an aggregation over one or more chains equals the model over all their rows', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async one => {
        const plan = planOf('transactions', asked(one));
        const lists: (readonly Group[])[] = [];
        for (const index of one.chains) lists.push(await groupsOfChain(indexes[index], plan));
        const models = [...one.keys.map(() => null), ...one.items];

        const { rows, total } = answerOf(plan, lists, one);

        const wanted = expected(one);
        expect(total).toBe(wanted.total);
        expect(rows.map(row => close(Object.values(row), models))).toEqual(
          wanted.rows.map(row => close(row, models)),
        );
      }),
      { numRuns: databases.kind === 'sqlite' ? 400 : 150 },
    );
  });

  test.each(['blocks', 'transactions', 'events'] as const)(
    'every field of %s can be requested',
    async entity => {
      const [index] = indexes;
      const names = [...SORTABLE[entity], 'minute', 'hour', 'day', 'week', 'month'];

      for (const name of names) {
        const plan = planOf(entity, {
          aggregate: [`min(${name}), max(${name}), uniq(${name}), count(${name})`],
          group_by: [name],
        });

        const { rows } = answerOf(plan, [await groupsOfChain(index, plan, entity)], { limit: 1000, page: 0 });

        expect(rows.length > 0).toBe(entity === 'transactions');
        for (const row of rows) expect(row[`min(${name})`]).toBe(row[name]);
      }
    },
  );
}
