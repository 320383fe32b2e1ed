import { keccak256, toHex } from 'viem';
import { describe, expect, test } from 'vitest';
import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { type Ground, lower, pathOf } from './ground.ts';
import { NAMES } from './register-names.ts';

const TRANSFER = 'Transfer(address,address,uint256)';
const TOPIC = keccak256(toHex(TRANSFER));
const NOBODY = `0x${'77'.repeat(20)}`;
const MOST = 20;

/** Types of a text, compared with the nodes. */
export function textsAreResolved(ground: () => Ground): void {
  const resolve = (text: string, query: Parameters<typeof pathOf>[1] = {}) =>
    ground().read<InsightsSchemas['ResolvedAnswer']>(`/resolve/${encodeURIComponent(text)}`, query);

  describe('a text is resolved as', () => {
    test('a block by its number or its hash', async () => {
      const [{ id, seen }] = ground().chains;
      const block = seen.blocks.at(-4);
      if (block === undefined) throw new Error('there are not four blocks');
      for (const text of [String(block.number), ` 0${block.number} `, block.hash, upper(block.hash)]) {
        const { data, meta } = await resolve(text, { chain_id: id });

        expect([text, data]).toEqual([text, { type: 'block', blocks: [expect.any(Object)] }]);
        expect(data.blocks).toMatchObject([{ block_number: Number(block.number), block_hash: block.hash }]);
        expect(meta).toEqual({
          chain_ids: [id],
          page: 0,
          limit_per_chain: MOST,
          total_items: 1,
          total_pages: 1,
        });
      }
    });

    test('a transaction by its hash', async () => {
      const [{ id, seen }] = ground().chains;
      const hash = seen.transactions.at(-2)?.hash ?? '0x';
      for (const text of [hash, upper(hash)]) {
        const { data } = await resolve(text, { chain_id: id });

        expect(data).toEqual({ type: 'transaction', transactions: [expect.objectContaining({ hash })] });
      }
    });

    test('an event by its topic or its signature, with its newest records', async () => {
      const [{ id, logs }] = ground().chains;
      const its = logs.filter(log => log.topics[0] === TOPIC);
      const expected = its.slice(-MOST).toReversed();
      expect(its.length).toBeGreaterThan(MOST);
      for (const text of [
        TOPIC,
        upper(TOPIC),
        TRANSFER,
        'Transfer(address indexed from, address indexed to, uint256 value)',
      ]) {
        const { data, meta } = await resolve(text, { chain_id: id });

        expect([text, Object.keys(data), data.type]).toEqual([text, ['type', 'events'], 'event_signature']);
        expect(data.events?.map(one => [one.block_number, one.log_index])).toEqual(
          expected.map(log => [Number(log.blockNumber), log.logIndex]),
        );
        expect(meta.total_items).toBe(MOST);
      }
    });

    test('a function by its selector or its signature, with its newest calls', async () => {
      const [{ id, seen }] = ground().chains;
      const calls = seen.transactions.filter(one => one.to !== null && one.input.startsWith('0xa9059cbb'));
      expect(calls.length).toBeGreaterThan(3);
      for (const text of [
        '0xa9059cbb',
        '0xA9059CBB',
        'transfer(address,uint256)',
        'transfer(address to, uint value)',
      ]) {
        const { data } = await resolve(text, { chain_id: id });

        expect([text, Object.keys(data), data.type]).toEqual([
          text,
          ['type', 'transactions'],
          'function_signature',
        ]);
        expect(data.transactions?.map(one => one.hash)).toEqual(
          calls
            .slice(-MOST)
            .toReversed()
            .map(one => one.hash),
        );
      }
    });

    test('a contract by its address or its name, with the newest transactions to it', async () => {
      const [{ id, seen, contract }] = ground().chains;
      const address = lower(contract(NAMES['coin.eth']));
      const its = seen.transactions.filter(one => lower(one.to ?? '') === address);
      expect(its.length).toBeGreaterThan(0);
      for (const text of [address, upper(address), 'coin.eth', 'COIN.eth']) {
        const { data } = await resolve(text, { chain_id: id });

        expect({ ...data, transactions: data.transactions?.map(one => one.hash) }).toEqual({
          type: 'contract',
          address,
          transactions: its
            .slice(-MOST)
            .toReversed()
            .map(one => one.hash),
        });
      }
    });

    test('an account by its address or its name, with the newest transactions it sent or received', async () => {
      const [{ id, seen, alice }] = ground().chains;
      const sender = lower(seen.transactions.at(-1)?.from ?? '');
      for (const [text, address] of [
        [sender, sender],
        ['alice.eth', lower(alice)],
        [NOBODY, NOBODY],
      ] as const) {
        const { data } = await resolve(text, { chain_id: id });
        const its = seen.transactions.filter(one =>
          [one.from, one.to].some(party => lower(party ?? '') === address),
        );

        expect({ ...data, transactions: data.transactions?.map(one => one.hash) }).toEqual({
          type: 'address',
          address,
          transactions: its
            .slice(-MOST)
            .toReversed()
            .map(one => one.hash),
        });
      }
    });

    test('unknown when it has no valid form, or when no chain has it', async () => {
      const [{ id }] = ground().chains;
      for (const text of [
        'hello',
        ' ',
        '0x',
        '-1',
        '1.5',
        'nobody.eth',
        '0x12345678',
        `0x${'12'.repeat(32)}`,
        'Nothing(uint256)',
        'Transfer(address',
        String(2n ** 64n),
        '9'.repeat(78),
        '9'.repeat(79),
      ]) {
        const { data, meta } = await resolve(text, { chain_id: id });

        expect([text, data, meta.total_items]).toEqual([text, { type: 'unknown' }, 0]);
      }
    });
  });

  test('several chains merge their records of a text, newest first', async () => {
    const [first, second] = ground().chains;
    const chain_id = [first.id, second.id];
    const { data, meta } = await resolve('7', { chain_id });
    const { data: events } = await resolve(TRANSFER, { chain_id });
    const { data: contract } = await resolve('coin.eth', { chain_id });

    expect(data.blocks?.map(one => one.chain_id)).toEqual([second.id, first.id]);
    expect(meta).toMatchObject({ chain_ids: chain_id, total_items: 2, total_pages: 1 });
    expect(new Set(events.events?.map(one => Number(one.chain_id)))).toEqual(new Set(chain_id));
    expect(events.events).toHaveLength(2 * MOST);
    expect(contract).toMatchObject({ type: 'contract', address: lower(first.contract(NAMES['coin.eth'])) });
  });

  test('without a chain the configured ones are asked until one has the text, and meta names the unavailable ones', async () => {
    const { chains, out, api } = ground();
    const [first, second] = chains;
    const hash = second.seen.transactions.at(-1)?.hash ?? '';
    const found = await resolve(hash);
    const { headers } = await api.get(pathOf(`/resolve/${hash}`));
    const unknown = await resolve(`0x${'12'.repeat(32)}`);

    expect(found.data).toMatchObject({ type: 'transaction', transactions: [{ hash }] });
    expect(found.meta.chain_ids).toEqual([first.id, second.id]);
    expect(headers.get('x-chain-id')).toBe(String(second.id));
    expect(unknown.data).toEqual({ type: 'unknown' });
    expect(unknown.meta).toMatchObject({ chain_ids: [first.id, second.id], failed_chain_ids: [out] });
  });

  test('a text that is too long is a 400', async () => {
    const { status, body } = await ground().api.get(pathOf(`/resolve/${'a'.repeat(1025)}`));

    expect([status, body]).toEqual([400, { error: expect.stringContaining('input') }]);
  });
}

function upper(hex: string): string {
  return `0x${hex.slice(2).toUpperCase()}`;
}
