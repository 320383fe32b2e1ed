import type { Address } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nftRecordAnswers } from '#data/backends/own-index/insights/nfts.ts';
import { CHAIN_ID, type Deployed, startTestChain, type TestChain } from '../../indexer/support.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { type IndexedSource, indexed, lower, speakingToken } from './nft-support.ts';

const ID = 7n;
/** The speaking token answers 32 to every call, so its owner is 32, too. */
const OWNER = `0x${'20'.padStart(40, '0')}`;

let chain: TestChain;
let index: IndexedSource;
let items: Deployed;
let speaker: Address;

beforeAll(async () => {
  chain = await startTestChain();
  items = await chain.deploy('GameItems', ['Items', 'ITEM']);
  await chain.mine();
  for (const account of [1, 2, 3])
    await chain.send(0, items.call('mint', [chain.accounts.signer(account).address, ID, 10n]));
  await chain.mine();
  const to = chain.accounts.signer(1).address;
  speaker = await speakingToken(chain, { id: ID, to, uri: 'data:application/json,{"name":"A"}' });
  index = await indexed(chain);
});

afterAll(async () => {
  await index?.close();
  await chain?.stop();
});

function nft(contract: Address, tokenId: bigint) {
  return nftRecordAnswers(index.source).getNft?.(
    {
      path: { contract_address: contract, token_id: tokenId.toString() },
      query: { include_owners: 'true', resolve_metadata_links: 'true' },
    },
    { chainIds: [CHAIN_ID], signal: AbortSignal.timeout(PATIENCE_MS) },
  );
}

test('the supply of an id is the sum over its holders, up to a maximal number of them', async () => {
  const key = { token: lower(items.address), tokenId: ID };
  const { supplies } = index.source.reader.nfts;

  expect(await nft(items.address, ID)).toMatchObject([{ balance: '30', token_type: 'erc1155' }]);
  expect(await supplies([key], 3)).toEqual([30n]);
  expect(await supplies([key, { ...key, tokenId: 8n }], 2)).toEqual([null, 0n]);
});

test('an id minted without an event is known if its contract names an owner', async () => {
  expect(await nft(speaker, 8n)).toMatchObject([
    { token_id: '8', token_type: 'erc721', name: 'A', owner_addresses: [OWNER] },
  ]);
  await expect(nft(lower(items.address), 8n)).rejects.toMatchObject({ kind: 'not_found' });
});

test('an id beyond 256 bits is not found', async () => {
  await expect(nft(speaker, 2n ** 256n)).rejects.toMatchObject({ kind: 'not_found' });
  expect(await nft(speaker, 2n ** 256n - 1n)).toHaveLength(1);
});
