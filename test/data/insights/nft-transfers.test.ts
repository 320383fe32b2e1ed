import { getContractAddress } from 'viem';
import { afterAll, expect, test } from 'vitest';
import { insightsContract } from '#contract/contracts/insights.ts';
import { responseValidators } from '#contract/mount/response-validators.ts';
import { nftAnswers } from '#data/backends/own-index/insights/nft-transfers.ts';
import type { NftTransfersRequest } from '#data/backends/port/insights-backend.ts';
import { CHAIN_ID, startTestChain } from '../../indexer/support.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { indexed, lower } from './nft-support.ts';

const ZERO = '0x0000000000000000000000000000000000000000';
const FEES = '0x00000000000000000000000000000000000000fe';

/** Creation code of a contract that returns 1 to every call. */
const AGREEING = '0x69600160005260206000f3600052600a6016f3';

const chain = await startTestChain();
const alice = lower(chain.accounts.signer(1).address);
const bob = lower(chain.accounts.signer(2).address);
const carol = lower(chain.accounts.signer(3).address);
const postcards = await chain.deploy('Postcards', ['Postcards', 'CARD']);
const items = await chain.deploy('GameItems', ['Items', 'ITEM']);
const market = await chain.deploy('Marketplace', [FEES]);
const unminted = await chain.deploy('Postcards', ['Nothing yet', 'NONE']);
const unmintedItems = await chain.deploy('GameItems', ['No items yet', 'NONE']);
const dollar = await chain.deploy('StableToken', ['Dollar', 'USD']);
const agreeing = getContractAddress({ from: chain.accounts.signer(4).address, nonce: 0n });
await chain.send(4, { data: AGREEING });
await chain.mine();
for (const call of [
  postcards.call('mint', [alice]),
  postcards.call('mint', [alice]),
  postcards.call('mint', [bob]),
  items.call('mintBatch', [alice, [5n, 6n, 7n], [1n, 20n, 300n]]),
  dollar.call('mint', [alice, 5n]),
]) {
  await chain.send(0, call);
}
await chain.mine();
await chain.send(1, postcards.call('transferFrom', [alice, bob, 1n]));
await chain.send(1, postcards.call('approve', [market.address, 2n]));
await chain.send(1, items.call('safeTransferFrom', [alice, bob, 6n, 8n, '0x']));
await chain.mine();
await chain.send(2, postcards.call('burn', [3n]));
await chain.send(3, { ...market.call('buy', [postcards.address, 2n]), value: 30_000_000_000_000_000n });
await chain.mine();
const index = await indexed(chain);

afterAll(async () => {
  await index.close();
  await chain.stop();
});

const DEFAULTS = { limit: 20, page: 0, metadata: 'false', include_owners: 'false' } as const;

/** An answer, checked against the contract. */
async function transfers(
  contract: string,
  { id, ...query }: Partial<NftTransfersRequest['query']> & { id?: bigint } = {},
) {
  const path = { contract_address: contract, ...(id === undefined ? {} : { token_id: id.toString() }) };
  const ask = { chainIds: [CHAIN_ID], signal: AbortSignal.timeout(PATIENCE_MS) };
  const { listNftTransfers } = nftAnswers(index.source);
  const data = (await listNftTransfers?.({ path, query: { ...DEFAULTS, ...query } }, ask)) ?? [];
  const validate = responseValidators(insightsContract.document)('listNftTransfers', 200);
  expect(validate?.({ data }), JSON.stringify(validate?.errors)).toBe(true);
  return data;
}

test('transfers of a contract come latest first, with the node’s values of their transaction', async () => {
  const data = await transfers(postcards.address);
  const receipts = await Promise.all(
    data.map(({ transaction_hash: hash }) =>
      chain.client.public.getTransactionReceipt({ hash: `0x${hash.slice(2)}` }),
    ),
  );

  expect(data.map(one => [one.token_id, one.transfer_type, one.from_address, one.to_address])).toEqual([
    ['2', 'sale', alice, carol],
    ['3', 'transfer', bob, ZERO],
    ['1', 'transfer', alice, bob],
    ['3', 'mint', ZERO, bob],
    ['2', 'mint', ZERO, alice],
    ['1', 'mint', ZERO, alice],
  ]);
  for (const [place, one] of data.entries()) {
    const receipt = receipts[place];
    const logs = receipt?.logs.filter(({ address }) => lower(address) === lower(postcards.address));
    expect(one).toMatchObject({
      chain_id: CHAIN_ID,
      block_number: String(receipt?.blockNumber),
      block_hash: receipt?.blockHash,
      contract_address: lower(postcards.address),
      token_type: 'erc721',
      amount: '1',
    });
    expect(logs?.map(({ logIndex }) => logIndex)).toContain(one.log_index);
  }
});

