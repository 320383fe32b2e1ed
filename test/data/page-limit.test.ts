import { describe, expect, onTestFinished, test } from 'vitest';
import { openDataFront } from '../../src/data/front.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';

const API_LIMIT = 3;
const PAGE_LIMIT = 5;
const TOKEN = `/chain/1/token/0x${'1'.repeat(40)}/instance/1`;

/** A front with small limits, and a function that sends a request of an address to it. */
async function limitedFront() {
  const front = await openDataFront(
    {
      host: '127.0.0.1',
      port: 0,
      pages: true,
      rateLimitPerMinute: API_LIMIT,
      pageRateLimitPerMinute: PAGE_LIMIT,
      loggedRequests: 'none',
      trustedProxies: ['127.0.0.1'],
      metrics: createMetrics(),
      clock: systemClock,
      log: createLogger({ level: 'silent' }),
    },
    [1],
  );
  onTestFinished(() => front.close(0));
  return (target: string, init: RequestInit = {}, address = '203.0.113.5') =>
    fetch(front.url + target, { ...init, headers: { ...init.headers, 'X-Forwarded-For': address } });
}

const limitIn = ({ headers }: Response) => Number(headers.get('ratelimit-limit'));

describe('the limit of pages', () => {
  test.each([
    '/',
    '/search?q=alice',
    '/playground?kind=blocks',
    '/chain/1',
    '/chain/1/block/7?tab=logs',
    '/chain/no-such-page',
    TOKEN,
    '/assets/0123456789abcdef/preact',
    '/docs',
    '/openapi.json',
    '/healthz',
    '/chains',
    '/explorer/stats?chain_id=1',
    '/explorer/main-page/blocks?chain_id=31337',
    '/explorer/main-page/transactions',
  ])('covers %s', async target => {
    const get = await limitedFront();

    expect(limitIn(await get(target))).toBe(PAGE_LIMIT);
  });

  test.each([
    '/explorer/transactions',
    '/explorer/stats?chain_id=1,2',
    '/explorer/stats?chain_id=1&chain_id=2',
    '/explorer/main-page/blocks?chain_id=1&x=2',
    '/explorer/main-page/blocks/',
    '/explorer/stats/charts/transactions?chain_id=1',
    '/%65xplorer/transactions',
    '/insights/v1/blocks',
    '/chains?x=/explorer/stats',
    `${TOKEN}/picture`,
    '/no-such-page',
  ])('does not cover %s', async target => {
    const get = await limitedFront();

    expect(limitIn(await get(target))).toBe(API_LIMIT);
  });

  test('refuses no request to the APIs, and theirs refuses no page', async () => {
    const get = await limitedFront();
    const statuses = async (target: string, count: number, address: string) => {
      const answers: number[] = [];
      for (let sent = 0; sent < count; sent += 1) answers.push((await get(target, {}, address)).status);
      return answers;
    };

    await statuses('/', PAGE_LIMIT + 1, '203.0.113.1');
    await statuses('/explorer/blocks', API_LIMIT + 1, '203.0.113.2');

    // The front answers 503 until its chains are open.
    expect(await statuses('/explorer/blocks', API_LIMIT + 1, '203.0.113.1')).toEqual([503, 503, 503, 429]);
    expect(await statuses('/', PAGE_LIMIT + 1, '203.0.113.2')).toEqual([200, 200, 200, 200, 200, 429]);
  });
});

describe('beyond the limit', () => {
  const refused = async (target: string, init: RequestInit = {}) => {
    const get = await limitedFront();
    for (let sent = 0; sent < PAGE_LIMIT; sent += 1) await get('/');
    return get(target, init);
  };

  test.each(['/', '/chain/1/block/7', '/docs'])(
    'the refusal of %s is a page that loads no files and reloads itself',
    async target => {
      const answer = await refused(target);

      const seconds = answer.headers.get('retry-after');
      const text = await answer.text();
      expect(answer.status).toBe(429);
      expect(Number(seconds)).toBeGreaterThan(50);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      expect(answer.headers.get('ratelimit-remaining')).toBe('0');
      expect(text).toContain(`<meta http-equiv="refresh" content="${seconds}">`);
      expect(text).toContain(`loads by itself in ${seconds} seconds`);
      expect(text).not.toMatch(/<script|<link|src=/);
    },
  );

  test.each([
    ['/chains', {}],
    ['/assets/0123456789abcdef/preact', {}],
    ['/', { method: 'POST' }],
  ])('the refusal of %s %j is JSON', async (target, init) => {
    const answer = await refused(target, init);

    expect([answer.status, await answer.json()]).toEqual([429, { message: 'Too many requests' }]);
  });
});
