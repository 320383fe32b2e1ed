import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import Koa, { type Middleware } from 'koa';
import { describe, expect, test } from 'vitest';
import { boundedAs } from '../../src/http/server/connection-bounds.ts';
import { listen } from '../../src/http/server/server.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { eventually, type Served, serve } from './serve.ts';

interface Line {
  received: () => string;
  isEnded: () => boolean;
  send(text: string): void;
}

/** A keep-alive connection. */
async function lineTo(served: Served): Promise<Line> {
  const socket: Socket = connect(served.port, '127.0.0.1');
  let received = '';
  let isEnded = false;
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    received += chunk;
  });
  socket.on('close', () => {
    isEnded = true;
  });
  socket.on('error', () => socket.destroy());
  await new Promise(resolve => socket.once('connect', resolve));
  return { received: () => received, isEnded: () => isEnded, send: text => void socket.write(text) };
}

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

/** A server whose answers to /slow wait for their release; `begun` counts them. */
async function slowServer() {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let begun = 0;
  const served = await serve([
    async ctx => {
      if (ctx.path === '/slow') {
        begun += 1;
        await released;
      }
      ctx.body = { done: true };
    },
  ]);
  return { served, release, begun: () => begun };
}

const done: Middleware = ctx => {
  ctx.body = { done: true };
};

const SLOW = 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n';

describe('a server that closes', () => {
  test('drops idle connections at once, used or not', async () => {
    const { served } = await slowServer();
    const [used, fresh] = [await lineTo(served), await lineTo(served)];
    used.send(REQUEST);
    await eventually(() => used.received().includes('done') || undefined);
    expect(used.received()).toMatch(/Connection: keep-alive/i);

    await served.close();

    // Connections that are not dropped last until the end of the drain, which is logged.
    expect(served.entries.filter(({ level }) => level === 40)).toEqual([]);
    await eventually(() => (used.isEnded() && fresh.isEnded()) || undefined);
  });

  test('accepts no more connections', async () => {
    const { served } = await slowServer();
    await served.close();

    await expect(fetch(served.url)).rejects.toThrow();
  });

  test('finishes requests in flight, and announces the end of the connection', async () => {
    const { served, release, begun } = await slowServer();
    const line = await lineTo(served);
    line.send(SLOW);
    await eventually(() => begun() === 1 || undefined);

    const closed = served.close();
    release();
    await closed;
    await eventually(() => line.isEnded() || undefined);

    expect(line.received()).toMatch(/^HTTP\/1\.1 200 [\s\S]*Connection: close[\s\S]*\{"done":true\}$/i);
  });

  test('answers a request whose head was half sent, and ends the connection', async () => {
    const seen: Socket[] = [];
    const bounds = { admit: (socket: Socket) => seen.push(socket) > 0, busy() {}, idle() {}, stalled() {} };
    const served = await serve([done], { connections: boundedAs('data', bounds) });
    const line = await lineTo(served);
    line.send('GET / HTTP/1.1\r\n');
    await eventually(() => seen.some(({ bytesRead }) => bytesRead > 0) || undefined);

    const closed = served.close();
    line.send('Host: x\r\n\r\n');
    await closed;
    await eventually(() => line.isEnded() || undefined);

    expect(line.received()).toMatch(/^HTTP\/1\.1 200 [\s\S]*Connection: close/i);
  });

  test('completes an answer that had begun', async () => {
    const length = 20_000_000;
    const served = await serve([
      ctx => {
        ctx.body = Readable.from(Array.from({ length: 20 }, () => Buffer.alloc(length / 20, 'x')));
      },
    ]);
    const answer = await fetch(served.url);

    const closed = served.close();
    const body = await answer.arrayBuffer();
    await closed;

    expect(answer.headers.get('connection')).toBe('keep-alive');
    expect(body.byteLength).toBe(length);
  });

  test('completes an answer that was ready at once, to a client that reads slowly', async () => {
    const length = 20_000_000;
    const served = await serve([
      ctx => {
        ctx.body = Buffer.alloc(length, 'x');
      },
    ]);
    const answer = await fetch(served.url);

    const closed = served.close();
    const body = await answer.arrayBuffer();
    await closed;

    expect(body.byteLength).toBe(length);
  });

  test('answers pipelined requests', async () => {
    const { served, release, begun } = await slowServer();
    const line = await lineTo(served);
    line.send(SLOW + SLOW);
    await eventually(() => begun() === 2 || undefined);

    const closed = served.close();
    release();
    await closed;

    await eventually(() => line.isEnded() || undefined);
    expect(line.received().match(/\{"done":true\}/g)).toHaveLength(2);
  });

  test('cuts off requests that outlast the drain, and logs it', async () => {
    const { served, begun } = await slowServer();
    const line = await lineTo(served);
    line.send(SLOW);
    await eventually(() => begun() === 1 || undefined);

    await served.close(100);

    await eventually(() => line.isEnded() || undefined);
    expect(line.received()).toBe('');
    expect(served.entries.some(({ msg }) => String(msg).includes('aborted at the end'))).toBe(true);
  });

  test('answers a request that is on its way on a recently used connection, and ends the connection', async () => {
    const served = await serve([done], { drain: { lingerMs: 60_000 } });
    const [used, fresh] = [await lineTo(served), await lineTo(served)];
    used.send(REQUEST);
    await eventually(() => used.received().includes('done') || undefined);

    const closed = served.close();
    used.send(REQUEST);
    fresh.send(REQUEST);
    await closed;

    await eventually(() => (used.isEnded() && fresh.isEnded()) || undefined);
    expect(used.received().match(/\{"done":true\}/g)).toHaveLength(2);
    expect([used, fresh].map(line => /Connection: close/i.test(line.received()))).toEqual([true, true]);
  });

  test('waits for requests on recently used connections no longer than configured', async () => {
    const served = await serve([done], { drain: { lingerMs: 100 } });
    const line = await lineTo(served);
    line.send(REQUEST);
    await eventually(() => line.received().includes('done') || undefined);

    await served.close();

    await eventually(() => line.isEnded() || undefined);
    expect(line.received()).not.toMatch(/Connection: close/i);
  });

  test('can be called twice', async () => {
    const { served } = await slowServer();

    expect(served.close()).toBe(served.close());
    await served.close();
  });
});

test('an address in use is refused', async () => {
  await using served = await serve([]);
  const log = createLogger({ level: 'silent' });

  const second = listen({ app: new Koa(), host: '127.0.0.1', port: served.port, log });

  await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

test('a malformed request behind one in flight does not corrupt its answer', async () => {
  const { served, release, begun } = await slowServer();
  const line = await lineTo(served);
  line.send(`${SLOW}nonsense\r\n\r\n`);
  await eventually(() => begun() === 1 || undefined);
  release();

  await eventually(() => line.isEnded() || undefined);
  await served.close(0);

  expect(line.received()).not.toMatch(/^HTTP\/1\.1 400/);
});
