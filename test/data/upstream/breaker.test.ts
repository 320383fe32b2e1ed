import { expect, test } from 'vitest';
import { BackendError } from '#data/backends/port/backend-error.ts';
import type { Behaviour, SeenRequest } from '../../lab/scripted-upstream.ts';
import { type Opened, opened } from './opened.ts';

const OUT: Behaviour = { json: {}, status: 503 };
const WELL: Behaviour = { json: { well: true } };
const LEFT_ALONE = {
  kind: 'unavailable',
  reason: 'failed',
  message: 'it failed repeatedly, so requests to it are paused',
};

function script(first: Behaviour): { now: Behaviour; respond: (request: SeenRequest) => Behaviour } {
  const state = { now: first, respond: () => state.now };
  return state;
}

/** Fails on that many endpoints, the same ones in every call. */
async function fail(to: Opened, times: number): Promise<void> {
  for (const path of ['/blocks', '/stats', '/search', '/tokens', '/withdrawals'].slice(0, times))
    await to.failure(path);
}

async function failAtOne(to: Opened, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) await to.failure(`/blocks/${count}`);
}

test('after consecutive outages nothing is sent until the pause is over, and one success closes the breaker', async () => {
  const service = script(OUT);
  await using to = await opened(service.respond);

  await fail(to, 5);
  expect(to.upstream.isReady()).toBe(false);
  expect(await to.failure()).toMatchObject(LEFT_ALONE);
  to.clock.advance(9999);
  expect(await to.failure()).toMatchObject(LEFT_ALONE);
  expect(to.service.requests).toHaveLength(5);

  to.clock.advance(1);
  service.now = WELL;
  expect(to.upstream.isReady()).toBe(true);
  expect(await to.get()).toMatchObject({ status: 200 });
  expect(to.upstream.isReady()).toBe(true);
  const words = to.lines().filter(({ msg }) => msg !== 'upstream failed');
  expect(words).toMatchObject([
    { level: 40, upstream: 'scripted', msg: 'failed repeatedly: requests paused' },
    { level: 30, upstream: 'scripted', msg: 'answers again' },
  ]);
});

test('five failing endpoints without a success in between open the breaker', async () => {
  await using to = await opened(() => OUT);

  await fail(to, 4);
  expect(to.upstream.isReady()).toBe(true);
  await fail(to, 5);

  expect(to.upstream.isReady()).toBe(false);
});

test('a failed probe starts another pause, without another log line', async () => {
  await using to = await opened(() => OUT);
  await fail(to, 5);

  to.clock.advance(10_000);
  expect(await to.failure()).toMatchObject({ message: 'it answered 503' });
  expect(await to.failure()).toMatchObject(LEFT_ALONE);

  expect(to.service.requests).toHaveLength(6);
  expect(to.lines().filter(({ msg }) => msg === 'failed repeatedly: requests paused')).toHaveLength(1);
});

test('only one request probes: the others fail at once and do not wait for it', async () => {
  const held = Promise.withResolvers<Behaviour>();
  await using to = await opened(({ path }) => (path === '/probe' ? held.promise : OUT));
  await fail(to, 5);
  to.clock.advance(10_000);

  const probe = to.get('/probe');
  const others = await Promise.all([to.failure('/a'), to.failure('/b')]);

  expect(others).toMatchObject([LEFT_ALONE, LEFT_ALONE]);
  expect(to.upstream.isReady()).toBe(false);
  held.resolve(WELL);
  expect(await probe).toMatchObject({ status: 200 });
  expect(to.service.requests).toHaveLength(6);
});

test('a cancelled probe neither ends nor prolongs the pause', async () => {
  const service = script(OUT);
  await using to = await opened(service.respond);
  await fail(to, 5);
  to.clock.advance(10_000);
  service.now = 'silence';
  const gone = new AbortController();
  const probe = to.failure('/blocks', { signal: gone.signal });
  await expect.poll(() => to.service.requests.length).toBe(6);

  gone.abort(new Error('the client hung up'));
  await probe;
  service.now = OUT;

  expect(to.upstream.isReady()).toBe(true);
  await fail(to, 1);
  expect(to.upstream.isReady()).toBe(false);
});

test('a probe that hits a quota neither ends nor prolongs the pause', async () => {
  const service = script(OUT);
  await using to = await opened(service.respond);
  await fail(to, 5);
  to.clock.advance(10_000);
  service.now = { json: {}, status: 429, headers: { 'retry-after': '1' } };

  await fail(to, 1);
  to.clock.advance(1000);
  service.now = OUT;

  expect(to.upstream.isReady()).toBe(true);
  await fail(to, 1);
  expect(to.upstream.isReady()).toBe(false);
});

test.for<[string, Behaviour]>([
  ['a 503', OUT],
  ['HTML with a 403', { text: '<h1>Attention required</h1>', type: 'text/html', status: 403 }],
  ['HTML with a 404', { text: '<h1>Not found</h1>', type: 'text/html', status: 404 }],
])('one endpoint that answers %s never opens the breaker, however often it is called', async ([, broken]) => {
  await using to = await opened(({ path }) => (path.startsWith('/blocks/') ? broken : WELL));

  await failAtOne(to, 20);
  expect(await to.get('/stats')).toMatchObject({ status: 200 });
  await failAtOne(to, 20);

  expect(to.upstream.isReady()).toBe(true);
});

test('an endpoint that still fails counts again after a minute', async () => {
  await using to = await opened(() => OUT);

  for (let minute = 0; minute < 4; minute += 1) {
    await failAtOne(to, 5);
    to.clock.advance(60_000);
  }
  expect(to.upstream.isReady()).toBe(true);
  await failAtOne(to, 1);

  expect(to.upstream.isReady()).toBe(false);
});

