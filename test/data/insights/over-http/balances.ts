import { type Address, ethAddress, parseAbi, parseEventLogs } from 'viem';
import { describe, expect, test } from 'vitest';
import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { isCoinLog } from '#evm/coin-logs.ts';
import { type Ground, lower, pathOf, type Query, type SeenChain } from './ground.ts';

type TokenBalance = InsightsSchemas['TokenBalance'];
interface Listed<Record> {
  data: Record[];
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const MOVES = parseAbi([
  'event TransferSingle(address indexed by, address indexed from, address indexed to, uint256 id, uint256 value)',
  'event TransferBatch(address indexed by, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
]);
const BALANCES = parseAbi([
  'function balanceOf(address) view returns (uint256)',
  'function balanceOf(address, uint256) view returns (uint256)',
]);
const KINDS = ['native', 'erc20', 'erc721', 'erc1155'] as const;

/** Balances of owners, compared with nodes and contracts. */
export function balancesAreTrue(ground: () => Ground): void {
  describe('balances', () => {
    const list = async (query: Query) =>
      (await ground().read<Listed<TokenBalance>>('/tokens', { limit: 1000, ...query })).data;
    const both = () => ground().chains.map(({ id }) => id);

    test('of every account match the node, by address over both chains', async () => {
      const { chains } = ground();
      const asked = owners(chains[0]);
      const expected = await Promise.all(
        chains.flatMap(chain => asked.map(one => balancesOf(chain, addressed(one)))),
      );

      const data = await list({ owner_address: asked, chain_id: both() });

      expect(data.map(factsOf)).toEqual(expected.flat().toSorted(byAddress));
      expect(new Set(data.map(({ token_type: kind }) => kind))).toEqual(new Set(KINDS));
    });

    test('are paged in either direction, with the coin in its place', async () => {
      const [first] = ground().chains;
      const { id } = first;
      for (const one of owners(first).slice(0, 3)) {
        for (const order of ['asc', 'desc']) {
          const query = { owner_address: one, chain_id: id, sort_order: order };
          const whole = await list(query);
          const pages: TokenBalance[] = [];
          for (let page = 0; page * 2 <= whole.length; page += 1)
            pages.push(...(await list({ ...query, limit: 2, page })));

          expect(pages).toEqual(whole);
        }
      }
      expect(await list({ owner_address: owners(first), chain_id: id, limit: 0 })).toEqual([]);
    });

    test('have metadata, the price of their token and their value on request', async () => {
      const { chains, read } = ground();
      const [{ id, contract }] = chains;
      const coin = lower(contract('Community Token'));
      const data = await list({ owner_address: owners(chains[0]), chain_id: id, metadata: 'true' });
      const prices = await read<Listed<InsightsSchemas['TokenPrice']>>('/tokens/price', {
        chain_id: id,
        address: coin,
      });
      const price = prices.data[0]?.price_usd ?? 0;
      const held = data.filter(({ token_address: token }) => token === coin);

      expect(held.length).toBeGreaterThan(1);
      for (const { balance, price_data: market, ...facts } of held) {
        expect(facts).toMatchObject({ name: 'Community Token', symbol: 'TOLL', decimals: 18 });
        expect(market?.price_usd).toBe(price);
        expect((market?.usd_value ?? 0) / ((price * Number(balance)) / 1e18)).toBeCloseTo(1, 10);
      }
      const nfts = data.filter(({ token_type: kind }) => kind === 'erc721' || kind === 'erc1155');
      expect(nfts.every(one => one.price_data === undefined && one.name !== undefined)).toBe(true);
      const bare = await list({ owner_address: owners(chains[0]), chain_id: id });
      expect(bare.some(one => 'name' in one || 'symbol' in one || 'decimals' in one)).toBe(false);
      expect(bare.some(one => 'price_data' in one)).toBe(false);
    });

    test.each(['balance', 'token_price', 'usd_value'])(
      'are sorted by %s, with missing values last',
      async by => {
        const { chains } = ground();
        const query = { owner_address: owners(chains[0]), chain_id: both(), metadata: 'true', sort_by: by };
        const keyOf = ({ balance, price_data: market }: TokenBalance) =>
          by === 'balance' ? BigInt(balance) : by === 'token_price' ? market?.price_usd : market?.usd_value;
        for (const order of ['asc', 'desc']) {
          const keys = (await list({ ...query, sort_order: order })).map(keyOf);
          const known = keys.filter(key => key !== undefined);
          const sorted = known.toSorted((a, b) => (a < b ? -1 : Number(a > b)));

          expect(keys).toEqual([
            ...(order === 'asc' ? sorted : sorted.toReversed()),
            ...keys.filter(key => key === undefined),
          ]);
          expect(known.length).toBeGreaterThan(2);
        }
        const bare = await list({ ...query, metadata: 'false', sort_order: 'desc' });
        const full = await list({ ...query, sort_order: 'desc' });
        expect(bare.map(factsOf)).toEqual(full.map(factsOf));
      },
    );

    test('can be limited to kinds, to tokens, and to those with a price', async () => {
      const [first] = ground().chains;
      const query = { owner_address: owners(first), chain_id: first.id };
      const all = await list(query);
      const coin = lower(first.contract('Community Token'));
      const items = lower(first.contract('Game Items'));
      const only = (keep: (one: TokenBalance) => boolean) => all.filter(keep);

      for (const kind of KINDS)
        expect(await list({ ...query, token_type: kind })).toEqual(only(one => one.token_type === kind));
      expect(await list({ ...query, token_type: 'erc20,native' })).toEqual(
        only(({ token_type: kind }) => kind === 'erc20' || kind === 'native'),
      );
      expect(await list({ ...query, include_native: 'false' })).toEqual(
        only(({ token_type: kind }) => kind !== 'native'),
      );
      expect(await list({ ...query, token_address: [coin, items.toUpperCase().replace('X', 'x')] })).toEqual(
        only(({ token_address: token }) => token === coin || token === items),
      );
      for (const native of [ethAddress, `0x${'0'.repeat(40)}`])
        expect(await list({ ...query, token_address: native })).toEqual(
          only(({ token_type: kind }) => kind === 'native'),
        );
      const priced = await list({ ...query, metadata: 'true', include_without_price: 'false' });
      expect(priced.length).toBeGreaterThan(0);
      expect(priced.every(one => one.price_data !== undefined)).toBe(true);
      expect(await list({ ...query, include_without_price: 'false' })).toEqual(all);
    });

    test('of an empty account are an empty list, and of an unknown name a 400', async () => {
      const { api, chains } = ground();
      const [{ id, alice }] = chains;
      const nobody = `0x${'77'.repeat(20)}`;
      const unknown = await api.get(pathOf('/tokens', { owner_address: 'nobody.eth', chain_id: id }));
      const missing = await api.get(pathOf('/tokens', { chain_id: id }));
      const many = Array.from({ length: 11 }, () => nobody);
      const tooMany = await api.get(pathOf('/tokens', { owner_address: many }));

      expect(await list({ owner_address: nobody, chain_id: both() })).toEqual([]);
      expect(await list({ owner_address: 'alice.eth', chain_id: id })).toEqual(
        await list({ owner_address: alice, chain_id: id }),
      );
      expect([unknown, missing, tooMany].map(({ status }) => status)).toEqual([400, 400, 400]);
    });

    test('of an unavailable chain are missing, and X-Chain-Id lists the others', async () => {
      const { api, chains, out } = ground();
      const [{ id }] = chains;
      const { status, headers } = await api.get(
        pathOf('/tokens', { owner_address: owners(chains[0]), chain_id: [out, id] }),
      );

      expect(status).toBe(200);
      expect(headers.get('x-chain-id')).toBe(String(id));
    });
  });
}

function owners({ seen }: SeenChain): string[] {
  return [...new Set(seen.transactions.map(({ from }) => lower(from)))].slice(0, 6);
}

interface Facts {
  readonly chain_id: number;
  readonly owner_address: string | undefined;
  readonly token_address: string;
  readonly token_type: string;
  readonly token_id: string | undefined;
  readonly balance: string;
}

function factsOf({
  chain_id,
  owner_address,
  token_address,
  token_type,
  token_id,
  balance,
}: TokenBalance): Facts {
  return { chain_id, owner_address, token_address, token_type, token_id, balance };
}

function byAddress(a: Facts, b: Facts): number {
  const keys = (one: Facts) =>
    [
      one.token_address,
      (one.token_id ?? '').padStart(78, '0'),
      String(one.chain_id),
      one.owner_address ?? '',
    ].join();
  return keys(a) < keys(b) ? -1 : 1;
}

/** The node's balances of an owner, for the coin and for every token that ever moved. */
async function balancesOf({ node, logs, id: chainId }: SeenChain, owner: Address): Promise<Facts[]> {
  const { viem } = node;
  const facts = (token: Address, kind: string, balance: bigint, tokenId?: bigint): Facts[] =>
    balance === 0n
      ? []
      : [
          {
            chain_id: chainId,
            owner_address: lower(owner),
            token_address: lower(token),
            token_type: kind,
            token_id: tokenId?.toString(),
            balance: balance.toString(),
          },
        ];
  const moved = logs.filter(log => log.topics[0] === TRANSFER && !isCoinLog(log));
  const kinds = new Map(
    moved.map(({ address, topics }) => [lower(address), topics.length === 4 ? 'erc721' : 'erc20']),
  );
  const ids = new Set(
    parseEventLogs({ abi: MOVES, logs }).flatMap(({ address, args }) =>
      ('ids' in args ? args.ids : [args.id]).map(one => `${address} ${one}`),
    ),
  );
  const coin = facts(ethAddress, 'native', await viem.getBalance({ address: owner }));
  const plain = await Promise.all(
    [...kinds].map(async ([token, kind]) => {
      const args = [owner] as const;
      const address = addressed(token);
      return facts(
        address,
        kind,
        await viem.readContract({ address, abi: BALANCES, functionName: 'balanceOf', args }),
      );
    }),
  );
  const numbered = await Promise.all(
    [...ids].map(async key => {
      const [token = '', number = ''] = key.split(' ');
      const address = addressed(token);
      const args = [owner, BigInt(number)] as const;
      const balance = await viem.readContract({ address, abi: BALANCES, functionName: 'balanceOf', args });
      return facts(address, 'erc1155', balance, BigInt(number));
    }),
  );
  return [...coin, ...plain.flat(), ...numbered.flat()];
}

function addressed(text: string): Address {
  return `0x${text.slice(2)}`;
}
