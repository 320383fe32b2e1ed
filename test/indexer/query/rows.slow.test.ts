import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SerialEngine } from '#indexer/query/engine.ts';
import type { QueryEngine, RowsQuery } from '#indexer/query/query.ts';
import { openQueryPool, type QueryPool } from '#indexer/query/threads/pool.ts';
import { systemClock } from '#lib/clock.ts';
import { fromJson } from '#lib/json.ts';
import type { Entity, Filter } from '#query-model/row-selection.ts';
import { bothDatabases, type TestDatabases } from '#test/support/databases.ts';
import { CHAIN_ID } from '../support.ts';
import { type FieldValues, rowsOf, testEngine } from './opened-engine.ts';
import { plainAnswer, recordsOf } from './plain-query.ts';
import { ADDRESSES, AMOUNTS, randomBlocks, writeIndex } from './random-blocks.ts';

const ENTITIES = ['blocks', 'transactions', 'events'] as const;
const LISTS = ['access_list_json', 'authorization_list_json'];
const blocks = randomBlocks({ seed: 7, count: 220 });
const records = {
  blocks: recordsOf('blocks', { chainId: CHAIN_ID, blocks }),
  transactions: recordsOf('transactions', { chainId: CHAIN_ID, blocks }),
  events: recordsOf('events', { chainId: CHAIN_ID, blocks }),
} satisfies Record<Entity, FieldValues[]>;
const never = new AbortController().signal;

function query(entity: Entity, parts: Partial<RowsQuery> = {}): RowsQuery {
  return {
    kind: 'rows',
    entity,
    filters: [],
    sort: { field: 'block_number', order: 'desc' },
    limit: 20,
    offset: 0,
    countUpTo: 10_000,
    ...parts,
  };
}

const fieldsOf = (entity: Entity) =>
  Object.keys(records[entity][0] ?? {}).filter(field => !LISTS.includes(field));

/** A value of some row, or one next to it. */
function valueNear(entity: Entity, field: string): fc.Arbitrary<bigint | string> {
  const present = records[entity].map(record => record[field] ?? null).filter(value => value !== null);
  if (present.length === 0) return fc.constantFrom(0n);
  return fc
    .record({ value: fc.constantFrom(...new Set(present)), step: fc.constantFrom(0n, 0n, 1n, -1n) })
    .map(({ value, step }) => (typeof value === 'bigint' ? value + step : value))
    .filter(value => typeof value === 'string' || value >= 0n);
}

const filterOf = (entity: Entity) =>
  fc.constantFrom(...fieldsOf(entity)).chain(field =>
    fc.record({
      field: fc.constant(field),
      operator: fc.constantFrom('eq', 'gte', 'gt', 'lte', 'lt'),
      value: valueNear(entity, field),
    }),
  );

const anyQuery = (entity: Entity): fc.Arbitrary<RowsQuery> =>
  fc
    .record({
      filters: fc.array(filterOf(entity), { maxLength: 3 }),
      field: fc.constantFrom(...fieldsOf(entity)),
      order: fc.constantFrom('asc', 'desc'),
      limit: fc.constantFrom(0, 1, 7, 50, 1000),
      offset: fc.constantFrom(0, 0, 1, 20, 300),
      countUpTo: fc.constantFrom(3, 100, 10_000),
      wallet: entity === 'transactions' ? fc.option(fc.constantFrom(...ADDRESSES)) : fc.constant(null),
    })
    .map(({ field, order, wallet, ...parts }) =>
      query(entity, { ...parts, sort: { field, order }, ...(wallet === null ? {} : { wallet }) }),
    );

bothDatabases('rows of an index', rowsSuite);

