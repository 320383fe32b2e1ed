import { startTestChain } from '../indexer/support.ts';

/** An empty chain with a fungible token, an ERC-721 and an ERC-1155 collection, and two accounts for their tokens. */
export async function startTokenChain() {
  const chain = await startTestChain();
  const alice = chain.accounts.signer(1).address;
  const bob = chain.accounts.signer(2).address;
  const dollar = await chain.deploy('StableToken', ['Dollar', 'USD']);
  const postcards = await chain.deploy('Postcards', ['Postcards', 'POST']);
  const items = await chain.deploy('GameItems', ['Items', 'ITEM']);
  await chain.mine();
  return { chain, alice, bob, dollar, postcards, items };
}
