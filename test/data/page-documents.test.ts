import { describe, expect, onTestFinished, test } from 'vitest';
import { openDataFront } from '../../src/data/front.ts';
import { meantPath } from '../../src/data/pages/page-kinds.ts';
import type { RecordLook } from '../../src/data/pages/record-look.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';

const HASH = `0x${'aB'.repeat(32)}`;
const ADDRESS = `0x${'aB'.repeat(20)}`;
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/** A front that serves pages of these chains, and functions that open a path as a browser and as a program. */
async function pagesOf({
  chainIds = [1, 10],
  isMissing,
}: {
  chainIds?: number[];
  isMissing?: RecordLook;
} = {}) {
  const front = await openDataFront(
    {
      host: '127.0.0.1',
      port: 0,
      pages: true,
      rateLimitPerMinute: 600,
      pageRateLimitPerMinute: 600,
      loggedRequests: 'none',
      trustedProxies: [],
      metrics: createMetrics(),
      clock: systemClock,
      log: createLogger({ level: 'silent' }),
    },
    chainIds,
  );
  onTestFinished(() => front.close(0));
  front.serve({ checks: {}, routes: [], ...(isMissing && { isMissing }) });
  const get = (path: string, accept: string) =>
    fetch(front.url + path, { redirect: 'manual', headers: { Accept: accept } });
  return { open: (path: string) => get(path, BROWSER), ask: (path: string) => get(path, '*/*') };
}

describe('a path that nothing answers', () => {
  test.each(['/nothing', '/explore', '/chain', '/wp-login.php?x=1'])(
    'is a page for people: %s',
    async path => {
      const { open } = await pagesOf();

      const reply = await open(path);

      expect([reply.status, reply.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
      expect(await reply.text()).toContain('<title>Not found · tollgate</title>');
    },
  );

  test('is JSON for programs, and its kind depends on Accept', async () => {
    const { ask } = await pagesOf();

    const reply = await ask('/nothing');

    expect([reply.status, await reply.json()]).toEqual([404, { message: 'Not found' }]);
    expect(reply.headers.get('vary')).toContain('Accept');
  });
});

describe('another spelling of a path leads to the page', () => {
  test.each([
    ['/chain/1/', '/chain/1'],
    ['/search/?q=12', '/search?q=12'],
    ['/Search?q=12', '/search?q=12'],
    ['/Playground', '/playground'],
    ['/CHAIN/1/Tx/0xAB', '/chain/1/tx/0xAB'],
    [`/chain/1/address/${ADDRESS}//?tab=tokens`, `/chain/1/address/${ADDRESS}?tab=tokens`],
    ['/chain/1/block/0x1F4', '/chain/1/block/500'],
    ['/chain/1/block/1,300', '/chain/1/block/1300'],
    ['/chain/1/block/LATEST', '/chain/1/block/latest'],
  ])('%s', async (path, meant) => {
    const { ask } = await pagesOf();

    const reply = await ask(path);

    expect([reply.status, reply.headers.get('location')]).toEqual([302, meant]);
  });

  test.each(['//example.org/', '/chain/7/', '/\\example.org', '/nothing/'])(
    'and %s leads nowhere',
    async path => {
      const { ask } = await pagesOf();

      expect((await ask(path)).headers.get('location')).toBeNull();
    },
  );
});

describe('a path without a chain (EIP-3091)', () => {
  test.each([`/tx/${HASH}`, `/address/${ADDRESS}?tab=tokens`, '/block/12', `/token/${ADDRESS}/instance/5`])(
    'leads to the only chain: %s',
    async path => {
      const { open } = await pagesOf({ chainIds: [10] });

      expect((await open(path)).headers.get('location')).toBe(`/chain/10${path}`);
    },
  );

  test('is a search when there are several chains', async () => {
    const { open } = await pagesOf();

    const reply = await open(`/tx/${HASH}`);

    expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining('<title>Search')]);
  });
});

describe('the document of a page', () => {
  test('names its record and chain, for previews too, and says nothing of this server', async () => {
    const { open } = await pagesOf();

    const text = await (await open(`/chain/10/tx/${HASH}?tab=logs`)).text();

    expect(text).toContain('<title>Transaction 0xaBaBaB…aBaBaB · chain 10 · tollgate</title>');
    expect(text).toContain(
      `<meta name="description" content="Status, value, fee, calls, logs and token transfers of transaction ${HASH} on chain 10."/>`,
    );
    expect(text).toContain('property="og:title"');
    expect(text).toContain(`<link rel="canonical" href="/chain/10/tx/${HASH.toLowerCase()}"/>`);
    expect(text).not.toContain('127.0.0.1');
  });

  test('repeats nothing of a path that holds no record', async () => {
    const { open } = await pagesOf();

    const reply = await open('/chain/1/tx/%3Cscript%3Ealert(1)');
    const text = await reply.text();

    expect(reply.status).toBe(404);
    expect(text).not.toMatch(/alert\(1\)(?!")/);
    expect(text).toContain('<title>Transaction · tollgate</title>');
  });

  test('is kept by the browser while it does not change', async () => {
    const { open } = await pagesOf();
    const first = await open('/chain/1/block/5');
    const second = await open('/chain/1/block/6');

    expect(first.headers.get('etag')).toBe((await open('/chain/1/block/5')).headers.get('etag'));
    expect(first.headers.get('etag')).not.toBe(second.headers.get('etag'));
  });
});

describe('a missing record', () => {
  test.each([
    `/chain/1/tx/${HASH}`,
    '/chain/1/block/12',
    `/chain/1/address/${ADDRESS}`,
    `/chain/1/token/${ADDRESS}`,
    `/chain/1/token/${ADDRESS}/instance/5`,
  ])('is a 404 with its page: %s', async path => {
    const { open } = await pagesOf({ isMissing: async () => true });

    const reply = await open(path);

    expect([reply.status, reply.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(reply.headers.get('etag')).toBeNull();
  });

  test('is looked up for people only, and not where the page is of none', async () => {
    const asked: string[] = [];
    const { open, ask } = await pagesOf({
      async isMissing({ id }) {
        asked.push(id);
        return true;
      },
    });

    const statuses = [
      await ask(`/chain/1/tx/${HASH}`),
      await open('/chain/1'),
      await open('/chain/1/address/alice.eth'),
      await open('/chain/1/block/latest'),
      await open('/chain/1/block/12'),
    ].map(({ status }) => status);

    expect([statuses, asked]).toEqual([[200, 200, 200, 200, 404], ['12']]);
  });
});

test('the icon of the pages is where old browsers look for it', async () => {
  const { ask, open } = await pagesOf();

  const { status, headers } = await open('/favicon.ico');
  const icon = await ask(headers.get('location') ?? '');

  expect([status, icon.headers.get('content-type')]).toEqual([302, 'image/svg+xml']);
});

// The time of a path grew with the square of its slashes.
test('a path of many slashes takes no time', () => {
  const path = `/tx${'/'.repeat(48_000)}x`;

  const before = process.threadCpuUsage();
  expect(meantPath(path)).toBeUndefined();
  const { user, system } = process.threadCpuUsage(before);

  expect((user + system) / 1_000).toBeLessThan(200);
});
