import { describe, expect, test } from 'vitest';
import { child, list, resolve } from '#contract/contracts/document.ts';
import { insightsContract } from '#contract/contracts/insights.ts';
import { SORTABLE } from '#query-model/fields.ts';
import type { Entity } from '#query-model/row-selection.ts';
import { type Envelope, type Ground, pathOf, type Row } from './ground.ts';

const OPERATORS = ['gte', 'gt', 'lte', 'lt'] as const;
const PLACE = {
  blocks: ['block_number', 'chain_id'],
  transactions: ['block_number', 'chain_id', 'transaction_index'],
  events: ['block_number', 'chain_id', 'transaction_index', 'log_index'],
} as const;

interface Listed {
  readonly entity: Entity;
  readonly operation: string;
  readonly path: string;
}

/** Every filter and every order, compared with the same computed by hand from all rows. */
export function filtersAndOrdersAreExact(ground: () => Ground): void {
  const { document } = insightsContract;
  const declared = (operation: string): string[] =>
    Object.values(child(document, 'paths'))
      .map(path => child({ path }, 'path'))
      .map(path => child(path, 'get'))
      .filter(get => get.operationId === operation)
      .flatMap(get => list(get, 'parameters'))
      .map(parameter => String(resolve(document, parameter).name))
      .filter(name => name.startsWith('filter_'));

  function operations(): Listed[] {
    const [{ contract, seen }] = ground().chains;
    const sender = seen.transactions.at(-1)?.from;
    const transfer = 'Transfer(address,address,uint256)';
    return [
      { entity: 'blocks', operation: 'queryBlocks', path: '/blocks' },
      { entity: 'transactions', operation: 'queryTransactions', path: '/transactions' },
      {
        entity: 'transactions',
        operation: 'queryContractTransactions',
        path: `/transactions/${contract('Community Token')}`,
      },
      {
        entity: 'transactions',
        operation: 'queryWalletTransactions',
        path: `/wallets/${sender}/transactions`,
      },
      { entity: 'events', operation: 'queryAllEvents', path: '/events' },
      { entity: 'events', operation: 'queryContractEvents', path: `/events/${contract('Postcards')}` },
      { entity: 'events', operation: 'queryEvents', path: `/events/${contract('Postcards')}/${transfer}` },
    ];
  }

  describe('filters', () => {
    test('of every name in the contract select exactly the matching rows', async () => {
      const { read, chains } = ground();
      const [{ id }] = chains;
      let narrowed = 0;
      for (const { operation, path } of operations()) {
        const { data: rows } = await read<Envelope<Row>>(path, { chain_id: id, limit: 1000 });
        expect(rows.length, operation).toBeGreaterThan(5);
        const names = declared(operation);
        expect(names.length, operation).toBeGreaterThan(10);
        for (const name of names) {
          const { field, operator } = meaning(name, path);
          const value = median(rows, field);
          const expected = rows.filter(row => holds(at(row, field), operator, value));
          const query = { chain_id: id, limit: 1000, [name]: value };
          const { data, meta } = await read<Envelope<Row>>(path, query);

          expect(data, `${operation} ${name}=${value}`).toEqual(expected);
          expect(meta.total_items).toBe(expected.length);
          if (operator === 'eq' || operator === 'gte' || operator === 'lte')
            expect(expected.length, name).toBeGreaterThan(0);
          if (expected.length > 0 && expected.length < rows.length) narrowed += 1;
        }
      }
      expect(narrowed).toBeGreaterThan(40);
    });

    test('in hex ignore letter case, and topics match the address or number they contain', async () => {
      const { read, chains } = ground();
      const [{ id, contract }] = chains;
      const all = await read<Envelope<Row>>('/transactions', { chain_id: id, limit: 1000 });
      const one = all.data.find(row => row.to_address !== null && row.function_selector !== '0x') ?? {};
      for (const field of ['hash', 'from_address', 'to_address', 'function_selector', 'block_hash']) {
        const upper = String(one[field]).toUpperCase().replace('0X', '0x');
        const { data } = await read<Envelope<Row>>('/transactions', {
          chain_id: id,
          limit: 1000,
          [`filter_${field}`]: upper,
        });
        expect(data, field).toEqual(all.data.filter(row => row[field] === one[field]));
      }
      const path = `/events/${contract('Postcards')}/Transfer(address,address,uint256)`;
      const { data: events } = await read<Envelope<Row>>(path, { chain_id: id, limit: 1000 });
      const receiver = `0x${String(at(events[0] ?? {}, 'topic_2')).slice(-40)}`;
      const received = await read<Envelope<Row>>(path, {
        chain_id: id,
        filter_topic_2: receiver,
        limit: 1000,
      });
      const first = await read<Envelope<Row>>(path, { chain_id: id, filter_topic_3: '0x1', limit: 1000 });

      expect(received.data).toEqual(
        events.filter(row => String(at(row, 'topic_2')).endsWith(receiver.slice(2))),
      );
      expect(first.data).toEqual(events.filter(row => BigInt(String(at(row, 'topic_3'))) === 1n));
      expect(received.data.length * first.data.length).toBeGreaterThan(0);
    });

    test('of numbers are exact beyond JSON numbers, and several must all match', async () => {
      const { read, chains } = ground();
      const [{ id, seen }] = chains;
      const wei = seen.transactions.map(({ value }) => value).reduce((a, b) => (a > b ? a : b));
      expect(wei).toBeGreaterThan(2n ** 53n);
      const count = async (query: Record<string, bigint>) =>
        (await read<Envelope<Row>>('/transactions', { chain_id: id, limit: 0, ...query })).meta.total_items;

      const those = seen.transactions.filter(({ value }) => value === wei).length;
      expect(await count({ filter_value: wei })).toBe(those);
      expect(await count({ filter_value: wei + 1n })).toBe(0);
      expect(await count({ filter_value_gte: wei })).toBe(those);
      expect(await count({ filter_value_gt: wei })).toBe(0);
      expect(await count({ filter_value_gt: wei - 1n, filter_value_lt: wei + 1n })).toBe(those);
      expect(await count({ filter_value_lte: 2n ** 256n - 1n })).toBe(seen.transactions.length);
      expect(await count({ filter_value_gte: 100_000_000_000_000_000_000n })).toBe(
        seen.transactions.filter(({ value }) => value >= 100_000_000_000_000_000_000n).length,
      );
      expect(await count({ filter_gas_gt: 2n ** 256n - 1n })).toBe(0);
      expect(await count({ filter_block_timestamp_gte: 2n ** 70n })).toBe(0);
    });

    test('of numbers accept JavaScript’s notations, cached as one entry with the digits', async () => {
      const { api, chains } = ground();
      const [{ id, seen }] = chains;
      const bound = 100_000_000_000_000_000n;
      const path = (value: string) =>
        `/insights/v1/transactions?chain_id=${id}&limit=0&filter_value_gte=${value}`;

      const digits = await api.get(path(String(bound)));
      const forms = await Promise.all(
        ['1e17', '1e+17', '1.0E%2B17', '1%2e0e017'].map(form => api.get(path(form))),
      );
      const none = await api.get(path('1e+21'));
      const refused = await api.get(path('1.5e0'));

      const expected = seen.transactions.filter(({ value }) => value >= bound).length;
      expect(expected).toBeGreaterThan(0);
      expect(digits.body).toMatchObject({ meta: { total_items: expected } });
      expect(forms.map(({ body, headers }) => [body, headers.get('x-cache')])).toEqual(
        forms.map(() => [digits.body, 'HIT']),
      );
      expect(none.body).toMatchObject({ meta: { total_items: 0 } });
      expect([refused.status, refused.body]).toEqual([
        400,
        { error: expect.stringContaining('filter_value_gte: must be an integer from 0 to 2^256 - 1') },
      ]);
    });
  });

  describe('order', () => {
    test('applies to any field over both chains: ties by position, nulls last, in both directions', async () => {
      const { read, chains } = ground();
      const ids = chains.map(({ id }) => id);
      for (const { entity, path } of operations().filter(({ operation }) => !/Wallet/.test(operation))) {
        const { data: rows } = await read<Envelope<Row>>(path, { chain_id: ids, limit: 1000 });
        for (const [at_, field] of SORTABLE[entity].entries()) {
          const sort_order = at_ % 2 === 0 ? 'asc' : 'desc';
          const query = { chain_id: ids, limit: 1000, sort_by: field, sort_order };
          const { data } = await read<Envelope<Row>>(path, query);

          expect(data.map(identity), `${entity} ${field} ${sort_order}`).toEqual(
            sorted(entity, rows, field, sort_order).map(identity),
          );
        }
      }
    });

    test('by one field pages through all rows without repeats', async () => {
      const { read, chains } = ground();
      const [{ id }] = chains;
      const query = { chain_id: id, sort_by: 'gas_price', filter_block_number_gte: 20 };
      const whole = await read<Envelope<Row>>('/transactions', { ...query, limit: 1000 });
      const limit = Math.ceil(whole.data.length / 6);
      const pages: Row[] = [];
      for (let page = 0; page < 6; page += 1) {
        const { data } = await read<Envelope<Row>>('/transactions', { ...query, limit, page });
        pages.push(...data);
      }
      const beyond = await read<Envelope<Row>>('/transactions', { ...query, limit, page: 20 });

      expect(pages).toEqual(whole.data);
      expect(beyond.data).toEqual([]);
      expect(beyond.meta).toMatchObject({ page: 20, total_items: whole.data.length, total_pages: 6 });
    });

    test('by a name that is not a field is a 400', async () => {
      const { api } = ground();
      for (const name of ['nonsense', 'topics', 'decoded', 'access_list_json', 'constructor', '__proto__']) {
        const { status, body } = await api.get(pathOf('/transactions', { sort_by: name }));
        expect([name, status, body]).toEqual([name, 400, { error: expect.stringContaining('sort_by') }]);
      }
    });
  });
}

