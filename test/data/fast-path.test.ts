import fc from 'fast-check';
import type { Middleware } from 'koa';
import { describe, expect, test } from 'vitest';
import { errorBodies } from '../../src/contract/contracts/contract.ts';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { mount } from '../../src/contract/mount/mount.ts';
import { explorer } from '../../src/data/explorer/operations.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { serve } from '../http/serve.ts';
import { keptConnection } from '../support/kept-connection.ts';
import { manualClock } from '../support/manual-clock.ts';
import { answererOver, backend, chain, emptyPage, failure, hashOf } from './answer-support.ts';

const FINAL = `/explorer/transactions/${hashOf('a')}/token-transfers`;
const UNSETTLED = `/explorer/transactions/${hashOf('d')}/token-transfers`;
const MISSING = `/explorer/transactions/${hashOf('e')}/token-transfers`;
const LONG = `/explorer/transactions/${hashOf('a')}/raw-trace`;
const CLIENT = '203.0.113.7';

/** One service over a back end in memory. `ordinary` counts the requests that reached its routes. */
async function service({ clock = manualClock(), isQuick = true, rateLimitPerMinute = 1_000_000 } = {}) {
  const state: { ordinary: number; revision: string | undefined } = { ordinary: 0, revision: '1' };
  const first = backend({
    name: 'first',
    validity: () => {
      if (state.revision === undefined) throw new Error('nobody knows');
      return { revision: state.revision, epoch: '0' };
    },
    answers: {
      listTransactionTokenTransfers: async ({ path }) => {
        if (path.transaction_hash === hashOf('e')) throw failure('not_found');
        return { ...emptyPage(), confirmations: path.transaction_hash === hashOf('a') ? 12 : 1 };
      },
      getTransactionRawTrace: async () => ({ body: trace(), confirmations: 12 }),
    },
  });
  const metrics = createMetrics();
  const { serve: answer } = answererOver([chain(1, first)], { clock, metrics });
  const counting: Middleware = async (ctx, next) => {
    state.ordinary += 1;
    await next();
    // Without this header the fast path cannot learn the answer.
    if (!isQuick) ctx.state.repeatable = undefined;
  };
  const routes = [
    counting,
    await mount({ contract: explorerContract, handlers: explorer(answer), validateResponses: true }),
  ];
  const served = await serve(routes, {
    clock,
    metrics,
    rateLimitPerMinute,
    trustedProxies: ['127.0.0.1'],
    formatError: errorBodies([explorerContract]),
  });
  const connection = keptConnection(served.port);
  return {
    ...served,
    clock,
    state,
    /** The answer to a GET with these header lines. */
    get: (target: string, ...headers: string[]) =>
      connection.exchange(
        `GET ${target} HTTP/1.1\r\nHost: x\r\n${headers.map(line => `${line}\r\n`).join('')}\r\n`,
      ),
    exchange: connection.exchange,
    async [Symbol.asyncDispose]() {
      connection.close();
      await served.close(0);
    },
  };
}

/** Long enough to be compressed. */
function trace() {
  return Array.from({ length: 20 }, (_, place) => ({
    action: {
      callType: 'call' as const,
      from: `0x${'1'.repeat(40)}`,
      gas: '0x5208',
      input: '0x',
      to: `0x${'2'.repeat(40)}`,
      value: `0x${place.toString(16)}`,
    },
    result: { gasUsed: '0x0', output: '0x' },
    subtraces: 0,
    transactionHash: hashOf('a'),
    traceAddress: [place],
    type: 'call' as const,
  }));
}

/** One of the values, or none: `weight` times as likely. */
const orNone = (weight: number, ...values: readonly string[]) =>
  fc.oneof(
    { weight, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom(...values) },
  );

