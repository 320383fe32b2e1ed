import { expect, test } from 'vitest';
import type { Behaviour } from '../../lab/scripted-upstream.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { opened } from './opened.ts';

const OVER = { kind: 'unavailable', reason: 'over_quota', message: 'its quota is used up' };
const NOON = Date.UTC(2026, 4, 4, 12);

const refusal = (headers: Record<string, string>, status = 429): Behaviour => ({ json: {}, status, headers });

test.for([
  ['x-ratelimit-reset in milliseconds', 429, { 'x-ratelimit-reset': '2500' }, 2500],
  ['x-ratelimit-reset before Retry-After', 429, { 'x-ratelimit-reset': '2500', 'retry-after': '60' }, 2500],
  ['x-ratelimit-reset of -1, which is ignored', 429, { 'x-ratelimit-reset': '-1' }, 10_000],
  ['x-ratelimit-reset of 0, which is ignored', 429, { 'x-ratelimit-reset': '0' }, 10_000],
  ['nonsense in x-ratelimit-reset', 429, { 'x-ratelimit-reset': 'soon', 'retry-after': '3' }, 3000],
  ['Retry-After in seconds', 429, { 'retry-after': '7' }, 7000],
  ['Retry-After as a date', 429, { 'retry-after': new Date(NOON + 42_000).toUTCString() }, 42_000],
  ['a past date', 429, { 'retry-after': new Date(NOON - 42_000).toUTCString() }, 10_000],
  ['a negative Retry-After', 429, { 'retry-after': '-5' }, 10_000],
  ['nonsense in Retry-After', 429, { 'retry-after': 'later' }, 10_000],
  ['429 without a word', 429, {}, 10_000],
  ['402 without a word', 402, {}, 600_000],
  ['402 with Retry-After', 402, { 'retry-after': '60' }, 60_000],
  ['a reset in a week', 429, { 'x-ratelimit-reset': '604800000' }, 3_600_000],
  ['a time next year', 429, { 'x-ratelimit-reset': String(NOON + 365 * 86_400_000) }, 3_600_000],
  ['a time in milliseconds', 429, { 'x-ratelimit-reset': String(NOON + 42_000) }, 42_000],
  ['a time in seconds', 429, { 'x-ratelimit-reset': String(NOON / 1000 + 42) }, 42_000],
  [
    'a past time, together with Retry-After',
    429,
    { 'x-ratelimit-reset': String(NOON / 1000), 'retry-after': '3' },
    3000,
  ],
] as const)('%s: the upstream is paused for exactly that long', async ([, status, headers, pauseMs]) => {
  await using to = await opened(({ number }) => (number === 1 ? refusal(headers, status) : { json: {} }));

  expect(await to.failure()).toMatchObject(OVER);
  expect(to.upstream.isReady()).toBe(false);
  to.clock.advance(pauseMs - 1);
  expect(await to.failure()).toMatchObject(OVER);
  expect(to.service.requests).toHaveLength(1);

  to.clock.advance(1);
  expect(to.upstream.isReady()).toBe(true);
  expect(await to.get()).toEqual({ status: 200, body: {} });
});

test('a refused request reports the remaining pause, at first and later', async () => {
  await using to = await opened(() => refusal({ 'retry-after': '7' }));

  const first = await to.failure();
  to.clock.advance(2_000);
  const second = await to.failure();

  expect([first.retryAfterMs, second.retryAfterMs]).toEqual([7_000, 5_000]);
});

test('requests that are running when the pause begins are completed', async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<Behaviour>();
  await using to = await opened(({ path }) => (path === '/held' ? held : refusal({})));
  const pending = to.get('/held');
  await expect.poll(() => to.service.requests.length).toBe(1);
  await to.failure('/refused');

  release({ json: { held: true } });

  expect(await pending).toEqual({ status: 200, body: { held: true } });
  expect(await to.failure('/held')).toMatchObject(OVER);
});

test('a later and shorter pause does not shorten the current one', async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<Behaviour>();
  await using to = await opened(({ path }) => (path === '/held' ? held : refusal({ 'retry-after': '60' })));
  const pending = to.failure('/held');
  await expect.poll(() => to.service.requests.length).toBe(1);
  await to.failure('/refused');

  release(refusal({ 'retry-after': '1' }));
  await pending;
  to.clock.advance(59_999);

  expect(to.upstream.isReady()).toBe(false);
});

test('a retry respects a pause that began in between', async () => {
  await using to = await opened(({ path }) => (path === '/cut' ? { cut: 'before headers' } : refusal({})));
  const pending = to.upstream
    .get('/cut', { signal: AbortSignal.timeout(PATIENCE_MS) })
    .catch((error: unknown) => error);
  await expect.poll(() => to.clock.sleepers()).toBe(1);
  await to.upstream.get('/refused', { signal: AbortSignal.timeout(PATIENCE_MS) }).catch(() => undefined);

  to.clock.advance(250);

  expect(await pending).toMatchObject(OVER);
  expect(to.service.requests.map(({ path }) => path)).toEqual(['/cut', '/refused']);
});

test('a pause is logged once, for any number of refusals during it', async () => {
  await using to = await opened(() => refusal({ 'retry-after': '7' }));

  await Promise.all([to.failure(), to.failure()]);
  to.clock.advance(1000);
  await to.failure();

  expect(to.service.requests).toHaveLength(2);
  expect(to.lines()).toMatchObject([
    { level: 40, upstream: 'scripted', pauseMs: 7000, msg: 'over quota: requests paused' },
    { level: 40, upstream: 'scripted', status: 429, msg: 'upstream failed' },
  ]);
});