function rowsSuite(databases: TestDatabases): void {
  let engine: SerialEngine;
  let threads: QueryPool;
  let pool: QueryEngine;

  beforeAll(async () => {
    const database = await writeIndex(await databases.create(), { chainId: CHAIN_ID, blocks });
    engine = await testEngine(database);
    threads = openQueryPool({ clock: systemClock });
    pool = threads.engine(database);
  });

  afterAll(async () => {
    await engine.close();
    await threads.close();
  });

  async function answer(asked: RowsQuery) {
    return rowsOf(await engine.run(asked));
  }

  for (const entity of ENTITIES) {
    test(`for any query of ${entity}, rows and their number match plain TypeScript`, async () => {
      await fc.assert(
        fc.asyncProperty(anyQuery(entity), async asked => {
          expect(await answer(asked)).toEqual(plainAnswer(records[entity], asked));
        }),
        { numRuns: databases.kind === 'sqlite' ? 400 : 100 },
      );
    });

    test(`every field of ${entity} sorts in both directions, ties in chain order, nulls last`, async () => {
      for (const field of fieldsOf(entity)) {
        for (const order of ['asc', 'desc'] as const) {
          const asked = query(entity, { sort: { field, order }, limit: 1000 });

          expect(await answer(asked), `${field} ${order}`).toEqual(plainAnswer(records[entity], asked));
        }
      }
    });

    test(`every operator works on every field of ${entity}, also with values that no row has`, async () => {
      for (const field of fieldsOf(entity)) {
        const [first] = records[entity].map(record => record[field] ?? null).filter(value => value !== null);
        const values = typeof first === 'bigint' ? [first, ...AMOUNTS, 2n ** 256n] : [first ?? '0x'];
        for (const value of values) {
          for (const operator of ['eq', 'gte', 'gt', 'lte', 'lt'] as const) {
            const asked = query(entity, { filters: [{ field, operator, value }], limit: 30 });

            expect(await answer(asked), `${field} ${operator} ${value}`).toEqual(
              plainAnswer(records[entity], asked),
            );
          }
        }
      }
    });
  }

  test('amounts that differ only beyond a double are distinguished', async () => {
    for (const amount of [2n ** 53n, 2n ** 63n, 10n ** 20n, 2n ** 256n - 2n]) {
      const above = await answer(
        query('transactions', { filters: [{ field: 'value', operator: 'gt', value: amount }], limit: 1000 }),
      );
      const atLeast = await answer(
        query('transactions', {
          filters: [{ field: 'value', operator: 'gte', value: amount + 1n }],
          limit: 1000,
        }),
      );

      expect(above.rows.length).toBeGreaterThan(0);
      expect(above).toEqual(atLeast);
    }
  });

  test('the pages of a wallet show each of its transactions once, including one sent to itself', async () => {
    const [wallet = ''] = ADDRESSES;
    for (const sort of [
      { field: 'block_number', order: 'desc' },
      { field: 'value', order: 'asc' },
      { field: 'max_fee_per_gas', order: 'asc' },
    ] as const) {
      const shown: unknown[] = [];
      const limit = 7;
      let total = Number.POSITIVE_INFINITY;
      for (let offset = 0; offset < total; offset += limit) {
        const page = await answer(query('transactions', { wallet, sort, limit, offset }));
        total = page.total;
        shown.push(...page.rows.map(row => row.hash));
      }

      const own = records.transactions.filter(
        row => row.from_address === wallet || row.to_address === wallet,
      );
      expect(own.some(row => row.from_address === row.to_address)).toBe(true);
      expect(shown.toSorted()).toEqual(own.map(row => row.hash).toSorted());
    }
  });

  test('rows are counted up to the cap, and exactly below it', async () => {
    const count = records.transactions.length;
    const capped = await answer(query('transactions', { limit: 5, countUpTo: count - 1 }));
    const exact = await answer(query('transactions', { limit: 5, countUpTo: count }));

    expect(capped).toMatchObject({ total: count - 1, isCapped: true });
    expect(exact).toMatchObject({ total: count, isCapped: false });
  });

  test('a limit of 0 returns no rows and the true number, and so does a page beyond the last', async () => {
    const total = records.events.length;

    expect(await answer(query('events', { limit: 0 }))).toEqual({ rows: [], total, isCapped: false });
    expect(await answer(query('events', { offset: total }))).toEqual({ rows: [], total, isCapped: false });
  });

  test('threads return the engine’s rows as JSON text of records', async () => {
    for (const entity of ENTITIES) {
      // A record of a block shows its size.
      const filters: Filter[] = entity === 'blocks' ? [{ field: 'size', operator: 'gte', value: 0n }] : [];
      const asked = query(entity, { filters, sort: { field: 'chain_id', order: 'asc' }, limit: 50 });

      const { json, ...counted } = await pool.records(asked, never);
      const { rows, ...others } = await answer(asked);
      const records = fromJson<Record<string, unknown>[]>(new TextDecoder().decode(json));

      expect(records.map(valuesOf)).toEqual(
        rows.map((row, place) =>
          present(row).map(([name, value]) => [name, shownLike(records[place]?.[name], { name, value })]),
        ),
      );
      expect(counted).toEqual(others);
    }
  });
}

/** Values of a record under the names of the row. A null may also be absent. */
function valuesOf({ topics, ...single }: Record<string, unknown>) {
  const named = Array.isArray(topics) ? topics.map((topic, place) => [`topic_${place}`, topic]) : [];
  return present({ ...single, ...Object.fromEntries(named) });
}

function present(values: Record<string, unknown>): [string, unknown][] {
  const some = Object.entries(values).filter(([, value]) => value !== null);
  return some.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** A row's value as a record has it: nonces and gas exactly, other integers as text or a rounded number. */
function shownLike(shown: unknown, { name, value }: { name: string; value: unknown }): unknown {
  if (typeof value !== 'bigint') return value;
  if (typeof shown === 'string') return String(value);
  const [read] = fromJson<unknown[]>(`[${name === 'nonce' || name === 'gas' ? value : Number(value)}]`);
  return read;
}
