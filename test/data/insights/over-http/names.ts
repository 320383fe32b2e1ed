import { describe, expect, test } from 'vitest';
import { type Envelope, type Ground, lower, pathOf, type Row } from './ground.ts';
import { NAMES } from './register-names.ts';

const TRANSFER = 'Transfer(address,address,uint256)';

/** A name is accepted in place of its address in every parameter. */
export function namesStandForAddresses(ground: () => Ground): void {
  describe('names', () => {
    test('give the same answer as their address, in every parameter', async () => {
      const { read, chains } = ground();
      const [{ id, alice, contract }] = chains;
      const [coin, cards] = [contract(NAMES['coin.eth']), contract(NAMES['cards.eth'])];
      for (const [named, hex] of [
        ['/wallets/alice.eth/transactions', `/wallets/${alice}/transactions`],
        ['/transactions?filter_from_address=alice.eth', `/transactions?filter_from_address=${alice}`],
        ['/transactions?filter_to_address=coin.eth', `/transactions?filter_to_address=${coin}`],
        ['/tokens/price?address=coin.eth', `/tokens/price?address=${coin}`],
        ['/nfts/transfers/cards.eth', `/nfts/transfers/${cards}`],
        ['/nfts/transfers/Cards.ETH/1?sales=true', `/nfts/transfers/${cards}/1?sales=true`],
        ['/transactions/coin.eth', `/transactions/${coin}`],
        ['/events?filter_address=coin.eth', `/events?filter_address=${coin}`],
        ['/events/coin.eth', `/events/${coin}`],
        [`/events/coin.eth/${TRANSFER}`, `/events/${coin}/${TRANSFER}`],
      ] as const) {
        const by = (path: string) =>
          read<Envelope<Row>>(`${path}${path.includes('?') ? '&' : '?'}chain_id=${id}`);
        const [found, expected] = [await by(named), await by(hex)];

        expect(expected.data.length, hex).toBeGreaterThan(0);
        expect(found.data, named).toEqual(expected.data);
      }
      const abi = await read('/contracts/abi/coin.eth', { chain_id: id });
      expect(abi).toEqual(await read(`/contracts/abi/${coin}`, { chain_id: id }));
    });

    test('are repeated in meta as given, in lower case', async () => {
      const { read } = ground();
      const { meta } = await read<Envelope<Row>>('/wallets/ALICE.eth/transactions');

      expect(meta.address).toBe('alice.eth');
    });

    test('belong to each chain: a chain that does not know one has no rows', async () => {
      const { read, chains } = ground();
      const ids = chains.map(({ id }) => id);
      const query = { chain_id: ids, limit: 1000 };
      const { data, meta } = await read<Envelope<Row>>('/transactions', {
        ...query,
        filter_to_address: 'coin.eth',
      });
      const both = await read<Envelope<Row>>('/wallets/alice.eth/transactions', query);
      const { aggregations } = await read<Envelope<Row>>('/transactions', {
        ...query,
        filter_to_address: 'coin.eth',
        aggregate: 'count() as n',
      });

      expect(new Set(data.map(row => row.chain_id))).toEqual(new Set([String(ids[0])]));
      expect(meta.chain_ids).toEqual(ids);
      expect(meta.failed_chain_ids).toBeUndefined();
      expect(aggregations).toEqual([{ n: data.length }]);
      expect(new Set(both.data.map(row => row.chain_id))).toEqual(new Set(ids.map(String)));
      for (const { id, alice } of chains) {
        const own = both.data.filter(row => row.chain_id === String(id));
        const parties = own.flatMap(row => [row.from_address, row.to_address]);
        expect(parties).toContain(lower(alice));
      }
    });

    test('that no requested chain knows are a 400, and for NFTs and ABIs a 404', async () => {
      const { api, chains } = ground();
      const ids = chains.map(({ id }) => id);
      for (const [path, status] of [
        ['/wallets/nobody.eth/transactions', 400],
        ['/transactions?filter_from_address=nobody.eth', 400],
        ['/transactions?filter_to_address=nobody.eth', 400],
        ['/transactions?filter_to_address=nobody.eth&aggregate=count()', 400],
        ['/tokens/price?address=nobody.eth', 400],
        ['/transactions/nobody.eth', 400],
        ['/events?filter_address=nobody.eth', 400],
        ['/events/nobody.eth', 400],
        [`/events/nobody.eth/${TRANSFER}`, 400],
        ['/nfts/transfers/nobody.eth', 404],
        ['/nfts/transfers/nobody.eth/1', 404],
        ['/contracts/abi/nobody.eth', 404],
      ] as const) {
        for (const query of [`chain_id=${ids[0]}`, `chain_id=${ids[0]}&chain_id=${ids[1]}`]) {
          const answer = await api.get(`/insights/v1${path}${path.includes('?') ? '&' : '?'}${query}`);
          expect([path, answer.status, answer.body]).toEqual([
            path,
            status,
            { error: expect.stringContaining('nobody.eth') },
          ]);
        }
      }
    });

    test('that are not valid names are a 400 before any chain is asked', async () => {
      const { api } = ground();
      for (const name of [
        'alice',
        '0x12',
        'alice..eth',
        '.eth',
        'al ice.eth',
        "alice'.eth",
        '0xzz'.padEnd(42, 'z'),
      ])
        for (const path of [`/wallets/${encodeURIComponent(name)}/transactions`, '/transactions']) {
          const query = path === '/transactions' ? { filter_from_address: name } : {};
          const { status } = await api.get(pathOf(path, query));
          expect([name, path, status]).toEqual([name, path, 400]);
        }
    });
  });
}
