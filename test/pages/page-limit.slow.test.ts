import { expect } from 'vitest';
import { startTestDataService } from '../lab/data-service.ts';
import { makeBrisk } from '../support/browser.ts';
import { test } from './data-page.ts';

const API_LIMIT = 600;
const PAGE_LIMIT = 6_000;
const TABS = 10;

test('ten home pages of one office meet no limit: what they repeat counts as pages', async ({
  browser,
  devnet,
}) => {
  await using service = await startTestDataService(devnet.chains, {
    rateLimitPerMinute: API_LIMIT,
    pageRateLimitPerMinute: PAGE_LIMIT,
    trustedProxies: ['127.0.0.1'],
  });
  const page = await browser.newPage({
    baseURL: service.url,
    extraHTTPHeaders: { 'X-Forwarded-For': '203.0.113.5' },
  });
  await makeBrisk(page);
  // Such a browser cannot follow the stream, and asks most often.
  await page.addInitScript('delete window.SharedWorker');
  const sent = { first: 0, ofApi: 0, chains: 0 };
  const refused: string[] = [];
  page.on('response', response => {
    const { pathname } = new URL(response.url());
    sent.first += 1;
    if (pathname === '/chains') sent.chains += 1;
    if (response.headers()['ratelimit-limit'] === String(API_LIMIT)) sent.ofApi += 1;
    if (response.status() >= 400) refused.push(`${response.status()} ${pathname}`);
  });

  await page.goto('/');
  // A minute of a page that asks for the chains every three seconds.
  await expect.poll(() => sent.chains).toBeGreaterThan(20);
  await page.close();

  expect(refused).toEqual([]);
  expect(sent.ofApi * TABS).toBeLessThan(API_LIMIT / 2);
  expect(sent.first * TABS).toBeLessThan(PAGE_LIMIT / 2);
});
