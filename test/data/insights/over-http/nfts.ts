import { type Address, parseAbi, parseEventLogs, zeroAddress } from 'viem';
import { describe, expect, test } from 'vitest';
import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { type Ground, lower, pathOf, type Query, type SeenChain } from './ground.ts';

type Nft = InsightsSchemas['Nft'];

const ABI = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 indexed id)',
  'event TransferSingle(address indexed by, address indexed from, address indexed to, uint256 id, uint256 value)',
  'event TransferBatch(address indexed by, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
  'function ownerOf(uint256) view returns (address)',
  'function balanceOf(address, uint256) view returns (uint256)',
  'function tokenURI(uint256) view returns (string)',
  'function uri(uint256) view returns (string)',
]);

/** NFTs by owner, by contract and single, compared with the contracts by eth_call. */
export function nftsAreTrue(ground: () => Ground): void {
  describe('NFT records', () => {
    const list = async (path: string, query: Query = {}) =>
      (await ground().read<{ data: Nft[] }>(path, query)).data;
    const both = () => ground().chains.map(({ id }) => id);

    test('of owners match the contracts, by contract and id over both chains', async () => {
      const { chains } = ground();
      const held = (await Promise.all(chains.map(heldOn))).flat();
      const owners = [...new Set(held.map(({ owner }) => owner))].slice(0, 5);
      const expected = held.filter(({ owner }) => owners.includes(owner)).toSorted(inOrder);

      const data = await list('/nfts', { owner_address: owners, chain_id: both(), limit: 200 });

      expect(data.map(factsOf)).toEqual(expected);
      expect(new Set(data.map(one => one.token_type))).toEqual(new Set(['erc721', 'erc1155']));
    });

    test('of an owner are paged, and can be limited to some contracts', async () => {
      const [first] = ground().chains;
      const cards = lower(first.contract('Postcards'));
      const items = lower(first.contract('Game Items'));
      const held = await heldOn(first);
      const owner = held.find(({ type }) => type === 'erc1155')?.owner ?? '';
      const query = { owner_address: owner, chain_id: first.id };
      const whole = await list('/nfts', { ...query, limit: 1000 });
      const pages: Nft[] = [];
      for (let page = 0; page * 3 <= whole.length; page += 1)
        pages.push(...(await list('/nfts', { ...query, limit: 3, page })));

      expect(pages).toEqual(whole);
      for (const contracts of [[cards], [items], [items, cards]])
        expect(await list('/nfts', { ...query, contract_address: contracts, limit: 1000 })).toEqual(
          whole.filter(one => contracts.includes(one.contract_address)),
        );
      expect(await list('/nfts', { ...query, contract_address: [cards, items], limit: 2, page: 1 })).toEqual(
        whole.slice(2, 4),
      );
      expect(await list('/nfts', { ...query, limit: 0 })).toEqual([]);
      expect(await list('/nfts', { owner_address: `0x${'77'.repeat(20)}`, chain_id: both() })).toEqual([]);
    });

    test('of a contract are all existing ones, with their amounts and owners', async () => {
      const [first] = ground().chains;
      const held = await heldOn(first);
      for (const name of ['Postcards', 'Game Items']) {
        const address = lower(first.contract(name));
        const ofContract = Map.groupBy(
          held.filter(({ contract }) => contract === address),
          ({ id }) => id,
        );
        const expected = [...ofContract].map(([id, holders]) => ({
          contract: address,
          id,
          balance: holders.reduce((sum, { balance }) => sum + BigInt(balance), 0n).toString(),
          owners: holders.map(({ owner }) => owner).toSorted(),
        }));
        const query = { chain_id: first.id, limit: 1000 };
        const data = await list(`/nfts/${address}`, { ...query, include_owners: 'true' });
        const bare = await list(`/nfts/${address}`, query);
        const pages = await Promise.all(
          [0, 1].map(page => list(`/nfts/${address}`, { ...query, limit: 2, page })),
        );

        expect(
          data.map(one => ({
            contract: one.contract_address,
            id: BigInt(one.token_id),
            balance: one.balance,
            owners: one.owner_addresses,
          })),
        ).toEqual(expected.toSorted((a, b) => Number(a.id - b.id)));
        expect(bare).toEqual(data.map(({ owner_addresses: _, ...one }) => one));
        expect(pages.flat()).toEqual(bare.slice(0, 4));
      }
    });

    test('show the content of their contract’s documents', async () => {
      const [{ contract, node, id, chain }] = ground().chains;
      for (const [name, functionName] of [
        ['Postcards', 'tokenURI'],
        ['Game Items', 'uri'],
      ] as const) {
        const address = contract(name);
        const data = await list(`/nfts/${address}`, { chain_id: id, limit: 3 });
        for (const one of data) {
          const args = [BigInt(one.token_id)] as const;
          const text = await node.viem.readContract({ address, abi: ABI, functionName, args });
          const shown = JSON.parse(Buffer.from(text.split(',')[1] ?? '', 'base64').toString());
          expect(one).toMatchObject({
            status: 'ok',
            name: shown.name,
            description: shown.description,
            image_url: shown.image,
            extra_metadata: { attributes: shown.attributes },
            contract: { chain_id: chain.id, address: lower(address), type: one.token_type },
          });
        }
        expect(data).toHaveLength(3);
      }
    });

    test('are the same one by one as in the list, for each requested chain that has the token', async () => {
      const { chains } = ground();
      const [first, second] = chains;
      const address = first.contract('Postcards');
      const [one] = await list(`/nfts/${address}`, { chain_id: first.id, include_owners: 'true' });
      const path = `/nfts/${address}/${one?.token_id}`;
      const isOnBoth = second.contract('Postcards') === address;

      expect(await list(path, { chain_id: first.id, include_owners: 'true' })).toEqual([one]);
      expect(await list(`/nfts/cards.eth/${one?.token_id}`, { chain_id: first.id })).toEqual(
        await list(path, { chain_id: first.id }),
      );
      const ofBoth = await list(path, { chain_id: [second.id, first.id] });
      expect(ofBoth.map(found => found.chain_id)).toEqual(isOnBoth ? [second.id, first.id] : [first.id]);
    });

    test('that do not exist are a 404, and so are contracts without NFTs', async () => {
      const { api, chains } = ground();
      const [first] = chains;
      const cards = first.contract('Postcards');
      const coin = first.contract('Community Token');
      const nobody = `0x${'77'.repeat(20)}`;
      for (const path of [
        `/nfts/${cards}/987654321`,
        `/nfts/${cards}/${2n ** 256n}`,
        `/nfts/${coin}`,
        `/nfts/${coin}/1`,
        `/nfts/${nobody}`,
        '/nfts/nobody.eth',
        '/nfts?owner_address=nobody.eth',
      ]) {
        const { status } = await api.get(
          pathOf(path).concat(path.includes('?') ? '&' : '?', 'chain_id=', String(first.id)),
        );
        expect([path, status]).toEqual([path, 404]);
      }
      for (const path of [
        '/nfts',
        '/nfts/0x12',
        `/nfts/${cards}/-1`,
        '/nfts/transfers',
        `/nfts?owner_address=${nobody},${cards}&limit=501`,
      ]) {
        const { status } = await api.get(pathOf(path));
        expect([path, status]).toEqual([path, 400]);
      }
    });
  });
}

