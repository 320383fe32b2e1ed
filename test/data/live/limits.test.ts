import { once } from 'node:events';
import { connect } from 'node:net';
import { test as base, describe, expect } from 'vitest';
import type { DataServiceOptions } from '#data/service.ts';
import { createMetrics } from '#http/metrics.ts';
import { systemClock } from '#lib/clock.ts';
import { servedTestChain } from '../../indexer/support.ts';
import { startTestDataService, type TestDataService } from '../../lab/data-service.ts';
import { startPaymentChain, type TestPaymentChain } from '../../lab/payment-chain.ts';
import { until } from '../../lab/until.ts';
import { client } from '../../support/contract-client.ts';
import { openLive } from '../../support/live-client.ts';

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
  .extend('chain', { scope: 'file' }, async ({}, { onCleanup }): Promise<TestPaymentChain> => {
    const chain = await startPaymentChain({ clock: systemClock });
    onCleanup(chain.stop);
    return chain;
  })
  .extend('service', { scope: 'file' }, async ({ chain }, { onCleanup }): Promise<TestDataService> => {
    const service = await serve(chain, { trustedProxies: ['127.0.0.1'] });
    onCleanup(service.close);
    return service;
  });

function serve(chain: TestPaymentChain, options: Partial<DataServiceOptions> = {}) {
  return startTestDataService([servedTestChain(chain.rpcUrl)], options);
}

/** Headers of a client behind a proxy, which has limits. */
const from = (address: string) => ({ 'x-forwarded-for': address });

describe('a stream is refused', () => {
  test.for([
    [
      'of a chain that is not configured',
      '?chain_id=7',
      'chain_id: must be one of the configured chains 31337',
    ],
    [
      'that watches another chain',
      `?watch=7:address:0x${'1'.repeat(40)}`,
      'watch: must name a chain of the stream',
    ],
    ['that watches no address', '?watch=31337:address:0x12', 'watch: value 1 must be a chain id'],
    ['with a cursor that no stream sent', '?cursor=abc', 'cursor: must be the id of an event of this stream'],
    ['with a cursor of other characters', '?cursor=a.b', 'cursor: must be the id of an event of this stream'],
    ['with a cursor that is no list', '?cursor=e30', 'cursor: must be the id of an event of this stream'],
    ['with a cursor of half a hash', '?cursor=W1sxLDIsImFiIl1d', 'cursor: must be the id'],
  ])('%s', async ([, query, message], { service }) => {
    const { status, body } = await client(service.url).get(`/explorer/live${query}`);

    expect([status, body]).toEqual([400, { message: expect.stringContaining(String(message)) }]);
  });

  test('with a Last-Event-ID that no stream sent', async ({ service }) => {
    const { status, body } = await client(service.url).get('/explorer/live', { 'last-event-id': 'a.b' });

    expect([status, body]).toEqual([
      400,
      { message: 'Last-Event-ID: must be the id of an event of this stream' },
    ]);
  });
});

test('the limit of streams per client address leaves other clients alone, and frees its places', async ({
  chain,
}) => {
  const live = { streams: 5, streamsPerClient: 2 };
  await using service = await serve(chain, { live, trustedProxies: ['127.0.0.1'] });
  const first = await openLive(service.url, '', from('192.0.2.1'));
  await using second = await openLive(service.url, '', from('192.0.2.1'));

  const refused = await client(service.url).get('/explorer/live', from('192.0.2.1'));
  await using other = await openLive(service.url, '', from('192.0.2.2'));
  first.close();
  const again = await until(
    () => openLive(service.url, '', from('192.0.2.1')),
    ({ status }) => status === 200,
  );
  await using fifth = await openLive(service.url);
  await using sixth = await openLive(service.url);
  const full = await client(service.url).get('/explorer/live');

  expect([refused.status, refused.body, refused.headers.get('retry-after')]).toEqual([
    429,
    { message: '2 streams are open from your address, which is the limit' },
    '5',
  ]);
  expect([second, other, again, fifth, sixth].map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect([full.status, full.body]).toEqual([503, { message: 'This process has too many open streams' }]);
  again.close();
});

test('opening a stream counts as one request, and it is never compressed', async ({ service }) => {
  await using stream = await openLive(service.url, '', {
    ...from('192.0.2.3'),
    'accept-encoding': 'gzip, br',
  });
  await stream.next({ event: 'head' });

  expect(stream.headers).toMatchObject({
    'ratelimit-remaining': '599',
    'x-accel-buffering': 'no',
    'access-control-allow-origin': '*',
  });
  expect(stream.headers['content-encoding']).toBeUndefined();
});

test('HEAD opens no stream that stays', async ({ chain }) => {
  const metrics = createMetrics();
  await using service = await serve(chain, { metrics });

  const { status, headers } = await fetch(`${service.url}/explorer/live`, { method: 'HEAD' });

  expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  await until(
    () => metrics.registry.metrics(),
    text => text.includes('tollgate_live_streams 0'),
  );
});

test('a client that does not read is dropped, and others are not', async ({ chain }) => {
  const metrics = createMetrics();
  const live = { streams: 10, streamsPerClient: 10, unreadBytes: 4_000 };
  // The check of events has buffers of its own; the reader checks them too.
  await using service = await serve(chain, { live, metrics, validateResponses: false });
  const [, payer, receiver = ''] = chain.accounts;
  const watches = [`address:${payer}`, `address:${receiver}`, `token:${chain.token}`];
  const watch = `/explorer/live?watch=${watches.map(one => `31337:${one}`).join()}`;
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  // The response to the second of two requests on a connection waits for the end of the first, which never comes.
  for (const path of ['/explorer/live', watch]) socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  await once(socket, 'data');
  await using reader = await openLive(service.url, watch.slice('/explorer/live'.length));
  await reader.next({ event: 'head' });

  for (let sent = 0; sent < 60; sent += 1) await chain.pay({ from: 1, to: receiver, amount: 1n });
  for (let blocks = 0; blocks < 4; blocks += 1) await chain.mine(4);

  await until(
    () => metrics.registry.metrics(),
    text => text.includes('tollgate_live_dropped_streams_total 1'),
  );
  await reader.next({ event: 'activity', state: 'final' });
  expect(await metrics.registry.metrics()).toContain('tollgate_live_streams 3');
  socket.destroy();
});

test('a stop ends streams with a time to reconnect, and a cursor that another process knows', async ({
  chain,
}) => {
  const [stopping, other] = await Promise.all([serve(chain), serve(chain)]);
  await using stream = await openLive(stopping.url);
  const { id } = await stream.next({ event: 'head' });

  const stopped = stopping.close();
  await stream.ended;
  await stopped;
  await chain.mine();
  await using moved = await openLive(other.url, '', { 'Last-Event-ID': id });
  await moved.next({ event: 'head', block_number: await chain.head() });

  expect(stream.retryMs()).toBeGreaterThanOrEqual(1_000);
  expect(moved.events.filter(({ data }) => data.event === 'reset')).toEqual([]);
  await other.close();
});

test('a process that is about to stop refuses streams', async ({ chain }) => {
  await using service = await serve(chain, { isLeaving: () => true });

  const { status, body } = await client(service.url).get('/explorer/live');

  expect([status, body]).toEqual([503, { message: 'The service is stopping' }]);
});
