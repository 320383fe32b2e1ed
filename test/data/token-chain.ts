import { afterAll } from 'vitest';
import { servedTestChain, startTestChain, type TestChain } from '../indexer/support.ts';
import { startTestDataService, type TestDataService } from '../lab/data-service.ts';

/**
 * An empty chain with a fungible token, an ERC-721 and an ERC-1155 collection, and two accounts for their tokens. It
 * is stopped after the file.
 */
export async function startTokenChain() {
  const chain = await startTestChain();
  afterAll(() => chain.stop());
  const alice = chain.accounts.signer(1).address;
  const bob = chain.accounts.signer(2).address;
  const dollar = await chain.deploy('StableToken', ['Dollar', 'USD']);
  const postcards = await chain.deploy('Postcards', ['Postcards', 'POST']);
  const items = await chain.deploy('GameItems', ['Items', 'ITEM']);
  await chain.mine();
  return { chain, alice, bob, dollar, postcards, items };
}

/** A data service over an index of the chain. It is stopped after the file, before the chain. */
export async function serveTokenChain({ rpcUrl }: TestChain): Promise<TestDataService> {
  const service = await startTestDataService([servedTestChain(rpcUrl)]);
  afterAll(() => service.close());
  return service;
}
