import { connect, type Socket } from 'node:net';
import type { Middleware } from 'koa';
import { afterEach, describe, expect, test } from 'vitest';
import { uncompressed } from '../../src/http/representation.ts';
import { sendRepresentation } from '../../src/http/send.ts';
import { type Served, serve } from './serve.ts';

const CLIENT = '203.0.113.5';
/** Size of the longest pages. Four of them are the limit of one address. */
const LONG_BYTES = 16 * 2 ** 20;
const LONG = uncompressed(Buffer.alloc(LONG_BYTES, 'x'));
const HALF = uncompressed(Buffer.alloc(LONG_BYTES / 2, 'x'));

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Serves long answers, `/half` as long ones and `/short` ones, and counts the requests that reached the routes. */
async function longAnswers() {
  const state = { handled: 0 };
  const answer: Middleware = ctx => {
    state.handled += 1;
    if (ctx.path === '/short') ctx.body = { ok: true };
    else sendRepresentation(ctx, ctx.path === '/half' ? HALF : LONG, {});
  };
  const served = await serve([answer], { trustedProxies: ['127.0.0.1'] });
  return { ...served, state, [Symbol.asyncDispose]: () => served.close(0) };
}

/** A request whose response nobody reads, as soon as its head has arrived. */
async function unread({ port }: Pick<Served, 'port'>, forwardedFor = CLIENT, path = '/'): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${forwardedFor}\r\n\r\n`);
  await new Promise(resolve => socket.once('readable', resolve));
  return socket;
}

function ask({ url }: Pick<Served, 'url'>, path = '/short', init: RequestInit = {}): Promise<Response> {
  return fetch(url + path, { ...init, headers: { 'X-Forwarded-For': CLIENT, ...init.headers } });
}

describe('a client with four unread responses of 16 MB', () => {
  test('is refused before any work, with a time to retry, while others are served', async () => {
    await using one = await longAnswers();
    for (let count = 0; count < 4; count += 1) await unread(one);
    const { handled } = one.state;

    const refused = await ask(one);
    const other = await ask(one, '/short', { headers: { 'X-Forwarded-For': '203.0.113.6' } });

    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    expect(await refused.json()).toEqual({
      message: 'Earlier responses to your address are not read yet: read them before you ask for more',
    });
    expect(other.status).toBe(200);
    expect(one.state.handled - handled).toBe(1);
  });

  test('is served again once it has read one of them or closed its connection', async () => {
    await using one = await longAnswers();
    const connections = [await unread(one), await unread(one), await unread(one), await unread(one)];
    expect((await ask(one)).status).toBe(429);

    connections[0]?.resume();
    await expect.poll(async () => (await ask(one)).status).toBe(200);
    await unread(one);
    expect((await ask(one)).status).toBe(429);
    connections[1]?.destroy();

    await expect.poll(async () => (await ask(one)).status).toBe(200);
  });
});

test('an answer that exceeds the limit is refused, and a short one or that to a change is sent', async () => {
  await using one = await longAnswers();
  for (let count = 0; count < 3; count += 1) await unread(one);
  await unread(one, CLIENT, '/half');

  const beyond = await ask(one, '/');
  const [short, posted] = [await ask(one), await ask(one, '/', { method: 'POST' })];

  expect([beyond.status, beyond.headers.get('content-type'), beyond.headers.get('etag')]).toEqual([
    429,
    'application/json; charset=utf-8',
    null,
  ]);
  expect([short.status, posted.status, (await posted.bytes()).length]).toEqual([200, 200, LONG_BYTES]);
});

test('a client without unread responses receives one of any length', async () => {
  await using one = await serve(
    [
      ctx => {
        ctx.body = Buffer.alloc(5 * LONG_BYTES);
      },
    ],
    { trustedProxies: ['127.0.0.1'] },
  );

  expect((await (await ask(one, '/')).bytes()).length).toBe(5 * LONG_BYTES);
});

test('a repeated cache hit counts, and is refused beyond the limit', async () => {
  const answer = { representation: LONG, storedAt: 0 };
  let ordinary = 0;
  await using one = await serve(
    [
      ctx => {
        ordinary += 1;
        ctx.state.repeatable = { answer, current: () => answer };
        sendRepresentation(ctx, LONG, { 'X-Cache': 'HIT', Age: '0' });
      },
    ],
    { trustedProxies: ['127.0.0.1'] },
  );
  const learning = await unread(one);
  learning.resume();
  await one.entry(({ msg }) => msg === 'request');

  for (let count = 0; count < 4; count += 1) await unread(one);
  expect(ordinary).toBe(1);
  const refused = await fetch(one.url, { headers: { 'X-Forwarded-For': CLIENT } });

  expect([refused.status, refused.headers.get('x-cache')]).toEqual([429, null]);
});

test('clients of one IPv6 network count together, and a client on this machine does not count', async () => {
  await using one = await longAnswers();
  for (const host of ['1', '2', '3', '4']) await unread(one, `2001:db8::${host}`);
  for (let count = 0; count < 5; count += 1) await unread(one, '::1');

  const neighbour = await ask(one, '/short', { headers: { 'X-Forwarded-For': '2001:db8::5' } });
  const local = await ask(one, '/short', { headers: { 'X-Forwarded-For': '::1' } });

  expect([neighbour.status, local.status]).toEqual([429, 200]);
});
