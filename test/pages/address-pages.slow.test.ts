import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { EmbeddedChain } from '../../src/devnet/embedded-chain.ts';
import { TEST_END_TIME } from '../lab/devnet.ts';
import { list, record, text } from '../lab/json.ts';
import { test } from './data-page.ts';
import { rowsOf } from './page-rows.ts';

/** An account that takes part in everything on a devnet. */
const ACCOUNT = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
/** An account that others sent coins to. */
const PAID_ACCOUNT = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const EMPTY = '0x00000000000000000000000000000000000000AA';

const pathOf = ({ id }: EmbeddedChain, address: string) => `/chain/${id}/address/${address}`;

function contractNamed({ contracts }: EmbeddedChain, name: string): string {
  const contract = contracts.find(one => one.name === name);
  if (contract === undefined) throw new Error(`the devnet has no ${name}`);
  return contract.address;
}

const tab = (page: Page, name: string | RegExp) =>
  page.getByRole('navigation', { name: 'Records of the address' }).getByRole('link', { name });

test('an account shows its balance, and has tabs only for its own kinds of activity', async ({
  chain,
  page,
  complaints,
}) => {
  await page.goto(pathOf(chain, ACCOUNT.toLowerCase()));
  await tab(page, /^Transactions \(\d+\)$/).waitFor();

  expect(await page.locator('.heading').innerText()).toContain(ACCOUNT);
  await expect.poll(() => page.locator('.facts').first().innerText()).toMatch(/Balance\s+[\d,]+\.\d+ ETH/);
  const tabs = await page.getByRole('navigation', { name: 'Records of the address' }).innerText();
  expect(tabs).toContain('Coin balance');
  expect(tabs).not.toMatch(/Contract|Logs|Blocks|Withdrawals/);
  expect(complaints).toEqual([]);
});

test('the transactions of an address can be limited to received ones', async ({ chain, page }) => {
  const sent = async () =>
    (await rowsOf(page, 'Transactions of the address')).filter(row => /\bout\b/.test(row));
  await page.goto(pathOf(chain, PAID_ACCOUNT));
  expect(await sent()).not.toEqual([]);

  await page.getByRole('button', { name: 'Received' }).click();

  await expect.poll(sent).toEqual([]);
});

test('an address shows what it received since midnight, in dollars', async ({
  chain,
  page,
  serviceOfBoth,
}) => {
  const midnight = new Date(TEST_END_TIME).setHours(0, 0, 0, 0);
  const itemsOf = async (path: string) => {
    const answer = await fetch(
      `${serviceOfBoth.url}/explorer/addresses/${ACCOUNT}${path}chain_id=${chain.id}`,
    );
    return list(record(await answer.json()).items).map(record);
  };
  const isToday = (time: unknown) => Date.parse(text(time)) >= midnight;
  const [first] = await itemsOf('/transactions?');
  const balances = (await itemsOf('/coin-balance-history?')).filter(one => isToday(one.block_timestamp));
  const transfers = (await itemsOf('/token-transfers?filter=to&'))
    .filter(({ timestamp, from }) => isToday(timestamp) && record(from).hash !== ACCOUNT)
    .map(({ token, total }) => ({ rate: record(token).exchange_rate, total: record(total) }));
  const gains = balances.map(({ delta }) => Number(delta)).filter(delta => delta > 0);
  const priced = transfers.filter(({ rate }) => rate !== null);
  const value =
    (gains.reduce((sum, gain) => sum + gain, 0) / 1e18) * Number(first?.exchange_rate) +
    priced.reduce(
      (sum, { total, rate }) => sum + (Number(total.value) / 10 ** Number(total.decimals)) * Number(rate),
      0,
    );
  await page.clock.setFixedTime(TEST_END_TIME);

  await page.goto(pathOf(chain, ACCOUNT));
  const received = page.locator('.facts div', { hasText: /^Received today/ }).locator('dd');
  await received.getByRole('button', { name: 'Add up' }).click();

  const dollars = value.toLocaleString('en', { style: 'currency', currency: 'USD' });
  await expect.poll(() => received.innerText()).toContain(dollars);
  expect(await received.innerText()).toMatch(/ since 00:00, at today’s rates/);
  expect(priced.length).toBeGreaterThan(0);
  await received.getByRole('link', { name: `${priced.length} token transfer` }).click();
  await page.getByRole('button', { name: 'Received', pressed: true }).waitFor();
});

