import { join } from 'node:path';
import type { Address } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { InsightsAnswers, InsightsRequestOf } from '#data/backends/port/insights-backend.ts';
import type { ChainIndex } from '#indexer/index-service.ts';
import {
  CHAIN_ID,
  type Deployed,
  openTestIndex,
  startTestChain,
  type TestChain,
} from '../../indexer/support.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { insightsOf } from './prices-support.ts';

type Query = InsightsRequestOf<'listTokenBalances'>['query'];

/** One more than an answer sorts. */
const IDS = 2_001;
/** As many as fit into the gas of a transaction. */
const A_BATCH = 75;

let chain: TestChain;
let index: ChainIndex;
let insights: InsightsAnswers;
let collector: Address;
let items: Deployed;
let dollar: Deployed;

beforeAll(async () => {
  chain = await startTestChain();
  collector = chain.accounts.signer(5).address;
  items = await chain.deploy('GameItems', ['Items', 'ITEM']);
  dollar = await chain.deploy('StableToken', ['Dollar', 'USD']);
  await chain.mine();
  for (let first = 0; first < IDS; first += A_BATCH) {
    const ids = Array.from({ length: Math.min(A_BATCH, IDS - first) }, (_, at) => BigInt(first + at));
    await chain.send(0, items.call('mintBatch', [collector, ids, ids.map(() => 1n)]));
    await chain.mine();
  }
  await chain.send(0, dollar.call('mint', [collector, 5n]));
  await chain.mine();
  index = await openTestIndex({ file: join(chain.folder, 'index.sqlite'), client: chain.client });
  await index.runOnce();
  insights = insightsOf(index);
});

afterAll(async () => {
  await index?.stop();
  await chain?.stop();
});

function balances(query: Partial<Query>) {
  const { listTokenBalances } = insights;
  if (listTokenBalances === undefined) throw new Error('no balances are known');
  return listTokenBalances(
    {
      path: {},
      query: {
        owner_address: [collector],
        metadata: 'false',
        include_native: 'true',
        include_spam: 'false',
        include_without_price: 'true',
        sort_by: 'token_address',
        sort_order: 'asc',
        limit: 1_000,
        page: 0,
        ...query,
      },
    },
    { chainIds: [CHAIN_ID], signal: AbortSignal.timeout(PATIENCE_MS) },
  );
}

test('an owner with more balances than can be sorted gets all of them by address', async () => {
  const pages = await Promise.all([0, 1, 2].map(page => balances({ page })));

  expect(pages.map(page => page.length)).toEqual([1_000, 1_000, 3]);
  expect(new Set(pages.flat().map(one => `${one.token_address} ${one.token_id}`)).size).toBe(IDS + 2);
});

test('sorting them is refused with advice, which works', async () => {
  const refused = { kind: 'rejected', message: expect.stringMatching(/2000 .*token_address/) };
  await expect(balances({ sort_by: 'balance' })).rejects.toMatchObject(refused);
  await expect(balances({ token_type: ['erc1155'] })).rejects.toMatchObject(refused);

  const ofDollar = await balances({ sort_by: 'balance', token_address: [dollar.address] });
  const fungible = await balances({ sort_by: 'balance', token_type: ['erc20'] });

  expect(ofDollar).toMatchObject([{ balance: '5', token_type: 'erc20' }]);
  expect(fungible).toEqual(ofDollar);
});
