import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Middleware } from 'koa';
import { describe, expect, test } from 'vitest';
import { createAdminApp } from '../../src/http/app/admin.ts';
import { healthRoutes, type ReadinessCheck } from '../../src/http/health.ts';
import { createMetrics, type Metrics } from '../../src/http/metrics.ts';
import { plainRouter } from '../../src/http/plain-router.ts';
import { uncompressed } from '../../src/http/representation.ts';
import { sendRepresentation } from '../../src/http/send.ts';
import { listen } from '../../src/http/server/server.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { type Served, serve } from './serve.ts';

const log = createLogger({ level: 'silent' });

describe('the request id', () => {
  test.each(['abc', 'A.b_c-9', 'x'.repeat(128)])('%s is kept', async id => {
    await using served = await serve([]);

    const answer = await fetch(served.url, { headers: { 'X-Request-Id': id } });

    expect(answer.headers.get('x-request-id')).toBe(id);
  });

  test.each(['', 'a b', 'a"b', 'x'.repeat(129), 'é'])('%o is replaced', async id => {
    await using served = await serve([]);

    const answer = await fetch(served.url, { headers: { 'X-Request-Id': id } });

    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

/** A server with health routes whose only check passes when it is told to. */
async function servedChecks() {
  const asked = Promise.withResolvers<void>();
  const passed = Promise.withResolvers<void>();
  const plain = plainRouter();
  const slow: ReadinessCheck = async () => {
    asked.resolve();
    await passed.promise;
    return { ok: false };
  };
  healthRoutes(plain, { checks: () => ({ slow }) });
  const served = await serve([], { plain });
  return { served, asked: asked.promise, pass: passed.resolve };
}

describe('health checks', () => {
  test('are not among the counted requests of clients', async () => {
    const { served, pass } = await servedChecks();
    await using _ = served;
    pass();

    const [live, ready] = [await fetch(`${served.url}/healthz`), await fetch(`${served.url}/readyz`)];
    await fetch(`${served.url}/nothing`);

    const { registry } = served.metrics;
    const counted = (await registry.metrics()).match(/^tollgate_http_requests_total\{.*$/gm);
    expect([live.status, ready.status]).toEqual([200, 503]);
    expect(counted).toEqual(['tollgate_http_requests_total{operation="none",status="404"} 1']);
  });

  test('that the client aborts leave a line of the access log and no stack', async () => {
    const { served, asked, pass } = await servedChecks();
    await using _ = served;
    const socket = connect(served.port, '127.0.0.1');
    socket.write('GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await asked;

    socket.resetAndDestroy();
    const line = await served.entry(({ msg }) => msg === 'request');
    pass();
    await fetch(`${served.url}/healthz`);
    await served.entry(({ path }) => path === '/healthz');

    expect(line).toMatchObject({ path: '/readyz', aborted: true });
    expect(served.entries.filter(({ err }) => err !== undefined)).toEqual([]);
  });
});

describe('the access log', () => {
  test('has one line per request, with the facts to find and judge it', async () => {
    await using served = await serve([
      ctx => {
        ctx.state.operationId = 'getThing';
        ctx.state.loggedParameters = new Set(['page']);
        ctx.set('X-Cache', 'HIT');
        ctx.body = { ok: true };
      },
    ]);

    await fetch(`${served.url}/things/7?page=2`, {
      headers: { 'X-Request-Id': 'seen', Cookie: 'session=hunter2' },
    });

    const entry = await served.entry(({ msg }) => msg === 'request');
    expect(entry).toEqual({
      level: 30,
      time: expect.any(String),
      msg: 'request',
      requestId: 'seen',
      method: 'GET',
      path: '/things/7?page=2',
      operationId: 'getThing',
      status: 200,
      durationMs: expect.any(Number),
      bytes: 11,
      cache: 'HIT',
    });
    expect(served.entries.filter(({ msg }) => msg === 'request')).toHaveLength(1);
  });

  test.each([
    ['/x?apikey=hunter2', '/x?apikey=***'],
    ['/x?a=1&API_KEY=hunter2&b=2', '/x?a=1&API_KEY=***&b=***'],
    ['/x?customer_email=hunter2@private.example', '/x?customer_email=***'],
    ['/x?hunter2%40private.example', '/x?***'],
    ['/x?hunter2%40private.example=1', '/x?***=***'],
    ['/x?filter[email]=hunter2', '/x?filter[email]=***'],
    [
      '/x?key=hunter2&token=hunter2&secret=hunter2&password=hunter2',
      '/x?key=***&token=***&secret=***&password=***',
    ],
    ['/x?%6bey=hunter2', '/x?%6bey=***'],
    ['/x?client_secret=hunter2=&access_token=hunter2', '/x?client_secret=***&access_token=***'],
    ['/x?token_id=7&%61=1&next', '/x?token_id=7&%61=1&next'],
    ['/x?%zz=hunter2', '/x?***=***'],
    ['/pay/s/cs_AbCdSECRETsecret0123456789', '/pay/s/cs_AbCd***'],
    [
      '/api/v1/pay/sessions/%63s_AbCdSECRETsecret/status?wait=25',
      '/api/v1/pay/sessions/cs_AbCd***/status?wait=***',
    ],
    ['/x?a=/pay/s/cs_AbCdSECRETsecret&b=2', '/x?a=/pay/s/cs_AbCd***&b=***'],
    ['/x?a=%2Fpay%2Fs%2Fcs_AbCdSECRETsecret', '/x?a=/pay/s/cs_AbCd***'],
    ['/keys/tg_live_AbCdSECRETsecret', '/keys/tg_live_AbCd***'],
    ['/docs/%61bc_cs?a=%zz', '/docs/%61bc_cs?a=***'],
  ])('%s is written as %s', async (target, written) => {
    await using served = await serve([
      (ctx, next) => {
        ctx.state.loggedParameters = new Set(['a', 'page', 'token_id', 'key']);
        return next();
      },
    ]);

    await served.raw(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);

    const entry = await served.entry(({ msg }) => msg === 'request');
    expect(entry.path).toBe(written);
    expect(JSON.stringify(served.entries)).not.toMatch(/hunter2|SECRET/);
  });

  test('reports a client that hung up, and ends a line at 2 kB', async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    await using served = await serve([
      async ctx => {
        arrive();
        await new Promise(resolve => ctx.req.once('close', resolve));
        ctx.body = 'late';
      },
    ]);
    const hangUp = new AbortController();

    const asked = fetch(`${served.url}/${'x'.repeat(5_000)}`, { signal: hangUp.signal }).catch(() => 'gone');
    await arrived;
    hangUp.abort();

    expect(await asked).toBe('gone');
    const entry = await served.entry(({ msg }) => msg === 'request');
    expect([entry.aborted, entry.status]).toEqual([true, 499]);
    expect(String(entry.path)).toHaveLength(2_048);
  });
});

test('the access log includes the time that a repeated hit waits for its rate limit', async () => {
  const answer = { representation: uncompressed('{}'), storedAt: 0 };
  const hit: Middleware = ctx => {
    ctx.state.repeatable = { answer, current: () => answer };
    sendRepresentation(ctx, answer.representation, { 'X-Cache': 'HIT', Age: '0' });
  };
  const counters = () => () => delay(50, { limit: 9, remaining: 8, msLeft: 60_000, isRefused: false });
  await using served = await serve([hit], { rateLimitPerMinute: 9, counters, trustedProxies: ['127.0.0.1'] });
  const lines = () => served.entries.filter(({ msg }) => msg === 'request');

  for (let time = 0; time < 3; time += 1)
    await fetch(served.url, { headers: { 'X-Forwarded-For': '203.0.113.7' } });

  await served.entry(() => lines().length === 3);
  for (const { durationMs } of lines()) expect(durationMs).toBeGreaterThan(40);
});

describe('metrics', () => {
  async function scraped(metrics: Metrics, path = '/metrics', method = 'GET') {
    const admin = await listen({ app: createAdminApp({ metrics, log }), host: '127.0.0.1', port: 0, log });
    const answer = await fetch(admin.url + path, { method });
    const text = await answer.text();
    await admin.close(0);
    return { status: answer.status, type: answer.headers.get('content-type'), lines: text.split('\n') };
  }

  test('requests are counted by operation and status, including those answered by middleware', async () => {
    await using served = await serve([
      ctx => {
        ctx.state.operationId = 'getThing';
        if (ctx.path === '/fails') throw new Error('no');
        ctx.body = 'x';
      },
    ]);
    for (const path of ['/', '/', '/fails', '/%zz']) await fetch(served.url + path);

    const { lines, type } = await scraped(served.metrics);

    expect(type).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(lines).toContain('tollgate_http_requests_total{operation="getThing",status="200"} 2');
    expect(lines).toContain('tollgate_http_requests_total{operation="getThing",status="500"} 1');
    expect(lines).toContain('tollgate_http_requests_total{operation="none",status="400"} 1');
    expect(lines).toContain('tollgate_http_request_duration_seconds_count{operation="getThing"} 3');
  });

  test('cache results, back-end calls and the state of the indexes are counted', async () => {
    const metrics = createMetrics();
    metrics.cacheResult('hit');
    metrics.backendCall({ chain: '1', backend: 'blockscout', outcome: 'unavailable', seconds: 0.2 });
    const contradictions = new Map([['rpc.example.com', 2]]);
    metrics.watchIndex(() => [
      { chain: '31337', headBlock: 300, lagBlocks: 2, unreadState: 7, provenShare: 0.5, contradictions },
    ]);
    metrics.watchIndex(async () => {
      throw new Error('the node is gone');
    });

    const { lines } = await scraped(metrics);

    expect(lines).toContain('tollgate_cache_results_total{result="hit"} 1');
    expect(lines).toContain(
      'tollgate_backend_calls_total{chain="1",backend="blockscout",outcome="unavailable"} 1',
    );
    expect(lines).toContain('tollgate_index_head_block{chain="31337"} 300');
    expect(lines).toContain('tollgate_index_lag_blocks{chain="31337"} 2');
    expect(lines).toContain('tollgate_index_unread_state{chain="31337"} 7');
    expect(lines).toContain('tollgate_index_proven_ratio{chain="31337"} 0.5');
    expect(lines).toContain('tollgate_index_contradictions_total{chain="31337",node="rpc.example.com"} 2');
  });

  test('two services in one process have separate counts', async () => {
    const [one, other] = [createMetrics({ ofProcess: true }), createMetrics()];
    one.cacheResult('hit');

    expect((await scraped(other)).lines.some(line => line.startsWith('tollgate_cache_results_total{'))).toBe(
      false,
    );
    expect((await scraped(one)).lines.some(line => line.startsWith('process_cpu_seconds_total '))).toBe(true);
  });

  test('the admin listener serves nothing else', async () => {
    expect((await scraped(createMetrics(), '/')).status).toBe(404);
    expect((await scraped(createMetrics(), '/chains')).status).toBe(404);
    expect((await scraped(createMetrics(), '/healthz')).status).toBe(200);
    expect((await scraped(createMetrics(), '/metrics', 'POST')).status).toBe(405);
    expect((await scraped(createMetrics(), '/%zz')).status).toBe(400);
  });
});

/** A server with only its health checks. */
function serveHealth(checks: Readonly<Record<string, ReadinessCheck>>): Promise<Served> {
  const plain = plainRouter();
  healthRoutes(plain, { checks: () => checks });
  return serve([], { plain });
}

describe('health', () => {
  test('a running process is alive, ready or not', async () => {
    await using served = await serveHealth({ index: () => ({ ok: false }) });

    const answer = await fetch(`${served.url}/healthz`);

    expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok' }]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect((await fetch(`${served.url}/healthz`, { method: 'HEAD' })).status).toBe(200);
  });

  test.each(['POST', 'OPTIONS'])('another method on one of its paths, such as %s, is a 405', async method => {
    await using served = await serveHealth({});

    const answer = await fetch(`${served.url}/readyz`, { method });

    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  test('it is ready when every check passes', async () => {
    await using served = await serveHealth({
      database: () => ({ ok: true }),
      index: async () => ({ ok: true, detail: 'block 7' }),
    });

    const answer = await fetch(`${served.url}/readyz`);

    expect([answer.status, await answer.json()]).toEqual([
      200,
      { status: 'ready', checks: { database: { ok: true }, index: { ok: true, detail: 'block 7' } } },
    ]);
  });

  test('requests that arrive during a check share it', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let [received, asked] = [0, 0];
    const plain = plainRouter().use((_, next) => {
      received += 1;
      return next();
    });
    const database = async () => {
      asked += 1;
      await released;
      return { ok: true };
    };
    healthRoutes(plain, { checks: () => ({ database }) });
    await using served = await serve([], { plain });

    const answers = Array.from({ length: 20 }, () => fetch(`${served.url}/readyz`));
    await expect.poll(() => received).toBe(20);
    release();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    const later = await fetch(`${served.url}/readyz`);

    expect([...new Set(statuses), later.status, asked]).toEqual([200, 200, 2]);
  });

  test('a check that fails, throws or does not return ends readiness, and is named', async () => {
    const checks = {
      good: () => ({ ok: true }),
      bad: () => ({ ok: false, detail: '5 blocks behind' }),
      broken: () => {
        throw new Error('postgres://user:hunter2@db');
      },
      stuck: () => new Promise<never>(() => {}),
    };
    await using served = await serveHealth(checks);

    const answer = await fetch(`${served.url}/readyz`);

    expect([answer.status, await answer.json()]).toEqual([
      503,
      {
        status: 'not ready',
        checks: {
          good: { ok: true },
          bad: { ok: false, detail: '5 blocks behind' },
          broken: { ok: false, detail: 'failed' },
          stuck: { ok: false, detail: 'no answer in 2000 ms' },
        },
      },
    ]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });
});