test('tokens of an address are in whole units, with their value where a price is known', async ({
  chain,
  page,
  complaints,
}) => {
  await page.goto(`${pathOf(chain, ACCOUNT)}?tab=tokens`);
  await page
    .getByRole('cell', { name: /^\$[\d,.]+$/ })
    .first()
    .waitFor();

  const rows = await rowsOf(page, 'Tokens of the address');
  expect(rows.join('\n')).toMatch(/[\d,.]+ USDS\s+\$1\.00\s+\$[\d,.]+/);
  expect(complaints).toEqual([]);
});

test('NFTs of an address are links to them', async ({ chain, api, page, complaints }) => {
  const collection = contractNamed(chain, 'Postcards');
  const { body } = await api.get(`/explorer/tokens/${collection}/holders`);
  const owner = text(record(record(list(record(body).items)[0]).address).hash);

  await page.goto(`${pathOf(chain, owner)}?tab=tokens`);
  await tab(page, 'NFTs').click();

  await page
    .getByRole('list', { name: 'NFTs of the address' })
    .getByRole('link', { name: /#\d+/ })
    .first()
    .waitFor();
  expect(complaints).toEqual([]);
});

test('the coin balance is a chart by day and a list of changes', async ({ chain, page, complaints }) => {
  await page.goto(`${pathOf(chain, ACCOUNT)}?tab=balance`);
  await page.getByRole('img', { name: /^Chart: Balance per day/ }).waitFor();

  expect((await rowsOf(page, 'Coin balance history'))[0]).toMatch(/[+−][\d.]+/);
  expect(complaints).toEqual([]);
});

test('a contract shows its source, its interface in plain lines, and its decoded logs', async ({
  chain,
  page,
  complaints,
}) => {
  await page.goto(`${pathOf(chain, contractNamed(chain, 'US Dollar Sample'))}?tab=contract`);
  await page.getByRole('region', { name: 'contracts/StableToken.sol' }).waitFor();

  const writing = page.getByRole('list', { name: 'Write functions' });
  expect(await writing.innerText()).toContain('transfer(address to, uint256 value) → bool');
  await page.getByText('JSON', { exact: true }).click();
  await page.getByRole('region', { name: 'ABI as JSON' }).waitFor();
  await tab(page, 'Logs').click();
  await page.getByRole('heading', { name: 'Transfer' }).first().waitFor();
  expect(complaints).toEqual([]);
});

test('a proxy names its implementation', async ({ chain, page }) => {
  await page.goto(pathOf(chain, contractNamed(chain, 'Treasury Proxy')));
  await page.locator('.heading').getByText('Treasury Proxy').waitFor();

  expect(await page.locator('.facts').first().innerText()).toMatch(/Implementation\s+0x\S+\s+Treasury/);
});

test('a contract without known source says so, and what can be done', async ({ chain, service, page }) => {
  const response = await fetch(`${service.url}/explorer/internal-transactions?chain_id=${chain.id}`);
  const { items } = await response.json();
  const created = items.find(
    (item: { created_contract: { hash: string; is_verified: boolean } | null }) =>
      item.created_contract !== null && !item.created_contract.is_verified,
  );

  await page.goto(`${pathOf(chain, created.created_contract.hash)}?tab=contract`);
  await page.getByText('This contract is not verified here').waitFor();
  await page.getByText('Deployed bytecode').waitFor();
});

test('an address without history and an invalid address have different messages', async ({
  chain,
  page,
  complaints,
}) => {
  await page.goto(pathOf(chain, EMPTY));
  await page.getByText('No activity of this address').waitFor();

  await page.goto(pathOf(chain, ACCOUNT.slice(0, -1)));
  await page.getByText('This one has 41 characters instead of 42').waitFor();
  expect(complaints.filter(line => !line.includes('status of 404'))).toEqual([]);
});
