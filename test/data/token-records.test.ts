import { numberToHex } from 'viem';
import { expect } from 'vitest';
import type { Rpc } from '../../src/devnet/chain/rpc.ts';
import type { EmbeddedChain } from '../../src/devnet/embedded-chain.ts';
import { list, record, text } from '../lab/json.ts';
import type { Client } from '../support/contract-client.ts';
import { testOnOwnDevnet } from '../support/own-devnet.ts';
import { type Item, walk } from '../support/walk.ts';

const NOBODY = `0x${'ab'.repeat(20)}`;
/** Selector of `balanceOf(address)`. */
const BALANCE_OF = '0x70a08231';

const test = testOnOwnDevnet(120);
let chain: EmbeddedChain;
let api: Client;
let rpc: Rpc;

test.beforeAll(({ chain: ownChain, api: ownApi, rpc: ownRpc }) => {
  [chain, api, rpc] = [ownChain, ownApi, ownRpc];
});

function contract(artifact: string): string {
  const found = chain.contracts.find(({ artifactName }) => artifactName === artifact);
  if (found === undefined) throw new Error(`no ${artifact}`);
  return found.address.toLowerCase();
}

const addressOf = (item: Item) => text(record(item.address).hash);

test('holders of a token have the contract’s balances, largest first', async () => {
  const token = contract('StableToken');

  const { items } = await walk(api, `/explorer/tokens/${token}/holders`);
  const calls = items.map(item => ({
    method: 'eth_call',
    params: [{ to: token, data: `${BALANCE_OF}${addressOf(item).slice(2).padStart(64, '0')}` }, 'latest'],
  }));
  const balances = (await rpc.batch(calls)).map(balance => BigInt(text(balance)));

  expect(items.length).toBeGreaterThan(3);
  expect(items.map(({ value }) => BigInt(text(value)))).toEqual(balances);
  expect(balances).toEqual(balances.toSorted((a, b) => (a > b ? -1 : a < b ? 1 : 0)));
});

test('for an ERC-1155 token each id of a holder is an item', async () => {
  const path = `/explorer/tokens/${contract('GameItems')}/holders`;

  const { items } = await walk(api, path);

  const keys = items.map(item => `${addressOf(item)}/${text(item.token_id)}`);
  expect(new Set(keys).size).toBe(items.length);
  expect(new Set(items.map(addressOf)).size).toBeLessThan(items.length);
});

test('a token’s record, counters and transfers are consistent with each other and with the chain', async () => {
  const token = contract('StableToken');
  const head = numberToHex(Number(await rpc.call('eth_blockNumber')));
  const topic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
  const filter = { address: token, fromBlock: '0x0', toBlock: head, topics: [topic] };
  const logs = list(await rpc.call('eth_getLogs', filter)).map(record);

  const found = record((await api.get(`/explorer/tokens/${token}`)).body);
  const counters = record((await api.get(`/explorer/tokens/${token}/counters`)).body);
  const { items } = await walk(api, `/explorer/tokens/${token}/transfers`);

  expect(text(found.address).toLowerCase()).toBe(token);
  expect(counters).toEqual({ token_holders_count: found.holders, transfers_count: String(logs.length) });
  expect(items.map(item => [item.transaction_hash, item.log_index])).toEqual(
    logs.toReversed().map(log => [log.transactionHash, Number(log.logIndex)]),
  );
  expect(items.length).toBeGreaterThan(50);
});

test('an address that is not a token is a 404, also for its counters and lists', async () => {
  for (const path of ['', '/counters', '/transfers', '/holders'])
    expect([path, (await api.get(`/explorer/tokens/${NOBODY}${path}`)).status]).toEqual([path, 404]);
});