test('every broken connection counts, because it concerns all endpoints', async () => {
  await using to = await opened(() => ({ cut: 'before headers' }));

  await failAtOne(to, 5);

  expect(to.upstream.isReady()).toBe(false);
});

test('deadlines of two endpoints open the breaker', async () => {
  await using to = await opened(() => 'silence');

  for (const path of ['/stats', '/blocks/7']) {
    expect(to.upstream.isReady()).toBe(true);
    await to.timeout(path);
  }

  expect(to.upstream.isReady()).toBe(false);
});

test('deadlines of one endpoint count once per minute', async () => {
  await using to = await opened(() => 'silence');
  const wait = (block: number) => to.timeout(`/blocks/${block}`);

  for (const block of [1, 2, 3, 4, 5]) await wait(block);
  expect(to.upstream.isReady()).toBe(true);
  to.clock.advance(60_000);
  await wait(6);

  expect(to.upstream.isReady()).toBe(false);
});

test('deadlines of one operation count once, whatever its clients ask', async () => {
  await using to = await opened(() => 'silence');

  for (const name of ['a.eth', 'b.eth', 'c.eth'])
    await to.timeout(`/resolve/${name}`, { endpoint: 'resolve' });

  expect(to.upstream.isReady()).toBe(true);
});

test('a deadline does not count when another request was answered meanwhile', async () => {
  await using to = await opened(({ path }) => (path === '/stats' ? WELL : 'silence'));
  const whileAnswering = (path: string) => to.timeout(path, {}, () => to.get('/stats'));

  for (const path of ['/search', '/tokens', '/blocks']) await whileAnswering(path);
  expect(to.upstream.isReady()).toBe(true);
  for (const path of ['/search', '/tokens']) await to.timeout(path);

  expect(to.upstream.isReady()).toBe(false);
});

test('a deadline counts again after an answer', async () => {
  const service = script('silence');
  await using to = await opened(service.respond);

  await to.timeout('/blocks');
  service.now = WELL;
  await to.get('/stats');
  service.now = 'silence';
  await to.timeout('/blocks');
  expect(to.upstream.isReady()).toBe(true);
  service.now = OUT;
  await fail(to, 4);

  expect(to.upstream.isReady()).toBe(false);
});

test('a probe that times out starts another pause, even if its endpoint was slow before', async () => {
  await using to = await opened(() => 'silence');

  await to.timeout('/stats');
  await to.timeout('/blocks');
  to.clock.advance(10_000);
  await to.timeout('/blocks');

  expect(to.upstream.isReady()).toBe(false);
});

test.for<[string, Behaviour]>([
  ['a text', { json: 'Internal server error', status: 500 }],
  ['an object', { json: { errors: { detail: 'Internal Server Error' } }, status: 500 }],
  ['a refusal in JSON', { json: { message: 'Forbidden' }, status: 403 }],
])('an upstream whose endpoints all answer %s is alive', async ([, crash]) => {
  await using to = await opened(() => crash);

  await fail(to, 5);

  expect(to.upstream.isReady()).toBe(true);
});

test.for<[string, Behaviour]>([
  ['HTML', { text: '<h1>oops</h1>', type: 'text/html', status: 500 }],
  ['no body', { text: '', type: 'application/json', status: 500 }],
])('a 500 with %s counts as an outage: a proxy may have sent it', async ([, crash]) => {
  await using to = await opened(() => crash);

  await fail(to, 5);

  expect(to.upstream.isReady()).toBe(false);
});

test('a request and its retry count once', async () => {
  await using to = await opened(() => ({ cut: 'before headers' }));

  await failAtOne(to, 4);
  expect(to.service.requests).toHaveLength(8);
  expect(to.upstream.isReady()).toBe(true);
  await failAtOne(to, 1);

  expect(to.upstream.isReady()).toBe(false);
});

test('cancelled requests neither count nor reset the count', async () => {
  const service = script('silence');
  await using to = await opened(service.respond);
  const abandon = async () => {
    const gone = new AbortController();
    const pending = to.failure('/blocks', { signal: gone.signal });
    gone.abort(new Error('the client hung up'));
    await pending;
  };

  for (let count = 0; count < 5; count += 1) await abandon();
  expect(to.upstream.isReady()).toBe(true);
  service.now = OUT;
  await fail(to, 4);
  await abandon();
  await fail(to, 5);

  expect(to.upstream.isReady()).toBe(false);
});

test.for<[string, Behaviour]>([
  ['an answer', WELL],
  ['a missing record', { json: {}, status: 404 }],
  ['rejected input', { json: {}, status: 422 }],
  ['an unsupported operation', { json: {}, status: 501 }],
  ['a text for an answer', { json: 'Bad request', status: 400 }],
])('%s is a sign of life and resets the count', async ([, living]) => {
  const service = script(OUT);
  const judge = ({ status }: { status: number }) =>
    status < 400 ? undefined : new BackendError('not_found', 'no_such_record', 'nothing');
  await using to = await opened(service.respond, { judge });

  await fail(to, 4);
  service.now = living;
  await to.get().catch(() => undefined);
  service.now = OUT;
  await fail(to, 4);
  expect(to.upstream.isReady()).toBe(true);

  service.now = living;
  for (let count = 0; count < 4; count += 1) await to.get().catch(() => undefined);
  expect(to.upstream.isReady()).toBe(true);
});

test('quota pauses do not count', async () => {
  await using to = await opened(() => ({ json: {}, status: 429, headers: { 'retry-after': '1' } }));

  for (let count = 0; count < 5; count += 1) {
    await fail(to, 1);
    to.clock.advance(1000);
  }

  expect(to.upstream.isReady()).toBe(true);
  expect(to.service.requests).toHaveLength(5);
});
