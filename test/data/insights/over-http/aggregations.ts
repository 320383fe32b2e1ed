import { describe, expect, test } from 'vitest';
import { type Envelope, type Ground, lower, pathOf, type Row } from './ground.ts';

const DAY_S = 86_400;

/** Groups of rows on one and two chains, compared with values computed from the node's own. */
export function aggregationsAreExact(ground: () => Ground): void {
  describe('aggregations', () => {
    test('replace the rows and are keyed by alias or by the expression as written', async () => {
      const { read, chains } = ground();
      const [{ id, seen }] = chains;
      const values = seen.transactions.map(({ value }) => value);
      const body = await read<Envelope<Row>>('/transactions', {
        chain_id: id,
        aggregate: ['count(), sum(value) as wei', ' MIN(block_number)', 'max(value)', 'avg(nonce) AS mean'],
      });

      expect(body.data).toBeUndefined();
      expect(body.aggregations).toEqual([
        {
          'count()': values.length,
          wei: String(sum(values)),
          'MIN(block_number)': Math.min(...seen.transactions.map(one => Number(one.blockNumber))),
          'max(value)': String(values.reduce((a, b) => (a > b ? a : b))),
          mean: expect.closeTo(
            seen.transactions.reduce((total, { nonce }) => total + nonce, 0) / values.length,
            9,
          ),
        },
      ]);
      expect(body.meta).toMatchObject({ total_items: 1, total_pages: 1 });
    });

    test('of two chains are one set: summed sums, overall extremes, averages of all rows', async () => {
      const { read, chains } = ground();
      const ids = chains.map(({ id }) => id);
      const all = chains.flatMap(({ seen }) =>
        seen.transactions.map((one, at) => ({ ...one, used: seen.receipts[at]?.gasUsed ?? 0n })),
      );
      const { aggregations } = await read<Envelope<Row>>('/transactions', {
        chain_id: ids,
        group_by: 'transaction_type',
        aggregate: [
          'count() as n',
          'sum(value) as wei',
          'avg(gas_used) as mean',
          'max(nonce) as top',
          'count(distinct from_address) as senders',
          'sum(gas_used * gas_price) as fees',
        ],
        sort_order: 'asc',
      });

      const types = [...new Set(all.map(one => Number(one.typeHex)))].sort();
      const receiptPrice = new Map(
        chains.flatMap(({ seen }) =>
          seen.receipts.map(({ transactionHash, effectiveGasPrice }) => [transactionHash, effectiveGasPrice]),
        ),
      );
      expect(aggregations).toEqual(
        types.map(type => {
          const own = all.filter(one => Number(one.typeHex) === type);
          return {
            transaction_type: type,
            n: own.length,
            wei: String(sum(own.map(one => one.value))),
            mean: expect.closeTo(Number(sum(own.map(one => one.used))) / own.length, 6),
            top: Math.max(...own.map(one => one.nonce)),
            senders: new Set(own.map(one => lower(one.from))).size,
            fees: String(sum(own.map(one => one.used * (receiptPrice.get(one.hash) ?? 0n)))),
          };
        }),
      );
      expect(types.length).toBeGreaterThan(3);
    });

    test('by day and by chain have the node’s days', async () => {
      const { read, chains } = ground();
      const ids = chains.map(({ id }) => id);
      const { aggregations } = await read<Envelope<Row>>('/blocks', {
        chain_id: ids,
        group_by: ['day', 'chain_id'],
        aggregate: 'sum(transaction_count) as n',
        sort_order: 'asc',
        limit: 1000,
      });
      const expected = new Map<string, number>();
      for (const { id, seen } of chains)
        for (const block of seen.blocks) {
          const day = Number(block.timestamp) - (Number(block.timestamp) % DAY_S);
          const key = `${new Date(day * 1000).toISOString()} ${id}`;
          expected.set(key, (expected.get(key) ?? 0) + block.transactions.length);
        }

      expect(aggregations.map(row => [`${row.day} ${row.chain_id}`, row.n])).toEqual(
        [...expected].sort(([a], [b]) => (a < b ? -1 : 1)),
      );
      expect(expected.size).toBeGreaterThan(4);
    });

    test('of events sum the amounts in their data', async () => {
      const { read, chains } = ground();
      const [{ id, contract, logs }] = chains;
      const address = lower(contract('Community Token'));
      const path = `/events/${address}/Transfer(address,address,uint256)`;
      const query = { chain_id: id, group_by: 'topic_2', sort_by: 'total', limit: 1000 };
      const { aggregations } = await read<Envelope<Row>>(path, {
        ...query,
        aggregate: 'sum(reinterpretAsUInt256(reverse(unhex(substring(data, 3))))) as total',
      });
      const totals = new Map<string, bigint>();
      for (const log of logs.filter(one => lower(one.address) === address && one.topics.length === 3)) {
        if (log.topics[0] !== '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef') continue;
        const to = log.topics[2] ?? '';
        totals.set(to, (totals.get(to) ?? 0n) + BigInt(log.data));
      }

      expect(new Map(aggregations.map(row => [row.topic_2, row.total]))).toEqual(
        new Map([...totals].map(([to, total]) => [to, String(total)])),
      );
      const order = aggregations.map(row => BigInt(String(row.total)));
      expect(order).toEqual(order.toSorted((a, b) => (a < b ? 1 : a > b ? -1 : 0)));
      expect(order.length).toBeGreaterThan(3);
    });

    test('of all events, and of one contract’s, have the node’s counts', async () => {
      const { read, chains } = ground();
      const chain_id = chains.map(({ id }) => id);
      const address = lower(chains[0].contract('Community Token'));
      const logs = chains.flatMap(chain => chain.logs);
      const counted = (values: readonly string[]) =>
        Object.fromEntries(
          [...Map.groupBy(values, value => value)].map(([value, all]) => [value, all.length]),
        );
      const query = { chain_id, aggregate: 'count() as n', limit: 1000, sort_by: 'n' };
      const all = await read<Envelope<Row>>('/events', { ...query, group_by: 'address' });
      const own = await read<Envelope<Row>>(`/events/${address}`, { ...query, group_by: 'topic_0' });

      expect(Object.fromEntries(all.aggregations.map(row => [row.address, row.n]))).toEqual(
        counted(logs.map(log => lower(log.address))),
      );
      expect(Object.fromEntries(own.aggregations.map(row => [row.topic_0, row.n]))).toEqual(
        counted(logs.filter(log => lower(log.address) === address).map(log => log.topics[0] ?? '')),
      );
      const order = all.aggregations.map(row => Number(row.n));
      expect(order).toEqual(order.toSorted((a, b) => b - a));
    });

    test('with filters cover only matching rows, also for a wallet', async () => {
      const { read, chains } = ground();
      const [{ id, seen }] = chains;
      const wallet = lower(seen.transactions.at(-1)?.from ?? '');
      const its = seen.transactions.filter(
        one => lower(one.from) === wallet || lower(one.to ?? '') === wallet,
      );
      const { aggregations, meta } = await read<Envelope<Row>>(`/wallets/${wallet}/transactions`, {
        chain_id: id,
        aggregate: 'count() as n, sum(value) as wei',
        filter_block_number_gte: 20,
      });
      const late = its.filter(one => Number(one.blockNumber) >= 20);

      expect(aggregations).toEqual([{ n: late.length, wei: String(sum(late.map(one => one.value))) }]);
      expect(meta.address).toBe(wallet);
    });

    test('of no rows are one row, and with groups none', async () => {
      const { read } = ground();
      const none = { filter_block_number_gt: 1_000_000 };
      const one = await read<Envelope<Row>>('/blocks', {
        aggregate: 'count() as n,max(gas_used) as m',
        ...none,
      });
      const groups = await read<Envelope<Row>>('/blocks', { group_by: 'miner', ...none });
      const rows = await read<Envelope<Row>>('/blocks', { aggregate: 'count() as n', limit: 0 });

      expect(one.aggregations).toEqual([{ n: 0, m: null }]);
      expect(groups.aggregations).toEqual([]);
      expect(groups.meta).toMatchObject({ total_items: 0, total_pages: 0 });
      expect(rows.aggregations).toEqual([]);
      expect(rows.meta).toMatchObject({ total_items: 1, total_pages: 0 });
    });

    test('that are empty or the text null are ignored', async () => {
      const { read } = ground();
      const query = { aggregate: '', group_by: 'null', page: 'null', decode: '', filter_gas_used: '' };
      const { filter_gas_used: _, ...nullable } = query;
      const plain = await read<Envelope<Row>>('/transactions');
      const spelled = await read<Envelope<Row>>('/transactions', { ...nullable, filter_value_gte: 'null' });

      expect(spelled).toEqual(plain);
    });

    test('that are malformed are a 400 with the parameter and the position', async () => {
      const { api } = ground();
      for (const [query, words] of [
        [{ aggregate: 'sum(nonsense)' }, /aggregate.*\d/],
        [{ aggregate: 'count(' }, /aggregate.*\d/],
        [{ aggregate: 'sum(sum(value))' }, /aggregate.*\d/],
        [{ group_by: 'nonsense' }, /group_by/],
        [{ aggregate: 'count()', sort_by: 'value' }, /sort_by/],
      ] as const) {
        const { status, body } = await api.get(pathOf('/transactions', query));
        expect([query, status, body]).toEqual([query, 400, { error: expect.stringMatching(words) }]);
      }
    });
  });
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}
