import { expect } from 'vitest';
import type { EmbeddedChain } from '../../src/devnet/embedded-chain.ts';
import { startTestDataService } from '../lab/data-service.ts';
import { list, number, record, text } from '../lab/json.ts';
import { type Client, client } from '../support/contract-client.ts';
import { testOnOwnDevnet } from '../support/own-devnet.ts';
import { itemOf, pageOf } from '../support/walk.ts';

const COIN = `0x${'ee'.repeat(20)}`;

const test = testOnOwnDevnet(120);
let chain: EmbeddedChain;
let api: Client;
/** Prices that document 2 gives, by lower-case address, as text. */
let prices: Map<string, string>;

test.beforeAll(async ({ chain: ownChain, api: ownApi }) => {
  [chain, api] = [ownChain, ownApi];
  const tokens = await get('/explorer/tokens');
  const addresses = [COIN, ...pageOf(tokens).items.map(item => text(item.address))];
  const query = addresses.map(address => `address=${address}`).join('&');
  const answer = await get(`/insights/v1/tokens/price?chain_id=${chain.id}&${query}`);
  const priced = list(record(answer).data).map(record);
  prices = new Map(
    priced.map(({ address, price_usd: price }) => [text(address).toLowerCase(), String(number(price))]),
  );
});

async function get(path: string): Promise<unknown> {
  const { status, body } = await api.get(path);
  expect(status, path).toBe(200);
  return body;
}

/** Price of a record's token by document 2. */
function priceOf(token: unknown): string | null {
  return prices.get(text(record(token).address).toLowerCase()) ?? null;
}

test('tokens of an index have the prices of document 2, wherever they are named', async () => {
  const { items } = pageOf(await get('/explorer/tokens'));
  const stable = items.find(({ symbol }) => symbol === chain.tokens[0]?.symbol);
  const { items: transfers } = pageOf(await get('/explorer/token-transfers'));
  const holder = text(record(transfers.find(({ token }) => itemOf(token).type === 'ERC-20')?.to).hash);
  const { items: held } = pageOf(await get(`/explorer/addresses/${holder}/tokens`));
  const tokens = [
    ...items,
    ...transfers.map(({ token }) => itemOf(token)),
    ...held.map(({ token }) => itemOf(token)),
  ];

  expect(tokens.map(({ exchange_rate: rate }) => rate)).toEqual(tokens.map(priceOf));
  expect(stable?.exchange_rate).toBe('1');
  expect(new Set(tokens.map(({ exchange_rate: rate }) => rate)).size).toBeGreaterThan(2);
  expect(tokens.filter(({ type }) => type !== 'ERC-20').map(({ exchange_rate: rate }) => rate)).toContain(
    null,
  );
});

test('transactions, addresses, holders and statistics have the price of the coin', async () => {
  const { items: transactions } = pageOf(await get('/explorer/transactions'));
  const [first] = transactions;
  const sender = text(record(first?.from).hash);
  const records = [
    ...transactions,
    await get(`/explorer/transactions/${text(first?.hash)}`),
    await get(`/explorer/addresses/${sender}`),
    await get('/explorer/addresses'),
  ].map(itemOf);
  const stats = record(await get('/explorer/stats'));
  const supply = text(record(await get('/explorer/addresses')).total_supply);
  const coin = prices.get(COIN);

  expect(Number(coin)).toBeGreaterThan(0);
  expect(new Set(records.map(({ exchange_rate: rate }) => rate))).toEqual(new Set([coin]));
  expect(stats.coin_price).toBe(coin);
  expect(Number(stats.market_cap)).toBeCloseTo(Number(coin) * Number(supply), -3);
});

test('without an exchange in the configuration no price is known', async ({
  chain: { prices: _, ...unpriced },
}) => {
  await using stack = new AsyncDisposableStack();
  const service = await startTestDataService([unpriced]);
  stack.defer(service.close);
  const { body: tokens } = await client(service.url).get('/explorer/tokens');
  const { body: transactions } = await client(service.url).get('/explorer/transactions');
  const rates = [tokens, transactions].flatMap(body => pageOf(body).items.map(item => item.exchange_rate));

  expect(rates.length).toBeGreaterThan(50);
  expect(new Set(rates)).toEqual(new Set([null]));
});
