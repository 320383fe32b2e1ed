import { join } from 'node:path';
import { type Address, getAddress, type Hex, isAddress, maxUint256, slice } from 'viem';
import { indexBackend } from '#data/backends/own-index/own-index-backend.ts';
import type { InsightsAnswers } from '#data/backends/port/insights-backend.ts';
import type { ChainIndex } from '#indexer/index-service.ts';
import type { Exchange } from '#indexer/read/tokens/markets.ts';
import { CHAIN_ID, type Deployed, openTestIndex, type TestChain } from '../../indexer/support.ts';
import { PATIENCE_MS } from '../../lab/until.ts';

/** Answers of a chain's index with prices read from `prices`. */
export function insightsOf(index: ChainIndex, prices?: Exchange): InsightsAnswers {
  const { insights } = indexBackend({
    name: `index-${CHAIN_ID}`,
    chainId: CHAIN_ID,
    index,
    ...(prices === undefined ? {} : { prices }),
  });
  if (insights === undefined) throw new Error('the index knows nothing of document 2');
  return insights;
}

/** An index of the chain's current state. */
export async function indexed(chain: TestChain, file: string): Promise<ChainIndex> {
  const index = await openTestIndex({ file: join(chain.folder, file), client: chain.client });
  await index.runOnce();
  return index;
}

/** Requests an answer that must exist. */
export function priceQuestions(insights: InsightsAnswers) {
  const ask = { chainIds: [CHAIN_ID], signal: AbortSignal.timeout(PATIENCE_MS) };
  const { lookUpTokens, getTokenPrices } = insights;
  if (lookUpTokens === undefined || getTokenPrices === undefined) throw new Error('no prices are known');
  type Prices = Parameters<typeof getTokenPrices>[0]['query'];
  return {
    lookUp: (...symbol: string[]) => lookUpTokens({ path: {}, query: { symbol } }, ask),
    prices: (query: Partial<Prices>) =>
      getTokenPrices(
        { path: {}, query: { include_historical_prices: 'false', include_holders: 'false', ...query } },
        ask,
      ),
  };
}

/** A token in a pool with a dollar, on a chain with a given time for every block. */
export interface TestMarket {
  exchange: Exchange;
  dollar: Deployed;
  /** Deploys another token with an empty pool. */
  list(token: Deployed, base?: Deployed): Promise<{ pool: Address; approve(): Promise<void> }>;
  /** Puts both tokens into a pool. */
  fill(
    pool: Address,
    token: Deployed,
    amounts: { usd: bigint; token: bigint },
    base?: Deployed,
  ): Promise<void>;
  sell(pool: Address, token: Deployed, amount: bigint): Promise<void>;
  /** Mines the sent transactions at this time, in UTC milliseconds. */
  mineAt(time: number): Promise<void>;
}

/** Deploys a dollar of six decimals and a factory, at `time`. */
export async function openMarket(chain: TestChain, time: number): Promise<TestMarket> {
  const dollar = await chain.deploy('StableToken', ['Dollar', 'USD']);
  const factory = await chain.deploy('PoolFactory', []);
  const owner = chain.accounts.signer(0).address;
  const poolCalls = await chain.deploy('Pool', [dollar.address, factory.address]);
  await mineAt(time);

  async function mineAt(at: number): Promise<void> {
    await chain.rpc.call('evm_mine', at / 1_000);
  }
  function calling(pool: Address, functionName: string, args: unknown[]): { to: Address; data: Hex } {
    return { ...poolCalls.call(functionName, args), to: pool };
  }
  return {
    exchange: { factory: lower(factory.address), usdToken: lower(dollar.address) },
    dollar,
    mineAt,
    async list(token, base = dollar) {
      await chain.send(0, factory.call('createPair', [token.address, base.address]));
      await chain.mine();
      const word = await chain.rpc.call(
        'eth_call',
        factory.call('getPair', [base.address, token.address]),
        'latest',
      );
      const pool = addressIn(word);
      return {
        pool,
        async approve() {
          for (const one of [token, base]) await chain.send(0, one.call('approve', [pool, maxUint256]));
        },
      };
    },
    async fill(pool, token, amounts, base = dollar) {
      await chain.send(0, base.call('mint', [pool, amounts.usd]));
      await chain.send(0, token.call('mint', [pool, amounts.token]));
      await chain.send(0, calling(pool, 'mint', []));
    },
    async sell(pool, token, amount) {
      await chain.send(0, calling(pool, 'sell', [token.address, amount, 0n, owner]));
    },
  };
}

/** Address in a word that a call returned. */
function addressIn(word: unknown): Address {
  const address: unknown = typeof word === 'string' ? `0x${word.slice(-40)}` : undefined;
  if (typeof address !== 'string' || !isAddress(address, { strict: false })) throw new Error('no address');
  return lower(getAddress(address));
}

export function lower(address: Address): Address {
  return `0x${slice(address, 0).slice(2).toLowerCase()}`;
}