test('the time of a transfer is its block’s, in ISO 8601 with milliseconds', async () => {
  const [latest] = await transfers(postcards.address);
  const block = await chain.client.public.getBlock({ blockNumber: BigInt(latest?.block_number ?? 0) });

  expect(latest?.block_timestamp).toBe(new Date(Number(block.timestamp) * 1_000).toISOString());
  expect(latest).not.toHaveProperty('nft_metadata');
  expect(latest).not.toHaveProperty('nft_sale');
});

test('the entries of a batch are separate transfers within one log', async () => {
  const [single, ...batch] = await transfers(items.address);

  expect(single).toMatchObject({ token_id: '6', amount: '8', token_type: 'erc1155', from_address: alice });
  expect(batch.map(one => [one.token_id, one.amount, one.transfer_type]).toSorted()).toEqual([
    ['5', '1', 'mint'],
    ['6', '20', 'mint'],
    ['7', '300', 'mint'],
  ]);
  expect(new Set(batch.map(one => one.log_index)).size).toBe(1);
});

test('a token has only its own transfers', async () => {
  const data = await transfers(items.address, { id: 6n });

  expect(data.map(one => [one.token_id, one.amount])).toEqual([
    ['6', '8'],
    ['6', '20'],
  ]);
});

test('pages follow each other without gap or repetition', async () => {
  const whole = await transfers(postcards.address);
  const pages = await Promise.all([0, 1, 2, 3].map(page => transfers(postcards.address, { limit: 2, page })));

  expect(pages.flat()).toEqual(whole);
  expect(pages.map(page => page.length)).toEqual([2, 2, 2, 0]);
  expect(await transfers(postcards.address, { limit: 0 })).toEqual([]);
});

test('a sale lists the sold items and every payment', async () => {
  const [sale, mint] = await transfers(postcards.address, { id: 2n, sales: 'true' });
  const paid = { token_address: ZERO, token_id: '0', token_type: 'native', from_address: carol };

  expect(sale?.transfer_type).toBe('sale');
  expect(sale?.nft_sale).toEqual({
    transaction_hash: sale?.transaction_hash,
    items_sold: [
      {
        token_address: lower(postcards.address),
        token_id: '2',
        amount: '1',
        token_type: 'erc721',
        from_address: alice,
        to_address: carol,
      },
    ],
    payment: [
      { ...paid, amount: '29250000000000000', to_address: alice },
      { ...paid, amount: '750000000000000', to_address: FEES },
    ],
    marketplace_address: lower(market.address),
    marketplace_name: 'Seaport',
  });
  expect(mint).not.toHaveProperty('nft_sale');
});

test('a known contract without transfers has an empty list, and so does a token that never moved', async () => {
  expect(await transfers(unminted.address)).toEqual([]);
  expect(await transfers(unmintedItems.address)).toEqual([]);
  expect(await transfers(postcards.address, { id: 77n })).toEqual([]);
  expect(await transfers(postcards.address, { id: 2n ** 256n - 1n })).toEqual([]);
});

test('a contract may be given in any letter case', async () => {
  expect(await transfers(`0x${postcards.address.slice(2).toUpperCase()}`)).toHaveLength(6);
});

test.for([
  ['a token without ids', () => dollar.address],
  ['another contract', () => market.address],
  ['a contract that answers yes to every call', () => agreeing],
  ['a wallet', () => alice],
  ['nobody', () => `0x${'77'.repeat(20)}`],
] as const)('%s is not an NFT contract', async ([, address]) => {
  await expect(transfers(address())).rejects.toMatchObject({ kind: 'not_found', reason: 'no_such_record' });
});

test('an unknown name gets a message of its own', async () => {
  await expect(transfers('nobody.eth')).rejects.toMatchObject({ kind: 'not_found', reason: 'unknown_name' });
});

test('an index with gaps does not answer', async () => {
  const { listNftTransfers } = nftAnswers({ ...index.source, hasCaughtUp: () => false });
  const path = { contract_address: postcards.address };
  const ask = { chainIds: [CHAIN_ID], signal: AbortSignal.timeout(PATIENCE_MS) };

  await expect(listNftTransfers?.({ path, query: DEFAULTS }, ask)).rejects.toMatchObject({
    kind: 'unavailable',
  });
});