function meaning(name: string, path: string) {
  const base = name.slice('filter_'.length);
  const operator = OPERATORS.find(one => base.endsWith(`_${one}`)) ?? 'eq';
  const field = operator === 'eq' ? base : base.slice(0, -operator.length - 1);
  return { operator, field: path === '/blocks' && field === 'hash' ? 'block_hash' : field };
}

function at(row: Row, field: string): unknown {
  const topic = /^topic_(\d)$/.exec(field)?.[1];
  if (topic === undefined) return row[field] ?? null;
  return Array.isArray(row.topics) ? (row.topics[Number(topic)] ?? null) : null;
}

function comparable(value: unknown): bigint | string {
  return typeof value === 'number' || /^\d+$/.test(String(value)) ? BigInt(String(value)) : String(value);
}

function median(rows: readonly Row[], field: string): string {
  const values = rows.map(row => at(row, field)).filter(value => value !== null);
  const inOrder = values.map(comparable).sort((a, b) => (a < b ? -1 : Number(a > b)));
  return String(inOrder[Math.floor(inOrder.length / 2)]);
}

function holds(value: unknown, operator: string, bound: string): boolean {
  if (value === null) return false;
  const [a, b] = [comparable(value), comparable(bound)];
  if (operator === 'gte') return a >= b;
  if (operator === 'gt') return a > b;
  if (operator === 'lte') return a <= b;
  return operator === 'lt' ? a < b : a === b;
}

function sorted(entity: Entity, rows: readonly Row[], field: string, order: 'asc' | 'desc'): Row[] {
  const direction = order === 'asc' ? 1 : -1;
  return rows.toSorted((one, other) => {
    for (const name of [field, ...PLACE[entity]]) {
      const [a, b] = [at(one, name), at(other, name)];
      if (a === null && b === null) continue;
      if (a === null) return 1;
      if (b === null) return -1;
      const [x, y] = [comparable(a), comparable(b)];
      if (x !== y) return x < y ? -direction : direction;
    }
    return 0;
  });
}

function identity(row: Row): string {
  return [row.chain_id, row.block_number, row.transaction_index, row.log_index].join(' ');
}
