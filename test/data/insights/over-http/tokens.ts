import { type Abi, erc721Abi, ethAddress, formatUnits, parseAbi, parseEventLogs, zeroAddress } from 'viem';
import { describe, expect, test } from 'vitest';
import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { knownContracts } from '#devnet/activity/artifacts.ts';
import { type Ground, lower, pathOf, type SeenChain } from './ground.ts';

type FoundToken = InsightsSchemas['FoundToken'];
type TokenPrice = InsightsSchemas['TokenPrice'];
type NftTransfer = InsightsSchemas['NftTransfer'];
interface Listed<Record> {
  data: Record[];
}

const PAIR = parseAbi([
  'function token0() view returns (address)',
  'function getReserves() view returns (uint112, uint112, uint32)',
  'function totalSupply() view returns (uint256)',
  'function ownerOf(uint256) view returns (address)',
]);

/** Tokens, prices, NFTs and ABIs, compared with the contracts by eth_call. */
export function recordsOfContractsAreTrue(ground: () => Ground): void {
  describe('tokens', () => {
    test('are found by symbol in any letter case, on every requested chain, with their pool’s price', async () => {
      const { read, chains } = ground();
      const query = { symbol: ['toll', 'Usds', 'nothing'], chain_id: chains.map(({ id }) => id) };
      const { data } = await read<Listed<FoundToken>>('/tokens/lookup', query);

      expect(data).toHaveLength(4);
      for (const chain of chains) {
        const address = lower(chain.contract('Community Token'));
        const found = data.find(token => token.token_address === address);
        expect(found).toMatchObject({
          chain_id: chain.id,
          symbol: 'TOLL',
          name: 'Community Token',
          decimals: 18,
        });
        expect((found?.price_data?.price_usd ?? 0) / (await priceNow(chain))).toBeCloseTo(1, 10);
        expect(found?.price_data?.total_supply).toBeCloseTo(await supplyOf(chain), 6);
        const dollar = data.find(token => token.token_address === lower(chain.contract('US Dollar Sample')));
        expect(dollar?.price_data).toMatchObject({ price_usd: 1 });
      }
      expect((await read<Listed<FoundToken>>('/tokens/lookup', { symbol: 'nothing' })).data).toEqual([]);
    });

    test('have prices by address and by symbol, each once, in the order of the request', async () => {
      const { read, chains } = ground();
      const [{ id, contract }] = chains;
      const address = contract('Community Token');
      const dollar = contract('US Dollar Sample');
      const by = (query: Record<string, string | string[]>) =>
        read<Listed<TokenPrice>>('/tokens/price', { chain_id: id, ...query });

      const { data: both } = await by({ address: [dollar, address], symbol: ['TOLL'] });
      const [worth, price] = both;
      const data = both.slice(1);
      const now = await priceNow(chains[0]);
      expect(both).toHaveLength(2);
      expect(worth).toMatchObject({ address: lower(dollar), price_usd: 1 });
      expect(worth?.volume_24h_usd).toBeGreaterThan(0);
      expect(price).toMatchObject({ chain_id: id, address: lower(address), symbol: 'TOLL' });
      expect((price?.price_usd ?? 0) / now).toBeCloseTo(1, 10);
      expect((price?.price_usd_cents ?? 0) / now).toBeCloseTo(100, 8);
      expect((price?.market_cap_usd ?? 0) / (now * (await supplyOf(chains[0])))).toBeCloseTo(1, 10);
      expect(price?.volume_24h_usd).toBeGreaterThan(0);
      expect(price).not.toHaveProperty('historical_prices');
      expect(price).not.toHaveProperty('holders');
      expect((await by({ symbol: 'toll' })).data).toEqual(data);
      expect((await by({ address: address.toLowerCase() })).data).toEqual(data);
    });

    test('have a price for the coin of every chain, under both of its addresses', async () => {
      const { read, chains } = ground();
      for (const chain of chains) {
        const query = { chain_id: chain.id, address: [zeroAddress, ethAddress] };
        const { data } = await read<Listed<TokenPrice>>('/tokens/price', query);

        expect(data).toMatchObject([zeroAddress, ethAddress].map(address => ({ address, symbol: 'ETH' })));
        for (const price of data)
          expect(price.price_usd / (await priceNow(chain, { pool: 'Coin Pool' }))).toBeCloseTo(1, 10);
      }
    });

    test('have a price at a time in seconds or milliseconds, a history up to it, and holders', async () => {
      const { read, chains } = ground();
      const [{ id, contract, seen }] = chains;
      const address = contract('Community Token');
      const query = { chain_id: id, address, include_historical_prices: 'true' };
      const whole = await read<Listed<TokenPrice>>('/tokens/price', { ...query, include_holders: 'true' });
      const days = whole.data[0]?.historical_prices ?? [];
      const block = seen.blocks[Math.floor(seen.blocks.length / 2)];
      const time = Number(block?.timestamp);
      const seconds = await read<Listed<TokenPrice>>('/tokens/price', { ...query, timestamp: time });
      const ms = await read<Listed<TokenPrice>>('/tokens/price', { ...query, timestamp: time * 1_000 });
      const then = await priceNow(chains[0], { blockNumber: block?.number ?? undefined });
      const before = await read<Listed<TokenPrice>>('/tokens/price', { ...query, timestamp: 1 });

      expect(days.length).toBeGreaterThan(2);
      expect(days.at(-1)?.price_usd).toBe(whole.data[0]?.price_usd);
      expect(whole.data[0]?.holders).toBeGreaterThan(1);
      expect((seconds.data[0]?.price_usd ?? 0) / then).toBeCloseTo(1, 10);
      expect(ms.data).toEqual(seconds.data);
      const until = new Date(time * 1_000).toISOString().slice(0, 10);
      expect(seconds.data[0]?.historical_prices?.every(({ date }) => date <= until)).toBe(true);
      expect(seconds.data[0]?.historical_prices?.length).toBeLessThan(days.length);
      expect(before.data).toEqual([]);
    });
  });

  describe('NFTs', () => {
    test('have the transfers of both chains, latest first, page by page', async () => {
      const { read, chains } = ground();
      const [chain] = chains;
      const address = chain.contract('Postcards');
      const logs = chain.logs.filter(log => lower(log.address) === lower(address));
      const moved = parseEventLogs({ abi: erc721Abi, eventName: 'Transfer', logs }).toReversed();
      const pages: NftTransfer[] = [];
      for (let page = 0; page * 10 < moved.length; page += 1) {
        const query = { chain_id: chain.id, limit: 10, page };
        pages.push(...(await read<Listed<NftTransfer>>(`/nfts/transfers/${address}`, query)).data);
      }

      expect(pages).toMatchObject(
        moved.map(({ args, blockNumber, blockHash, logIndex, transactionHash }) => ({
          chain_id: chain.id,
          token_id: String(args.tokenId),
          from_address: lower(args.from),
          to_address: lower(args.to),
          block_number: String(blockNumber),
          block_hash: blockHash,
          block_timestamp: new Date(
            Number(chain.seen.blocks[Number(blockNumber)]?.timestamp) * 1_000,
          ).toISOString(),
          log_index: logIndex,
          transaction_hash: transactionHash,
          contract_address: lower(address),
          token_type: 'erc721',
          amount: '1',
        })),
      );
      expect(new Set(pages.map(one => one.transfer_type))).toEqual(new Set(['mint', 'transfer', 'sale']));
      expect(pages.every(one => !('nft_metadata' in one) && !('nft_sale' in one))).toBe(true);
    });

    test('are listed for the chains with such a contract, and limit 0 returns none', async () => {
      const { read, chains } = ground();
      const [{ contract, id }, other] = chains;
      const path = `/nfts/transfers/${contract('Postcards')}`;
      const query = { chain_id: [other.id, id], limit: 4 };
      const { data } = await read<Listed<NftTransfer>>(path, query);
      const none = await read<Listed<NftTransfer>>(path, { chain_id: id, limit: 0 });
      const unminted = await read<Listed<NftTransfer>>(`${path}/987654321`, { chain_id: id });

      expect(data.map(one => one.chain_id)).toEqual([id, id, id, id]);
      expect(none.data).toEqual([]);
      expect(unminted.data).toEqual([]);
    });

    test('show metadata, the owners that the contract names, and their sales', async () => {
      const { read, chains } = ground();
      const [{ contract, id, node }] = chains;
      const address = contract('Postcards');
      const all = await read<Listed<NftTransfer>>(`/nfts/transfers/${address}`, {
        chain_id: id,
        limit: 1000,
      });
      const sold = all.data.find(one => one.transfer_type === 'sale');
      const tokenId = sold?.token_id ?? '';
      const path = `/nfts/transfers/${address}/${tokenId}`;
      const query = { chain_id: id, metadata: 'true', include_owners: 'true', sales: 'true' };
      const { data } = await read<Listed<NftTransfer>>(path, query);
      const owner = await node.viem.readContract({
        address,
        abi: PAIR,
        functionName: 'ownerOf',
        args: [BigInt(tokenId)],
      });

      expect(data.length).toBeGreaterThan(1);
      for (const one of data) {
        expect(one.nft_metadata).toMatchObject({
          status: 'ok',
          name: `Postcard #${tokenId}`,
          owner_addresses: [lower(owner)],
          contract: { chain_id: id, address: lower(address), type: 'erc721', symbol: 'POST' },
        });
      }
      const [sale] = data.flatMap(one => one.nft_sale ?? []);
      expect(sale).toMatchObject({ marketplace_name: 'Seaport', transaction_hash: sold?.transaction_hash });
      expect(sale?.items_sold).toMatchObject([{ token_address: lower(address), token_id: tokenId }]);
      expect(sale?.payment.length).toBeGreaterThan(0);
      const bare = await read<Listed<NftTransfer>>(path, { chain_id: id });
      expect(bare.data.some(one => 'nft_sale' in one)).toBe(false);
    });
  });

  describe('ABIs', () => {
    test('are the standard array, as compiled, for every known contract', async () => {
      const { api, chains } = ground();
      const [{ chain, id }] = chains;
      let compared = 0;
      for (const { address, abi, name } of knownContracts(chain.contracts)) {
        const { status, body } = await api.get(pathOf(`/contracts/abi/${address}`, { chain_id: id }));
        expect([name, status]).toEqual([name, 200]);
        const told: Abi = JSON.parse(JSON.stringify(body));
        expect(told.slice(0, abi.length)).toEqual(abi);
        if (!name.includes('Proxy')) compared += Number(told.length === abi.length);
        else expect(told.length).toBeGreaterThan(abi.length);
      }
      expect(compared).toBeGreaterThan(8);
    });
  });
}

/** Price of one token in dollars, from the pool itself. */
async function priceNow(
  { node, contract }: SeenChain,
  { pool = 'Pool', blockNumber }: { pool?: string; blockNumber?: bigint | undefined } = {},
): Promise<number> {
  const address = contract(pool);
  const first = await node.viem.readContract({ address, abi: PAIR, functionName: 'token0' });
  const [reserve0, reserve1] = await node.viem.readContract({
    address,
    abi: PAIR,
    functionName: 'getReserves',
    ...(blockNumber === undefined ? {} : { blockNumber }),
  });
  const [usd, token] = first === contract('US Dollar Sample') ? [reserve0, reserve1] : [reserve1, reserve0];
  return Number(usd) / 1e6 / (Number(token) / 1e18);
}

async function supplyOf({ node, contract }: SeenChain): Promise<number> {
  const address = contract('Community Token');
  const supply = await node.viem.readContract({ address, abi: PAIR, functionName: 'totalSupply' });
  return Number(formatUnits(supply, 18));
}
