import { expect } from 'vitest';
import { openDataFront } from '../../src/data/front.ts';
import { httpRpc } from '../../src/devnet/chain/rpc.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { startNodeProxy } from '../indexer/node-proxy.ts';
import { CHAIN_ID, servedTestChain, startTestChain } from '../indexer/support.ts';
import { startTestDataService } from '../lab/data-service.ts';
import { leapingClock } from '../support/brisk-clock.ts';
import { complaintsOf, makeBrisk } from '../support/browser.ts';
import { test } from './data-page.ts';

const COIN = 10n ** 18n;
/** After this time without a word from the node, its head counts as unknown. */
const NODE_SILENT_MS = 45_000;

test('a transaction that a reorganisation drops turns grey, and says so', async ({ browser }) => {
  await using stack = new AsyncDisposableStack();
  const chain = await startTestChain();
  stack.defer(chain.stop);
  await chain.mine();
  const { hash } = await chain.send(0, { to: chain.accounts.signer(1).address, value: COIN });
  await chain.mine();
  const service = stack.use(await startTestDataService([servedTestChain(chain.rpcUrl)]));
  const page = await browser.newPage({ baseURL: service.url });
  stack.defer(() => page.close());
  await makeBrisk(page);
  await page.goto(`/chain/${CHAIN_ID}/tx/${hash}`);
  await page.getByRole('heading', { name: 'Transaction Success' }).waitFor();

  await chain.reorg(2);
  await chain.mine();

  await page.getByText('This transaction is no longer on the chain').waitFor();
  await page.getByRole('heading', { name: 'Transaction Removed' }).waitFor();
  expect(await page.getByText('Success').count()).toBe(0);
  expect(await page.getByText(/\d confirmation/).count()).toBe(0);
  expect(await page.locator('.removed .facts').first().innerText()).toMatch(/Value\s+1 ETH/);
  expect(await page.getByText('Not renewed').count()).toBe(0);
});

test('the confirmations of a final transaction go on with the chain, as on the page of its block', async ({
  browser,
}) => {
  await using stack = new AsyncDisposableStack();
  const chain = await startTestChain();
  stack.defer(chain.stop);
  const { hash } = await chain.send(0, { to: chain.accounts.signer(1).address, value: COIN });
  await chain.mine();
  await httpRpc(chain.rpcUrl).call('anvil_mine', '0x14');
  const service = stack.use(await startTestDataService([servedTestChain(chain.rpcUrl)]));
  const page = await browser.newPage({ baseURL: service.url });
  stack.defer(() => page.close());
  await makeBrisk(page);
  await page.goto(`/chain/${CHAIN_ID}/tx/${hash}`);
  await page.getByText('20 confirmations').waitFor();

  await httpRpc(chain.rpcUrl).call('anvil_mine', '0x5');

  await page.getByText('25 confirmations').waitFor();
  await page.reload();
  await page.getByText('25 confirmations').waitFor();
  await page.goto(`/chain/${CHAIN_ID}/block/1`);
  await page.getByText('25 confirmations').waitFor();
});

test('a missing transaction is looked for a few times, and again when the reader wants', async ({
  page,
  devnet,
}) => {
  const complaints = complaintsOf(page);
  let asked = 0;
  page.on('request', request => {
    const { pathname, searchParams } = new URL(request.url());
    const isOfChain = searchParams.get('chain_id') === String(devnet.chains[0]?.id);
    if (isOfChain && pathname.startsWith('/explorer/transactions/')) asked += 1;
  });
  await page.clock.install();

  await page.goto(`/chain/${devnet.chains[0]?.id}/tx/0x${'11'.repeat(32)}`);
  await page.getByText('This page looks for it again').waitFor();
  const given = page.getByText('This page has stopped looking for it.');
  await expect
    .poll(async () => {
      await page.clock.runFor(60_000);
      return given.count();
    })
    .toBe(1);
  expect(asked).toBe(8);
  // Besides, the page itself is a 404.
  expect(complaints).toHaveLength(9);

  await page.getByRole('button', { name: 'Look again' }).click();
  await expect.poll(() => asked).toBe(9);
});

test('every kind of page says when the node of its chain does not answer', async ({ browser }) => {
  await using stack = new AsyncDisposableStack();
  const chain = await startTestChain();
  stack.defer(chain.stop);
  const token = await chain.deploy('StableToken', ['Dollar', 'USD']);
  await chain.send(0, token.call('mint', [chain.accounts.signer(1).address, COIN]));
  await chain.mine();
  let isDown = false;
  const proxy = await startNodeProxy(chain.rpcUrl, { refuses: () => isDown });
  stack.defer(proxy.stop);
  const log = createLogger({ level: 'silent' });
  const clock = leapingClock();
  const service = stack.use(await startTestDataService([servedTestChain(proxy.rpcUrl)], { log, clock }));
  const page = await browser.newPage({ baseURL: service.url });
  stack.defer(() => page.close());
  await makeBrisk(page);
  const paths = [`address/${token.address}`, `token/${token.address}`, `tx/${token.hash}`, 'block/1'];
  const notice = page.getByText('test chain: index-31337 cannot reach its node, and has all blocks up to 1.');
  for (const path of paths) {
    await page.goto(`/chain/${CHAIN_ID}/${path}`);
    await page.locator('.source').first().waitFor();
    expect(await notice.count()).toBe(0);
  }

  isDown = true;
  clock.advance(NODE_SILENT_MS);

  await notice.waitFor();
  for (const path of paths) {
    await page.goto(`/chain/${CHAIN_ID}/${path}`);
    await notice.waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  }
  isDown = false;
  await notice.waitFor({ state: 'detached' });
});

test('a service that starts shows progress, and its pages fill by themselves', async ({
  browser,
  serviceOfBoth,
}) => {
  await using stack = new AsyncDisposableStack();
  const front = await openDataFront(
    {
      host: '127.0.0.1',
      port: 0,
      pages: true,
      rateLimitPerMinute: 600,
      loggedRequests: 'all',
      trustedProxies: [],
      metrics: createMetrics(),
      clock: systemClock,
      log: createLogger({ level: 'silent' }),
    },
    [CHAIN_ID],
  );
  stack.defer(() => front.close());
  const page = await browser.newPage({ baseURL: front.url });
  stack.defer(() => page.close());
  await makeBrisk(page);

  for (const path of ['/', `/chain/${CHAIN_ID}`, `/chain/${CHAIN_ID}/block/1`]) {
    await page.goto(path);
    await page.getByText('The service is starting. This page continues by itself.').first().waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  }
  // The chains are open now.
  await page.route(/\/(chains|explorer)\b/, route =>
    route
      .fetch({ url: route.request().url().replace(front.url, serviceOfBoth.url) })
      .then(response => route.fulfill({ response })),
  );

  await page.getByRole('heading', { name: 'Block 1' }).waitFor();
  await page.getByText('The service is starting').waitFor({ state: 'detached' });
});

test('a page says once that the server does not answer, and continues when it is back', async ({
  page,
  devnet,
}) => {
  // A browser without shared workers polls; a worker's stream would stay open here.
  await page.addInitScript('delete window.SharedWorker');
  await makeBrisk(page);
  await page.goto(`/chain/${devnet.chains[0]?.id}`);
  await page.getByRole('region', { name: 'Blocks' }).waitFor();

  await page.context().setOffline(true);

  await page.getByText('The server has not answered since').waitFor();
  expect(await page.getByText('Not renewed').count()).toBe(0);
  await page.context().setOffline(false);
  await page.getByText('The server has not answered since').waitFor({ state: 'detached' });
});
