import { keccak256, numberToHex, toHex } from 'viem';
import { describe, expect, test } from 'vitest';
import { httpRpc } from '#devnet/chain/rpc.ts';
import { type Envelope, type Ground, lower, pathOf, type Row } from './ground.ts';

/** Cache lifetimes. These tests add blocks, so they run last. */
export function answersAreKept(ground: () => Ground): void {
  const seen = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await ground().api.get(path, headers);
    return { ...answer, cache: answer.headers.get('x-cache') };
  };

  describe('caching', () => {
    test('gives for every operation a MISS, then a HIT with the name of the back end', async () => {
      const { chains } = ground();
      const [{ id, contract, alice }] = chains;
      const query = { chain_id: id, utm: 'x' };
      for (const path of [
        pathOf('/blocks', { ...query, limit: 7 }),
        pathOf('/transactions', { ...query, limit: 7 }),
        pathOf('/transactions', { ...query, aggregate: 'count() as counted' }),
        pathOf(`/wallets/${alice}/transactions`, { ...query, limit: 7 }),
        pathOf(`/events/${contract('Pool')}/Sync(uint112,uint112)`, { ...query, limit: 7 }),
        pathOf('/tokens/lookup', { ...query, symbol: 'item' }),
        pathOf('/tokens/price', { ...query, symbol: ['TOLL', 'x'] }),
        pathOf(`/nfts/transfers/${contract('Game Items')}`, { ...query, limit: 7 }),
        pathOf(`/nfts/transfers/${contract('Game Items')}/1`, { ...query, limit: 7 }),
        pathOf(`/contracts/abi/${contract('Payment Splitter')}`, {
          chain_id: [id, chains[1].id],
        }),
      ]) {
        const first = await seen(path);
        const second = await seen(path);
        expect([path, first.status, first.cache, second.cache]).toEqual([path, 200, 'MISS', 'HIT']);
        expect(second.body).toEqual(first.body);
        expect(second.headers.get('etag')).toBe(first.headers.get('etag'));
        expect(second.headers.get('x-chain-id')).toBe(String(id));
        expect(second.headers.get('x-backend')).toBe(`index-${id}`);
        const etag = first.headers.get('etag') ?? '';
        expect((await seen(path, { 'if-none-match': etag })).status).toBe(304);
      }
    });

    test('has one entry for every spelling of an event', async () => {
      const { chains } = ground();
      const [{ id, contract }] = chains;
      const path = (signature: string, more: Record<string, string | number> = {}) =>
        pathOf(`/events/${contract('Community Token')}/${encodeURIComponent(signature)}`, {
          chain_id: id,
          limit: 9,
          ...more,
        });
      const topic = keccak256(toHex('Transfer(address,address,uint256)'));
      const indexed = 'Transfer(address indexed from, address indexed to, uint256 value)';
      const counted = { aggregate: 'count() as spellings' };
      const states: [string, (string | null)[]][] = [];
      for (const [name, paths] of [
        [
          'plain',
          [path(topic), path('Transfer(address,address,uint)'), path('Transfer(address a,address,uint256)')],
        ],
        ['decoded', [path(indexed), path(indexed.replaceAll(', ', ' ,')), path(indexed, { decode: 'true' })]],
        ['counted', [path(topic, counted), path(indexed, counted)]],
      ] as const) {
        const caches: (string | null)[] = [];
        for (const one of paths) caches.push((await seen(one)).cache);
        states.push([name, caches]);
      }
      expect(states).toEqual([
        ['plain', ['MISS', 'HIT', 'HIT']],
        ['decoded', ['MISS', 'HIT', 'HIT']],
        ['counted', ['MISS', 'HIT']],
      ]);
    });

    test('distinguishes chain sets, orders of prices and spellings of aliases, and ignores letter case', async () => {
      const { chains } = ground();
      const [{ id, contract }, other] = chains;
      const own = contract('Community Token');
      const path = (more: Record<string, string | number | (string | number)[]>) =>
        pathOf('/transactions', { limit: 5, filter_to_address: own, ...more });
      await seen(path({ chain_id: id }));

      expect((await seen(path({ chain_id: [id, other.id] }))).cache).toBe('MISS');
      expect((await seen(path({ chain_id: id, filter_to_address: own.toLowerCase() }))).cache).toBe('HIT');
      expect((await seen(path({ chain: id }))).cache).toBe('HIT');
      expect((await seen(path({ chain_id: id, aggregate: 'count() as a' }))).cache).toBe('MISS');
      expect((await seen(path({ chain_id: id, aggregate: 'count() as b' }))).cache).toBe('MISS');
      const [toll, dear] = [pathOf('/tokens/lookup', { symbol: ['TOLL', 'USDS'] }), ['usds', 'toll']];
      await seen(toll);
      expect((await seen(pathOf('/tokens/lookup', { symbol: dear }))).cache).toBe('HIT');
      await seen(pathOf('/tokens/price', { symbol: ['TOLL', 'USDS'] }));
      expect((await seen(pathOf('/tokens/price', { symbol: dear }))).cache).toBe('MISS');
    });

    test('ends with a new block on any of the chains, whose content is then served', async () => {
      const { chains, catchUp, read } = ground();
      const [{ chain, alice, id }, other] = chains;
      const path = pathOf('/blocks', { chain_id: [id, other.id], limit: 1 });
      await seen(path);
      expect((await seen(path)).cache).toBe('HIT');
      const rpc = httpRpc(chain.rpcUrl);
      const call = { from: alice, to: alice, value: '0x7', gas: numberToHex(21_000) };
      const hash = String(await rpc.call('eth_sendTransaction', call));
      await rpc.call('anvil_mine', '0x1');
      await catchUp();

      const { cache, body } = await seen(path);
      const head = chains[0].seen.blocks.length;
      expect(cache).toBe('MISS');
      expect(body).toMatchObject({
        data: expect.arrayContaining([expect.objectContaining({ block_number: head })]),
      });
      // Sent by an account to itself, and listed once.
      const wallet = await read<Envelope<Row>>(`/wallets/${alice}/transactions`, {
        chain_id: id,
        limit: 1000,
      });
      expect(wallet.data.filter(row => row.hash === hash)).toMatchObject([
        { from_address: lower(alice), to_address: lower(alice), value: '7' },
      ]);
      expect(wallet.meta.total_items).toBe(new Set(wallet.data.map(row => row.hash)).size);
    });
  });
}
