import { connect, type Socket } from 'node:net';
import type { Middleware } from 'koa';
import { afterEach, expect, test } from 'vitest';
import { createMetrics } from '../../src/http/metrics.ts';
import { uncompressed } from '../../src/http/representation.ts';
import { sendRepresentation } from '../../src/http/send.ts';
import { boundedAs, connectionBounds } from '../../src/http/server/connection-bounds.ts';
import { until } from '../lab/until.ts';
import { manualClock } from '../support/manual-clock.ts';
import { serve } from './serve.ts';

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
/** More than the buffers of a loopback connection hold. */
const LONG_BYTES = 32_000_000;
const LONG = Buffer.alloc(LONG_BYTES, 'x');
const STEP_MS = 10_000;

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

const long: Middleware = ctx => {
  ctx.body = LONG;
};

/** A server on a clock that stands still, with metrics of its connections. */
async function served(...routes: Middleware[]) {
  const clock = manualClock();
  const metrics = createMetrics();
  const options = { max: 100, maxPerAddress: 100, isExempt: () => true, clock, metrics };
  const server = await serve(routes, {
    clock,
    metrics,
    connections: boundedAs('data', connectionBounds(options)),
  });
  return {
    ...server,
    clock,
    stalled: async () =>
      /stalled_connections_total\{listener="data"\} (\d+)/.exec(await metrics.registry.metrics())?.[1],
    [Symbol.asyncDispose]: () => server.close(0),
  };
}

/** A connection that has sent `text` and reads nothing. `isClosed` says that the server reset it. */
function client(port: number, text = REQUEST) {
  const socket = connect(port, '127.0.0.1', () => socket.write(text));
  sockets.push(socket);
  let taken = 0;
  let isClosed = false;
  let wanted = 0;
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isClosed = true;
  });
  socket.on('data', chunk => {
    taken += chunk.length;
    if (taken >= wanted) socket.pause();
  });
  socket.pause();
  return {
    taken: () => taken,
    isClosed: () => isClosed,
    /** Reads until `bytes` more have arrived. */
    async take(bytes: number): Promise<void> {
      wanted = taken + bytes;
      socket.resume();
      await until(async () => taken >= wanted || isClosed, Boolean);
    },
    /** Reads on without a pause. */
    drain() {
      wanted = Number.POSITIVE_INFINITY;
      socket.resume();
    },
  };
}

/** Advances the clock once the server has begun to wait for its next look at the connections. */
async function pass(clock: ReturnType<typeof manualClock>, ms: number): Promise<void> {
  await until(
    async () => clock.sleepers(),
    count => count > 0,
  );
  clock.advance(ms);
}

test('a client that takes no byte of a response for 30 seconds is disconnected', async () => {
  await using one = await served(long);
  const reader = client(one.port);
  await reader.take(1);

  await pass(one.clock, 1_000);
  for (let passed = 0; passed < 20_000; passed += STEP_MS) await pass(one.clock, STEP_MS);
  expect(await one.stalled()).toBeUndefined();
  await until(
    async () => {
      await pass(one.clock, STEP_MS);
      return one.stalled();
    },
    count => count !== undefined,
  );

  expect(await one.stalled()).toBe('1');
  reader.drain();
  await expect.poll(reader.isClosed).toBe(true);
  expect(reader.taken()).toBeLessThan(LONG_BYTES);
  expect(await one.entry(({ msg }) => msg === 'request')).toMatchObject({ status: 200, aborted: true });
});

test('a slow but steady reader receives a response that takes minutes', async () => {
  await using one = await served(long);
  const reader = client(one.port);

  for (let passed = 0; passed < 120_000; passed += STEP_MS) {
    await reader.take(2_000_000);
    await pass(one.clock, STEP_MS);
  }
  await reader.take(LONG_BYTES - reader.taken());

  expect(reader.isClosed()).toBe(false);
  expect(await one.stalled()).toBeUndefined();
});

test('further requests on its connection do not keep a client that reads nothing', async () => {
  await using one = await served(long);
  const socket = connect(one.port, '127.0.0.1', () => socket.write(REQUEST));
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.pause();

  await until(
    async () => {
      socket.write(REQUEST);
      await pass(one.clock, STEP_MS);
      return one.stalled();
    },
    count => count !== undefined,
  );

  expect(await one.stalled()).toBe('1');
});

test('pipelined cache hits that no client reads end with their connection', async () => {
  const answer = { representation: uncompressed('x'.repeat(1_000_000)), storedAt: 0 };
  let ordinary = 0;
  await using one = await served(ctx => {
    ordinary += 1;
    ctx.state.repeatable = { answer, current: () => answer };
    sendRepresentation(ctx, answer.representation, { 'X-Cache': 'HIT', Age: '0' });
  });
  await client(one.port).take(1_000_000);

  client(one.port, REQUEST.repeat(40));
  await until(
    async () => {
      await pass(one.clock, STEP_MS);
      return one.stalled();
    },
    count => count !== undefined,
  );

  expect(await one.stalled()).toBe('1');
  expect(ordinary).toBe(1);
});

test('a client that waits for its handler keeps its connection', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let begun = 0;
  await using one = await served(async ctx => {
    begun += 1;
    await released;
    ctx.body = 'ok';
  });
  const reader = client(one.port);
  await expect.poll(() => begun).toBe(1);

  for (let passed = 0; passed < 120_000; passed += STEP_MS) await pass(one.clock, STEP_MS);
  release();
  await reader.take(1);

  expect([reader.isClosed(), await one.stalled()]).toEqual([false, undefined]);
});
