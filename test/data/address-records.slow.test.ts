import { numberToHex } from 'viem';
import { expect } from 'vitest';
import type { Rpc } from '../../src/devnet/chain/rpc.ts';
import type { EmbeddedChain } from '../../src/devnet/embedded-chain.ts';
import { list, record, text } from '../lab/json.ts';
import type { Client } from '../support/contract-client.ts';
import { testOnOwnDevnet } from '../support/own-devnet.ts';
import { type Item, itemOf, walk } from '../support/walk.ts';

/** keccak256('Transfer(address,address,uint256)'). */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const NOBODY = `0x${'ab'.repeat(20)}`;
const DAY_SECONDS = 86_400;

const test = testOnOwnDevnet(120);
let chain: EmbeddedChain;
let api: Client;
let rpc: Rpc;
let receipts: readonly Item[];
let head: number;

test.beforeAll(async ({ chain: ownChain, api: ownApi, rpc: ownRpc }) => {
  [chain, api, rpc] = [ownChain, ownApi, ownRpc];
  head = Number(await rpc.call('eth_blockNumber'));
  const blocks = await rpc.batch(
    Array.from({ length: head + 1 }, (_, block) => ({
      method: 'eth_getBlockReceipts',
      params: [numberToHex(block)],
    })),
  );
  receipts = blocks.flatMap(block => list(block).map(itemOf));
});

function contract(artifact: string): string {
  const found = chain.contracts.find(({ artifactName }) => artifactName === artifact);
  if (found === undefined) throw new Error(`no ${artifact}`);
  return found.address.toLowerCase();
}

const lower = (value: unknown) => text(value).toLowerCase();
const gasOf = (some: readonly Item[]) => some.reduce((sum, { gasUsed }) => sum + BigInt(text(gasUsed)), 0n);
const accountOf = () => text(receipts.at(-1)?.from);

test('an address has the node’s balance, and a contract also its creation, token and lists', async () => {
  const token = contract('StableToken');
  const creation = receipts.find(({ contractAddress }) => contractAddress === token);

  const account = record((await api.get(`/explorer/addresses/${accountOf()}`)).body);
  const found = record((await api.get(`/explorer/addresses/${token}`)).body);

  expect(BigInt(text(account.coin_balance))).toBe(
    BigInt(text(await rpc.call('eth_getBalance', accountOf(), 'latest'))),
  );
  expect(account).toMatchObject({
    is_contract: false,
    creator_address_hash: null,
    token: null,
    has_logs: false,
  });
  expect(lower(found.creator_address_hash)).toBe(creation?.from);
  expect(found).toMatchObject({
    is_contract: true,
    creation_transaction_hash: creation?.transactionHash,
    token: { symbol: expect.any(String), type: 'ERC-20' },
    implementations: [],
    has_logs: true,
    has_token_transfers: false,
    has_validated_blocks: false,
  });
});

test('a proxy names its implementation', async () => {
  const found = record((await api.get(`/explorer/addresses/${contract('TreasuryProxy')}`)).body);

  expect(found.implementations).toEqual([
    { address_hash: expect.stringMatching(/^0x/), name: found.implementation_name },
  ]);
});

test('the counters of an address match the node’s receipts', async () => {
  const account = accountOf();
  const token = contract('StableToken');
  const logs = receipts.flatMap(({ logs: ofReceipt }) => list(ofReceipt).map(itemOf));
  const topic = `0x${account.slice(2).padStart(64, '0')}`;
  const singles = logs.filter(({ topics }) => list(topics)[0] === TRANSFER);
  const moved = singles.flatMap(({ topics }) => list(topics).slice(1, 3)).filter(side => side === topic);
  const sent = receipts.filter(({ from }) => from === account);
  const called = receipts.filter(({ to }) => to === token);

  const ofAccount = record((await api.get(`/explorer/addresses/${account}/counters`)).body);
  const ofToken = record((await api.get(`/explorer/addresses/${token}/counters`)).body);
  const { items } = await walk(api, `/explorer/addresses/${account}/transactions`);

  expect(ofAccount).toMatchObject({
    transactions_count: String(items.length),
    gas_usage_count: String(gasOf(sent)),
    validations_count: '0',
  });
  expect(Number(ofAccount.token_transfers_count)).toBeGreaterThanOrEqual(moved.length);
  expect(ofToken.gas_usage_count).toBe(String(gasOf(called)));
});