interface Held {
  readonly chain: number;
  readonly contract: string;
  readonly id: bigint;
  readonly type: string;
  readonly balance: string;
  readonly owner: string;
}

function factsOf({ chain_id, contract_address, token_id, token_type, balance, owner_addresses }: Nft) {
  return {
    chain: chain_id,
    contract: contract_address,
    id: BigInt(token_id),
    type: token_type,
    balance,
    owner: owner_addresses?.join(),
  };
}

function inOrder(a: Held, b: Held): number {
  const key = (one: Held) => [one.contract, one.id.toString().padStart(78, '0'), one.chain, one.owner].join();
  return key(a) < key(b) ? -1 : 1;
}

/** Holdings of every account that ever received a token, by the contracts. */
async function heldOn({ node, logs, id: chain }: SeenChain): Promise<Held[]> {
  const { viem } = node;
  const moves = parseEventLogs({ abi: ABI, logs });
  const unique = new Set(
    moves.flatMap(one => (one.eventName === 'Transfer' ? [`${lower(one.address)} ${one.args.id}`] : [])),
  );
  const shared = new Set(
    moves.flatMap(one => {
      if (one.eventName === 'Transfer') return [];
      const ids = one.eventName === 'TransferSingle' ? [one.args.id] : one.args.ids;
      return ids.map(id => `${lower(one.address)} ${id} ${lower(one.args.to)}`);
    }),
  );
  const ofUnique = [...unique].map(async (key): Promise<Held[]> => {
    const [contract = '', id = ''] = key.split(' ');
    const owner = await viem
      .readContract({ address: addressed(contract), abi: ABI, functionName: 'ownerOf', args: [BigInt(id)] })
      .catch(() => zeroAddress);
    if (owner === zeroAddress) return [];
    return [{ chain, contract, id: BigInt(id), type: 'erc721', balance: '1', owner: lower(owner) }];
  });
  const ofShared = [...shared].map(async (key): Promise<Held[]> => {
    const [contract = '', id = '', owner = ''] = key.split(' ');
    const args = [addressed(owner), BigInt(id)] as const;
    const address = addressed(contract);
    const balance =
      owner === zeroAddress
        ? 0n
        : await viem.readContract({ address, abi: ABI, functionName: 'balanceOf', args });
    if (balance === 0n) return [];
    return [{ chain, contract, id: BigInt(id), type: 'erc1155', balance: balance.toString(), owner }];
  });
  return (await Promise.all([...ofUnique, ...ofShared])).flat();
}

function addressed(text: string): Address {
  return `0x${text.slice(2)}`;
}
