import { erc20Abi, getContractAddress, isHex, parseAbi } from 'viem';
import { afterAll, expect, test } from 'vitest';
import { insightsContract } from '#contract/contracts/insights.ts';
import { responseValidators } from '#contract/mount/response-validators.ts';
import { abiAnswers } from '#data/backends/own-index/smart-contracts.ts';
import { startTestChain } from '../../indexer/support.ts';
import { indexed } from './nft-support.ts';

const CONFIGURED = '0x00000000000000000000000000000000000000aa';
const CONFIGURED_ABI = parseAbi(['function answer() view returns (uint256)']);

const chain = await startTestChain();
const treasury = await chain.deploy('Treasury', []);
const factory = await chain.deploy('Factory', []);
const dollar = await chain.deploy('StableToken', ['Dollar', 'USD']);
await chain.mine();
const start = treasury.call('initialize', [chain.accounts.signer(0).address]).data;
const proxy = await chain.deploy('TreasuryProxy', [treasury.address, start]);
const bareProxy = await chain.deploy('TreasuryProxy', [treasury.address, start]);
const clone = getContractAddress({ from: factory.address, nonce: 1n });
await chain.send(0, factory.call('cloneTreasury', [treasury.address, chain.accounts.signer(0).address]));
await chain.mine();
const index = await indexed(chain, {
  abis: [
    { name: 'Treasury', address: treasury.address, abi: treasury.abi },
    { name: 'Treasury Proxy', address: proxy.address, abi: proxy.abi },
    { name: 'Configured', address: CONFIGURED, abi: CONFIGURED_ABI },
    { name: 'Any token', abi: erc20Abi },
  ],
});

afterAll(async () => {
  await index.close();
  await chain.stop();
});

/** An answer, checked against the contract. */
async function abiOf(contract: string) {
  const { getContractAbi } = abiAnswers(index.source);
  const abi = await getContractAbi({ path: { contract_address: contract }, query: {} });
  const validate = responseValidators(insightsContract.document)('getContractAbi', 200);
  expect(validate?.(abi), JSON.stringify(validate?.errors)).toBe(true);
  return abi;
}

test('a known contract has its ABI as the compiler wrote it', async () => {
  expect(await abiOf(treasury.address)).toEqual(treasury.abi);
  expect(await abiOf(`0x${treasury.address.slice(2).toUpperCase()}`)).toEqual(treasury.abi);
});

test('an ABI from the operator suffices', async () => {
  expect(await abiOf(CONFIGURED)).toEqual(CONFIGURED_ABI);
});

test('a proxy’s ABI is followed by its implementation’s, without duplicates', async () => {
  const merged = await abiOf(proxy.address);
  const entries = merged.map(item => JSON.stringify(item));

  expect(merged.slice(0, proxy.abi.length)).toEqual(proxy.abi);
  for (const item of treasury.abi.filter(({ type }) => type === 'function' || type === 'event'))
    expect(entries).toContain(JSON.stringify(item));
  expect(new Set(entries).size).toBe(entries.length);
  for (const type of ['constructor', 'fallback', 'receive'])
    expect(merged.filter(item => item.type === type).length).toBeLessThanOrEqual(1);
});

test.for([
  ['by the event of its upgrade', () => bareProxy.address],
  ['by its code', () => clone],
] as const)('a proxy without a known ABI has its implementation’s: %s', async ([, address]) => {
  expect(isHex(await chain.rpc.call('eth_getCode', address(), 'latest'))).toBe(true);
  const functions = treasury.abi.filter(({ type }) => type === 'function');

  expect(await abiOf(address())).toEqual(expect.arrayContaining(functions));
});

test.for([
  ['an unknown contract, even if a known one looks like it', () => dollar.address],
  ['a wallet', () => chain.accounts.signer(1).address],
] as const)('%s has no ABI', async ([, address]) => {
  await expect(abiOf(address())).rejects.toMatchObject({ kind: 'not_found', reason: 'no_such_record' });
});

test('an unknown name gets a message of its own', async () => {
  await expect(abiOf('nobody.eth')).rejects.toMatchObject({ kind: 'not_found', reason: 'unknown_name' });
});
