import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createMetrics } from '../../src/http/metrics.ts';
import {
  boundedAs,
  boundOf,
  type ConnectionBoundsOptions,
  connectionBounds,
  descriptorLimit,
} from '../../src/http/server/connection-bounds.ts';
import { until } from '../lab/until.ts';
import { manualClock } from '../support/manual-clock.ts';
import { serve } from './serve.ts';

const REQUEST = 'GET / HTTP/1.1\r\nHost: data.example\r\n\r\n';

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

async function bounded(options: Partial<ConnectionBoundsOptions>) {
  const clock = manualClock();
  const metrics = createMetrics();
  const bounds = connectionBounds({
    max: 10,
    maxPerAddress: 100,
    isExempt: () => false,
    clock,
    metrics,
    ...options,
  });
  const answered = [
    (ctx: { body: unknown }) => {
      ctx.body = 'ok';
    },
  ];
  const served = await serve(answered, { metrics, connections: boundedAs('data', bounds) });
  return { served, clock, metrics, [Symbol.asyncDispose]: () => served.close(0) };
}

/** A connection from a loopback address. */
function opened(port: number, localAddress = '127.0.0.1'): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined);
  sockets.push(socket);
  return socket;
}

/** The answer to a request on a connection; undefined when the server closed it instead. */
async function ask(socket: Socket): Promise<string | undefined> {
  if (socket.destroyed) return undefined;
  socket.write(REQUEST);
  // A connection that is closed before its request was read is reset.
  const [data]: unknown[] = await Promise.race([once(socket, 'data'), once(socket, 'close')]).catch(() => []);
  return Buffer.isBuffer(data) ? data.toString() : undefined;
}

async function askAll(all: readonly Socket[]): Promise<boolean[]> {
  const answers: boolean[] = [];
  for (const socket of all) answers.push((await ask(socket))?.startsWith('HTTP/1.1 200') === true);
  return answers;
}

test('a connection beyond the limit is closed, and the others are still served', async () => {
  await using one = await bounded({ max: 10 });
  const first = Array.from({ length: 10 }, () => opened(one.served.port));
  expect(await askAll(first)).toEqual(Array(10).fill(true));

  const beyond = await ask(opened(one.served.port));

  expect(beyond).toBeUndefined();
  expect(await askAll(first)).toEqual(Array(10).fill(true));
  const text = await one.metrics.registry.metrics();
  expect(text).toContain('tollgate_http_connections{listener="data"} 10');
  expect(text).toContain('tollgate_http_refused_connections_total{listener="data",reason="total"} 1');
});

test('a slot is free again when a connection ends', async () => {
  await using one = await bounded({ max: 1 });
  const first = opened(one.served.port);
  await askAll([first]);
  first.destroy();
  await until(
    () => one.metrics.registry.metrics(),
    text => text.includes('tollgate_http_connections{listener="data"} 0'),
  );

  expect(await askAll([opened(one.served.port)])).toEqual([true]);
});

test('when all slots are taken, the longest idle connection is closed after 5 seconds', async () => {
  await using one = await bounded({ max: 2 });
  const [oldest, other] = [opened(one.served.port), opened(one.served.port)];
  await askAll([oldest, other]);
  one.clock.advance(4_999);
  expect(await askAll([opened(one.served.port)])).toEqual([false]);
  await askAll([other]);
  one.clock.advance(1);

  expect(await askAll([opened(one.served.port)])).toEqual([true]);

  expect(await askAll([oldest, other])).toEqual([false, true]);
});

test('one address has its own limit, which does not affect others', async () => {
  await using one = await bounded({ maxPerAddress: 2 });
  const greedy = [1, 2, 3].map(() => opened(one.served.port, '127.0.0.2'));

  expect(await askAll(greedy)).toEqual([true, true, false]);
  expect(await askAll([opened(one.served.port, '127.0.0.3')])).toEqual([true]);
  expect(await one.metrics.registry.metrics()).toContain('listener="data",reason="address"} 1');
});

test('an exempt address has no limit of its own', async () => {
  await using one = await bounded({ maxPerAddress: 1, isExempt: address => address === '127.0.0.1' });

  expect(await askAll([1, 2, 3].map(() => opened(one.served.port)))).toEqual([true, true, true]);
});

test.each([
  [20_000, undefined, 10_000],
  [20_000, 50_000, 18_976],
  [20_000, 500, 500],
  [1_024, undefined, 512],
  [256, undefined, 128],
  [Number.POSITIVE_INFINITY, undefined, 10_000],
  [1, undefined, 1],
])(
  'with %d descriptors and %s requested connections, %d connections are allowed',
  (limit, wanted, allowed) => {
    expect(boundOf(limit, wanted)).toBe(allowed);
  },
);

test('the limit of this process is known', () => {
  expect(descriptorLimit()).toBeGreaterThan(0);
});
