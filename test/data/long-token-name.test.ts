import { type Address, encodeDeployData, encodeFunctionData, getContractAddress } from 'viem';
import { expect, test } from 'vitest';
import { artifact } from '../indexer/support.ts';
import { client } from '../support/contract-client.ts';
import { serveTokenChain, startTokenChain } from './token-chain.ts';

const LONG_NAME = 'W'.repeat(20_000);
/** A name takes 22,100 gas per word of 32 bytes, which are 14 million here. */
const GAS = 16_700_000n;

let token: Address;
let url: string;

test.beforeAll(async () => {
  const { chain, alice } = await startTokenChain();
  const from = chain.accounts.signer(0).address;
  const nonce = BigInt(Number(await chain.rpc.call('eth_getTransactionCount', from, 'pending')));
  token = getContractAddress({ from, nonce });
  const { abi, bytecode } = artifact('CommunityToken');
  const args = [LONG_NAME, 'LONG', 10n ** 24n];
  await chain.send(0, { gas: GAS, data: encodeDeployData({ abi, bytecode, args }) });
  await chain.mine();
  const data = encodeFunctionData({ abi, functionName: 'mint', args: [alice, 5n] });
  await chain.send(0, { to: token, data });
  await chain.mine();
  ({ url } = await serveTokenChain(chain));
});

test('a token with a name of 20,000 characters is a token like any other', async () => {
  const { status, body } = await client(url).get(`/explorer/tokens/${token}`);

  expect(status).toBe(200);
  expect(body).toMatchObject({ name: LONG_NAME, symbol: 'LONG' });
});
