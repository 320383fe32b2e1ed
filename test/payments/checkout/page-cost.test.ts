import { getAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KEPT, qrDrawing } from '#pages/qr.ts';
import { PAGES_PER_ADDRESS } from '#payments/api/gate/rate-limits.ts';
import { PAGE_LIFETIME_MS, type ServedPages, servePages } from '../../support/checkout-pages.ts';

let pages: ServedPages;
beforeAll(async () => {
  pages = await servePages();
});
afterAll(() => pages[Symbol.asyncDispose]());

const tagOf = (headers: Headers) => headers.get('etag') ?? '';

describe('a page in the client’s cache', () => {
  test('of a session is answered 304 without a body, even a minute later', async () => {
    const { id } = await pages.session(await pages.link());
    const first = await pages.get(`/pay/s/${id}`);
    pages.clock.advance(60_000);

    const again = await pages.get(`/pay/s/${id}`, { 'If-None-Match': tagOf(first.headers) });

    expect([first.status, again.status, again.text]).toEqual([200, 304, '']);
    expect(again.headers.get('cache-control')).toBe('no-store');
  });

  test('of a link is answered 304, but not for another reference', async () => {
    const { shortCode } = await pages.link();
    const path = `/pay/${shortCode}?client_reference_id=order-1`;
    const held = { 'If-None-Match': tagOf((await pages.get(path)).headers) };

    const statuses = [
      (await pages.get(path, held)).status,
      (await pages.get(`/pay/${shortCode}?client_reference_id=order-2`, held)).status,
    ];

    expect(statuses).toEqual([304, 200]);
  });

  test('is sent again once its session has changed', async () => {
    const link = await pages.link();
    const before = await pages.session(link);
    const held = { 'If-None-Match': tagOf((await pages.get(`/pay/s/${before.id}`)).headers) };
    await pages.settled({ ...before, paymentStatus: 'confirming', confirmations: 1 });

    const after = await pages.get(`/pay/s/${before.id}`, held);

    expect(after.status).toBe(200);
    expect(after.text).toContain('data-state-name="confirming"');
  });

  test('is sent again once the time to pay is over', async () => {
    const { id } = await pages.session(await pages.link());
    const held = { 'If-None-Match': tagOf((await pages.get(`/pay/s/${id}`)).headers) };
    pages.clock.advance(PAGE_LIFETIME_MS);

    const over = await pages.get(`/pay/s/${id}`, held);

    expect(over.status).toBe(200);
    expect(over.text).toContain('data-state-name="closing"');
  });
});

test('a page is sent compressed to a client that accepts that', async () => {
  const { id } = await pages.session(await pages.link());

  const [plain, small] = await Promise.all(
    ['identity', 'br'].map(coding => pages.get(`/pay/s/${id}`, { 'Accept-Encoding': coding })),
  );

  expect([plain?.headers.get('content-encoding'), small?.headers.get('content-encoding')]).toEqual([
    null,
    'br',
  ]);
  expect(Number(small?.headers.get('content-length'))).toBeLessThan(
    Number(plain?.headers.get('content-length')) / 2,
  );
  expect(small?.headers.get('vary')).toContain('Accept-Encoding');
});

test('pages are counted per address, and beyond the limit a page says how long to wait', async () => {
  const { id } = await pages.session(await pages.link());
  const from = (address: string) => pages.get(`/pay/s/${id}`, { 'X-Forwarded-For': address });

  const first = await from('203.0.113.1');
  for (let sent = 1; sent < PAGES_PER_ADDRESS; sent += 1) await from('203.0.113.1');
  const refused = await from('203.0.113.1');
  const elsewhere = await from('203.0.113.2');

  expect(first.headers.get('x-ratelimit-remaining')).toBe(String(PAGES_PER_ADDRESS - 1));
  expect([refused.status, elsewhere.status]).toEqual([429, 200]);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(refused.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(refused.text).toMatch(/Please try again in \d+ seconds/);
});

test('a refusal is rendered once per waiting time, and the page for an unknown address once', async () => {
  const from = (path: string) => pages.get(path, { 'X-Forwarded-For': '203.0.113.3' });
  for (let sent = 0; sent < PAGES_PER_ADDRESS; sent += 1) await from('/pay/no-such-page');
  const before = pages.rendered();

  const waits = new Set<string | null>();
  for (let sent = 0; sent < 100; sent += 1) waits.add((await from('/pay/x')).headers.get('retry-after'));
  const refusals = pages.rendered() - before;
  const unknown = await pages.get('/pay/no-such-page');

  expect(refusals).toBeLessThanOrEqual(waits.size);
  expect(waits.size).toBeLessThan(100);
  expect([unknown.status, pages.rendered() - before]).toEqual([404, refusals]);
});

test('a QR code is encoded once, and the cache is bounded', () => {
  const text = 'ethereum:0x5e@1?value=1';
  const first = qrDrawing(text);

  expect(qrDrawing(text)).toBe(first);

  for (let other = 0; other < KEPT; other += 1) qrDrawing(`ethereum:${other}`);
  expect(qrDrawing(text)).not.toBe(first);
  expect(qrDrawing(text)).toEqual(first);
});

test('a page in the client’s cache is answered before its QR codes are drawn', async () => {
  // A page shows codes only while its chain is read in time, which is checked every five seconds.
  pages.clock.advance(5_000);
  await pages.looked();
  const { id, recipientAddress } = await pages.session(await pages.link());
  const address = getAddress(recipientAddress);
  const path = `/pay/s/${id}`;
  const held = { 'If-None-Match': tagOf((await pages.get(path)).headers) };
  const drawOthers = (from: number, to: number) => {
    for (let other = from; other < to; other += 1) qrDrawing(`ethereum:0x5e@${other}`);
  };
  /** True when a request draws the page: its drawing then stays in the cache, which would evict it otherwise. */
  async function isDrawnBy(headers: Readonly<Record<string, string>>): Promise<boolean> {
    const drawing = qrDrawing(address);
    drawOthers(0, KEPT / 2);
    await pages.get(path, headers);
    drawOthers(KEPT / 2, KEPT);
    return qrDrawing(address) === drawing;
  }

  expect(await isDrawnBy({})).toBe(true);
  expect(await isDrawnBy(held)).toBe(false);
});