/** Requests that a hit may answer, weighted towards those. */
const requests = (tags: readonly string[]) =>
  fc.record({
    method: fc.constantFrom('GET', 'GET', 'GET', 'GET', 'GET', 'HEAD', 'HEAD', 'OPTIONS', 'POST'),
    target: fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(FINAL, LONG) },
      {
        weight: 1,
        arbitrary: fc.constantFrom(UNSETTLED, MISSING, '/explorer/nothing', `${FINAL}?type=ERC-20`),
      },
      { weight: 1, arbitrary: fc.constantFrom('/explorer/blocks/x', `${FINAL}%00`, `http://y${FINAL}`) },
    ),
    version: fc.oneof(
      { weight: 20, arbitrary: fc.constant('1.1') },
      { weight: 1, arbitrary: fc.constant('1.0') },
    ),
    headers: fc.record({
      Host: fc.oneof(
        { weight: 20, arbitrary: fc.constant('x') },
        { weight: 1, arbitrary: fc.constant(undefined) },
      ),
      'Accept-Encoding': orNone(
        1,
        '',
        'identity',
        'gzip',
        'br',
        'gzip, br',
        '*',
        'br;q=0, gzip;q=0.5',
        'x-gzip',
        'zstd',
      ),
      'If-None-Match': orNone(2, '*', '"other"', ...tags, ...tags.map(tag => `W/${tag}`), tags.join(', ')),
      'X-Request-Id': orNone(2, 'mine', 'not one'),
      'X-Forwarded-For': orNone(2, CLIENT, `${CLIENT}, 127.0.0.1`, 'nonsense', '::1'),
      Range: orNone(5, 'bytes=0-1'),
      Origin: orNone(2, 'https://page.example'),
      'Cache-Control': orNone(20, 'no-cache', 'max-age=0'),
      Connection: orNone(10, 'keep-alive', 'close'),
      'Content-Length': orNone(20, '0'),
      Expect: orNone(30, 'more'),
      'X-Api-Key': orNone(20, 'a', 'a\r\nX-Api-Key: b'),
      'X-Long': orNone(30, 'a'.repeat(17_000)),
    }),
    waitMs: fc.constantFrom(0, 0, 0, 400, 2_500, 11_000),
    newRevision: fc.oneof(
      { weight: 60, arbitrary: fc.constant(false) },
      { weight: 1, arbitrary: fc.constant(true) },
    ),
  });