test('token transfers of an address match the chain’s, by side, standard and token', async () => {
  const account = accountOf();
  const token = contract('StableToken');
  const { items: all } = await walk(api, '/explorer/token-transfers');
  const sideOf = (item: Item, side: 'from' | 'to') => lower(record(item[side]).hash) === account;
  const place = (item: Item) =>
    `${text(item.transaction_hash)}/${item.log_index}/${JSON.stringify(item.total)}`;
  let filtered = 0;
  for (const [query, isWanted] of [
    ['', item => sideOf(item, 'from') || sideOf(item, 'to')],
    ['?filter=from', item => sideOf(item, 'from')],
    ['?filter=to', item => sideOf(item, 'to')],
    ['?type=ERC-1155&filter=to', item => sideOf(item, 'to') && item.token_type === 'ERC-1155'],
    [
      `?token=${token}&filter=from`,
      item => sideOf(item, 'from') && lower(record(item.token).address) === token,
    ],
    [`?token=${token}&type=ERC-721`, () => false],
  ] as const satisfies readonly (readonly [string, (item: Item) => boolean])[]) {
    const { items: found } = await walk(api, `/explorer/addresses/${account}/token-transfers${query}`);
    expect(found.map(place), query).toEqual(all.filter(isWanted).map(place));
    filtered += query === '' ? 0 : found.length;
  }
  expect(filtered).toBeGreaterThan(10);
});

test('the list of all balances has the items of the pages, in the same order', async () => {
  const account = accountOf();

  const { body } = await api.get(`/explorer/addresses/${account}/token-balances`);
  const { items } = await walk(api, `/explorer/addresses/${account}/tokens`);

  expect(items.length).toBeGreaterThan(0);
  expect(body).toEqual(items);
});

test('the internal transactions of a block are those of its transactions, in order', async () => {
  let found = 0;
  for (let block = head; block > head - 30; block -= 1) {
    const { items: transactions } = await walk(api, `/explorer/blocks/${block}/transactions`);
    const expected: Item[] = [];
    for (const { hash } of transactions.toReversed())
      expected.push(...(await walk(api, `/explorer/transactions/${text(hash)}/internal-transactions`)).items);
    const { items } = await walk(api, `/explorer/blocks/${block}/internal-transactions`);

    expect(items, String(block)).toEqual(expected);
    found += items.length;
  }
  expect(found).toBeGreaterThan(10);
});

test('transaction statistics cover the 24 hours up to the latest block', async () => {
  const blocks = await rpc.batch(
    Array.from({ length: head + 1 }, (_, block) => ({
      method: 'eth_getBlockByNumber',
      params: [numberToHex(block), false],
    })),
  );
  const times = blocks.map(block => Number(record(block).timestamp));
  const since = Math.max(...times) - DAY_SECONDS;
  const recent = receipts.filter(({ blockNumber }) => (times[Number(blockNumber)] ?? 0) > since);
  const fees = recent.reduce(
    (sum, { gasUsed, effectiveGasPrice }) => sum + BigInt(text(gasUsed)) * BigInt(text(effectiveGasPrice)),
    0n,
  );

  const { body } = await api.get('/explorer/transactions/stats');

  expect(body).toEqual({
    transactions_count_24h: String(recent.length),
    pending_transactions_count: expect.stringMatching(/^\d+$/),
    transaction_fees_sum_24h: String(fees),
    transaction_fees_avg_24h: String(fees / BigInt(recent.length)),
  });
});

test('an address unknown to the chain has empty records and lists', async () => {
  const path = `/explorer/addresses/${NOBODY}`;
  const bodies = await Promise.all(
    ['', '/counters', '/token-balances', '/token-transfers'].map(
      async one => (await api.get(path + one)).body,
    ),
  );

  expect(bodies).toEqual([
    expect.objectContaining({ coin_balance: '0', is_contract: false, has_tokens: false, has_logs: false }),
    { transactions_count: '0', token_transfers_count: '0', gas_usage_count: '0', validations_count: '0' },
    [],
    { items: [], next_page_params: null },
  ]);
});
