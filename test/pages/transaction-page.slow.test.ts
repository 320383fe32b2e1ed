import { expect } from 'vitest';
import { startNodeProxy } from '../indexer/node-proxy.ts';
import { CHAIN_ID, servedTestChain, startTestChain } from '../indexer/support.ts';
import { startTestDataService } from '../lab/data-service.ts';
import { list, record, text } from '../lab/json.ts';
import { makeBrisk } from '../support/browser.ts';
import type { Client } from '../support/contract-client.ts';
import { test } from './data-page.ts';

const TRACERS = ['trace_transaction', 'trace_replayTransaction', 'debug_traceTransaction'];

/** Hash of the newest call of a method. */
async function callOf(api: Client, method: string): Promise<string> {
  const { body } = await api.get(`/explorer/transactions?method=${method}`);
  return text(record(list(record(body).items)[0]).hash);
}

/** Hash of the newest transaction that sold dollars for community tokens. */
async function newestSale(api: Client): Promise<string> {
  const { body } = await api.get('/explorer/transactions?method=sell');
  const symbols = (sale: unknown) =>
    list(record(sale).token_transfers).map(one => record(record(one).token).symbol);
  const sale = list(record(body).items).find(one => symbols(one).join() === 'USDS,TOLL');
  return text(record(sale).hash);
}

test('a transaction’s page shows its effects, its cost and its arguments', async ({
  chain,
  api,
  page,
  complaints,
}) => {
  const hash = await newestSale(api);
  await page.goto(`/chain/${chain.id}/tx/${hash}`);

  const sentences = page.getByRole('list', { name: 'What the transaction did' });
  await sentences.getByText(/Call sell on\s*0x.*Pool/).waitFor();
  const parameters = page.getByRole('region', { name: 'Arguments' }).locator('tbody tr');
  expect(await parameters.nth(1).innerText()).toMatch(/^amount\s+uint256\s+[\d,]+$/);
  expect(await page.locator('.facts').first().innerText()).toMatch(/Position in block: \d+, Type: \d/);
  expect(await page.locator('.facts').nth(1).innerText()).toMatch(/Base fee per gas\s+[\d.]+ Gwei/);
  const moved = page.getByRole('region', { name: 'Token transfers' }).locator('tbody tr');
  expect(await moved.allInnerTexts()).toEqual([
    expect.stringMatching(/Pool\s.*\s[\d,.]+\s+USDS/s),
    expect.stringMatching(/Pool\s.*\s[\d,.]+\s+TOLL/s),
  ]);
  expect(complaints).toEqual([]);
});

test('the calls of a transaction are a tree that opens and closes by keyboard', async ({
  chain,
  api,
  page,
  complaints,
}) => {
  const hash = await newestSale(api);
  await page.goto(`/chain/${chain.id}/tx/${hash}?tab=calls`);
  const root = page.getByRole('button', { name: 'Calls of the transaction' });
  const inner = page.locator('.step:not(:first-child)');
  await inner.first().waitFor();
  expect(await inner.first().innerText()).toMatch(
    /call\s+to\s+0x\S+\s+US Dollar Sample.*transferFrom.*gas: [\d,]+ used of [\d,]+.*3 arguments, 1 returned/s,
  );
  await inner.first().getByText('3 arguments, 1 returned').click();
  const values = page.getByRole('region', { name: 'Arguments of call 0', exact: true });
  expect(await values.locator('tbody tr').nth(2).innerText()).toMatch(/uint256\s+[\d,]+$/);

  await root.press('Enter');
  await inner.first().waitFor({ state: 'detached' });
  expect(await root.getAttribute('aria-expanded')).toBe('false');
  await root.press('Enter');
  await inner.first().waitFor();
  expect(complaints).toEqual([]);
});

test('logs, balances and the trace of a transaction have their own tabs', async ({
  chain,
  api,
  page,
  complaints,
}) => {
  const hash = await newestSale(api);
  await page.goto(`/chain/${chain.id}/tx/${hash}`);
  await page.getByRole('link', { name: 'Logs' }).click();
  await page.getByRole('heading', { name: 'Swap' }).waitFor();
  await page.getByText('Topics and data').first().click();
  expect(await page.locator('.topics').first().locator('li').first().innerText()).toMatch(/^0x[0-9a-f]{64}$/);

  await page.getByRole('link', { name: 'State changes' }).click();
  const changes = page.getByRole('region', { name: 'State changes of the transaction' });
  await changes
    .getByText(/^−[\d,.]+$/)
    .first()
    .waitFor();
  await page.getByRole('link', { name: 'Raw trace' }).click();
  const trace = page.getByRole('region', { name: 'Raw trace' });
  expect(list(JSON.parse(await trace.innerText()))).toHaveLength(5);
  expect(complaints).toEqual([]);
});

test('an array argument opens as a list of its values', async ({ chain, api, page, complaints }) => {
  const hash = await callOf(api, 'safeBatchTransferFrom');
  await page.goto(`/chain/${chain.id}/tx/${hash}`);
  const ids = page.getByRole('region', { name: 'Arguments' }).locator('tr', { hasText: 'uint256[]' }).first();

  await ids.locator('summary').click();
  const count = Number.parseInt(await ids.locator('summary').innerText(), 10);
  expect(count).toBeGreaterThan(1);
  expect(await ids.getByRole('listitem').allInnerTexts()).toEqual(
    Array.from({ length: count }, () => expect.stringMatching(/^\d+$/)),
  );
  expect(complaints).toEqual([]);
});

test('a failed transaction shows the reason', async ({ chain, api, page }) => {
  const hash = await callOf(api, 'failWithCustomError');
  await page.goto(`/chain/${chain.id}/tx/${hash}`);

  await page.getByText('Failed').first().waitFor();
  expect(await page.locator('.notice.bad').innerText()).toMatch(/LimitExceeded\(0x/);
});

test('a pending transaction is marked as such, and updates once it is in a block', async ({ browser }) => {
  await using stack = new AsyncDisposableStack();
  const chain = await startTestChain();
  stack.defer(chain.stop);
  await chain.mine();
  const proxy = await startNodeProxy(chain.rpcUrl, { missing: TRACERS });
  stack.defer(proxy.stop);
  const service = stack.use(await startTestDataService([servedTestChain(proxy.rpcUrl)]));
  const page = await browser.newPage({ baseURL: service.url });
  stack.defer(() => page.close());
  await makeBrisk(page);

  const { hash } = await chain.send(0, { to: chain.accounts.signer(1).address, value: 5n * 10n ** 17n });
  await page.goto(`/chain/${CHAIN_ID}/tx/${hash}`);
  await page.getByText('is waiting to be included in a block').waitFor();
  await chain.mine();
  await page.getByRole('heading', { name: 'Transaction Success' }).waitFor();
  expect(await page.locator('.facts').first().innerText()).toMatch(/Value\s+0\.5/);

  await page.getByRole('link', { name: 'Raw trace' }).click();
  await page.getByText('None of this chain’s back ends offers this.').waitFor();
  await page.goto(`/chain/${CHAIN_ID}/tx/0x${'11'.repeat(32)}`);
  await page.getByText('This page looks for it again').waitFor();
});