function textOf({
  method,
  target,
  version,
  headers,
}: {
  method: string;
  target: string;
  version: string;
  headers: object;
}) {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}\r\n`],
  );
  return `${method} ${target} HTTP/${version}\r\n${lines.join('')}\r\n`;
}

/** Header values that differ between requests. */
const CHANGING = /^(X-Request-Id|Age|Date|RateLimit-Reset|RateLimit): .*$/gim;
const comparable = (answer: string) => answer.replaceAll(CHANGING, '$1');
const header = (answer: string, name: string) => new RegExp(`^${name}: (.*)\r$`, 'im').exec(answer)?.[1];
const tagOf = (answer: string) => header(answer, 'etag') ?? '';

describe('a repeated hit', () => {
  test('is byte for byte the ordinary answer to any request', async () => {
    const clock = manualClock();
    await using quick = await service({ clock });
    await using slow = await service({ clock, isQuick: false });
    const tags = await Promise.all(
      ['identity', 'br', 'gzip'].map(async coding =>
        tagOf(await slow.get(LONG, `Accept-Encoding: ${coding}`)),
      ),
    );
    const final = tagOf(await slow.get(FINAL));
    for (const coding of ['identity', 'br', 'gzip']) await quick.get(LONG, `Accept-Encoding: ${coding}`);
    await quick.get(FINAL);
    let sent = 0;

    await fc.assert(
      fc.asyncProperty(requests([...tags, final]), async request => {
        clock.advance(request.waitMs);
        if (request.newRevision) quick.state.revision = slow.state.revision = `${sent}`;
        sent += 1;
        const text = textOf(request);
        const hasBody = request.method !== 'HEAD';

        const answers = [await quick.exchange(text, hasBody), await slow.exchange(text, hasBody)];

        expect(comparable(answers[0] ?? '')).toBe(comparable(answers[1] ?? ''));
      }),
      { numRuns: 2_000 },
    );

    expect(slow.state.ordinary - quick.state.ordinary).toBeGreaterThan(sent / 5);
  });

  test('does not reach the routes, and has an Age', async () => {
    await using quick = await service();
    for (let time = 0; time < 3; time++) await quick.get(FINAL);
    const before = quick.state.ordinary;

    quick.clock.advance(7_000);
    const answer = await quick.get(FINAL);

    expect(quick.state.ordinary).toBe(before);
    expect(header(answer, 'age')).toBe('7');
    expect(header(answer, 'x-cache')).toBe('HIT');
  });

  test('ends when it expires, when its revision changes, and for a client with another encoding', async () => {
    await using quick = await service();
    const ways: Record<string, string | undefined> = {};
    const hit = async (target: string) => {
      for (let time = 0; time < 3; time++) await quick.get(target);
    };

    await hit(UNSETTLED);
    quick.clock.advance(10_000);
    ways.late = header(await quick.get(UNSETTLED), 'x-cache');
    await hit(UNSETTLED);
    quick.state.revision = '2';
    ways.revised = header(await quick.get(UNSETTLED), 'x-cache');
    await hit(LONG);
    ways.compressed = header(await quick.get(LONG, 'Accept-Encoding: br'), 'content-encoding');

    expect(ways).toEqual({ late: 'MISS', revised: 'MISS', compressed: 'br' });
  });

  test('counts towards its client’s rate limit, and is a 429 beyond it', async () => {
    await using quick = await service({ rateLimitPerMinute: 5 });
    const statuses: string[] = [];
    const remaining: (string | undefined)[] = [];

    for (let time = 0; time < 7; time++) {
      const answer = await quick.get(FINAL, `X-Forwarded-For: ${CLIENT}`);
      statuses.push(answer.slice(9, 12));
      remaining.push(header(answer, 'ratelimit-remaining'));
    }
    const exempt = await quick.get(FINAL);

    expect(statuses).toEqual(['200', '200', '200', '200', '200', '429', '429']);
    expect(remaining).toEqual(['4', '3', '2', '1', '0', '0', '0']);
    expect(header(exempt, 'ratelimit-limit')).toBeUndefined();
  });

  test('is logged and counted in the metrics like any other request', async () => {
    await using quick = await service();
    for (let time = 0; time < 5; time++) await quick.get(LONG);

    await quick.entry(() => quick.entries.filter(({ msg }) => msg === 'request').length === 5);
    const lines = quick.entries.filter(({ msg }) => msg === 'request');
    const [, ordinary, ...fast] = lines.map(({ time, requestId, durationMs, ...line }) => line);
    const counted = await quick.metrics.registry.metrics();

    expect(quick.state.ordinary).toBe(2);
    for (const line of fast) expect(line).toEqual(ordinary);
    const of = 'operation="getTransactionRawTrace"';
    expect(counted).toContain(`tollgate_http_requests_total{${of},status="200"} 5`);
    expect(counted).toContain(`tollgate_http_request_duration_seconds_count{${of}} 5`);
    expect(counted).toContain('tollgate_cache_results_total{result="hit"} 4');
  });

  test('behind an earlier request of its connection is not overtaken by the refusal of a malformed request', async () => {
    await using quick = await service();
    for (let time = 0; time < 3; time++) await quick.get(FINAL);
    const hit = `GET ${FINAL} HTTP/1.1\r\nHost: x\r\n\r\n`;

    const answer = await quick.raw(`${hit}${hit}nonsense\r\n\r\n`).catch(String);

    expect(answer).not.toContain('HTTP/1.1 400');
  });

  test('with unknown validity takes the ordinary path', async () => {
    await using quick = await service();
    for (let time = 0; time < 3; time++) await quick.get(UNSETTLED);
    quick.state.revision = undefined;

    const answer = await quick.get(UNSETTLED);

    expect(answer.slice(9, 12)).toBe('500');
  });

  test('does not keep open a connection that is being drained', async () => {
    const quick = await service();
    for (let time = 0; time < 3; time++) await quick.get(FINAL);

    await quick.close(60_000);

    expect(await quick.get(FINAL).catch(String)).not.toContain('HTTP/1.1');
  });
});
