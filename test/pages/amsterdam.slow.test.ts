import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type CrossingChain, PAYEES, SYSTEM, startCrossingChain } from '../indexer/amsterdam-chain.ts';
import { type NodeProxy, startNodeProxy, TRACING } from '../indexer/node-proxy.ts';
import { CHAIN_ID, servedTestChain, startTestChain } from '../indexer/support.ts';
import { launchBrowser } from '../lab/chromium.ts';
import { startTestDataService, type TestDataService } from '../lab/data-service.ts';
import { complaintsOf } from '../support/browser.ts';

let chain: CrossingChain;
let browser: Browser;

beforeAll(async () => {
  chain = await startCrossingChain();
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await chain?.stop();
});

/** Rows of a table as lines of text. */
async function rowsOf(page: Page, label: string): Promise<string[]> {
  const rows = page.getByRole('region', { name: label }).locator('tbody tr');
  await rows.first().waitFor();
  return (await rows.allInnerTexts()).map(row => row.replaceAll(/\s+/g, ' '));
}

describe('a chain that crosses the fork Amsterdam, behind a node with traces', () => {
  let service: TestDataService;
  let page: Page;
  let complaints: readonly string[];

  beforeAll(async () => {
    service = await startTestDataService([servedTestChain(chain.rpcUrl)]);
    page = await browser.newPage({ baseURL: service.url });
    complaints = complaintsOf(page, ['error', 'warning']);
  });
  afterAll(() => service?.close());

  test('has the fields of the fork in headers of its blocks, and in no other', async () => {
    const headers: string[] = [];
    for (const number of [chain.fork - 1, chain.fork]) {
      await page.goto(`/chain/${CHAIN_ID}/block/${number}`);
      await page.getByText('Parent hash').waitFor();
      headers.push(await page.locator('.facts').last().innerText());
    }

    expect(headers[0]).not.toMatch(/Access list hash|Slot/);
    expect(headers[1]).toMatch(/Access list hash\s+0x[0-9a-f]{64}\s+Slot\s+\d+/);
    expect(complaints).toEqual([]);
  });

  test('shows coins in logs of the chain as such, and as no transfers of tokens', async () => {
    await page.goto(`/chain/${CHAIN_ID}/tx/${chain.splits.after}?tab=logs`);
    const logs = page.locator('article.entry header');
    await logs.first().waitFor();
    const texts = (await logs.allInnerTexts()).map(log => log.replaceAll(/\s+/g, ' '));
    await page.goto(`/chain/${CHAIN_ID}/tx/${chain.splits.after}?tab=transfers`);

    expect(texts.filter(log => /^log \d Transfer coins logged by the chain/.test(log))).toHaveLength(4);
    await page.getByText('This transaction has no token transfers.').waitFor();
    expect(complaints).toEqual([]);
  });

  test('lists each block that changed the balance of an account, on both sides', async () => {
    await page.goto(`/chain/${CHAIN_ID}/address/${PAYEES[0]}?tab=balance`);
    const rows = await rowsOf(page, 'Coin balance history');
    await page.goto(`/chain/${CHAIN_ID}/address/${PAYEES[0]}?tab=internal`);
    const calls = await rowsOf(page, 'Internal transactions of the address');

    expect(rows).toEqual([
      expect.stringContaining('0.000000000000000011 ETH'),
      expect.stringContaining('0.000000000000000003 ETH'),
    ]);
    expect(calls).toEqual([expect.stringMatching(/ call 3 /), expect.stringMatching(/ call 2 /)]);
    expect(complaints).toEqual([]);
  });
});

describe('the same chain behind a node without traces', () => {
  let node: NodeProxy;
  let service: TestDataService;
  let page: Page;

  beforeAll(async () => {
    node = await startNodeProxy(chain.rpcUrl, { missing: TRACING });
    service = await startTestDataService([servedTestChain(node.rpcUrl)]);
    page = await browser.newPage({ baseURL: service.url });
  });
  afterAll(async () => {
    await service?.close();
    await node?.stop();
  });

  test('has internal transactions from logs since the fork, and says so', async () => {
    await page.goto(`/chain/${CHAIN_ID}/tx/${chain.splits.before}?tab=calls`);
    await page.getByText('None of this chain’s back ends offers this.').waitFor();
    await page.goto(`/chain/${CHAIN_ID}/tx/${chain.splits.after}?tab=calls`);
    const ofTransaction = await rowsOf(page, 'Internal transactions of the transaction');
    await page.goto(`/chain/${CHAIN_ID}/block/${chain.fork}?tab=internal`);
    const ofBlock = await rowsOf(page, 'Internal transactions of the block');

    expect(ofTransaction).toHaveLength(3);
    for (const row of ofTransaction) expect(row).toMatch(/^transfer from a log 0x/);
    expect(ofBlock).toHaveLength(3);
    for (const row of ofBlock) expect(row).toMatch(/^0x\S+ transfer from a log 0x/);
  });
});

test('the address of the chain’s logs has no code, and a page with these logs', async () => {
  const young = await startTestChain({ engine: 'edr', hardfork: 'amsterdam' });
  onTestFinished(() => young.stop());
  await young.send(1, { to: PAYEES[0], value: 5n });
  await young.mine();
  const service = await startTestDataService([servedTestChain(young.rpcUrl)]);
  onTestFinished(() => service.close());
  const page = await browser.newPage({ baseURL: service.url });

  await page.goto(`/chain/${CHAIN_ID}/address/${SYSTEM}?tab=logs`);

  await page.getByRole('heading', { name: 'Address', exact: true }).waitFor();
  await page.locator('article.entry header').getByText('logged by the chain').waitFor();
});
