import type { Context, Middleware } from 'koa';
import { describe, expect, test } from 'vitest';
import { uncompressed } from '../../src/http/representation.ts';
import { sendRepresentation } from '../../src/http/send.ts';
import { type Served, serve } from './serve.ts';

const answered = [
  (ctx: { body: unknown }) => {
    ctx.body = { ok: true };
  },
];

function from(served: Served, address: string, init: RequestInit = {}): Promise<Response> {
  return fetch(served.url, { ...init, headers: { ...init.headers, 'X-Forwarded-For': address } });
}

describe('requests per minute', () => {
  const limited = () => serve(answered, { rateLimitPerMinute: 2, trustedProxies: ['127.0.0.1'] });

  test('are reported, counted down, and refused with the waiting time', async () => {
    await using served = await limited();

    const answers = [
      await from(served, '203.0.113.5'),
      await from(served, '203.0.113.5'),
      await from(served, '203.0.113.5'),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers.map(({ headers }) => headers.get('ratelimit-limit'))).toEqual(['2', '2', '2']);
    expect(answers.map(({ headers }) => headers.get('ratelimit-remaining'))).toEqual(['1', '0', '0']);
    const refused = answers[2];
    const resetS = Number(refused?.headers.get('ratelimit-reset'));
    expect(resetS).toBeGreaterThan(50);
    expect(resetS).toBeLessThanOrEqual(60);
    expect(refused?.headers.get('retry-after')).toBe(String(resetS));
    expect(refused?.headers.get('ratelimit')).toBe(`"minute";r=0;t=${resetS}`);
    expect(refused?.headers.get('ratelimit-policy')).toBe('"minute";q=2;w=60');
    expect(refused?.headers.get('cache-control')).toBe('no-store');
    expect(refused?.headers.get('access-control-allow-origin')).toBe('*');
    expect(await refused?.json()).toEqual({ message: 'Too many requests' });
  });

  test('are counted per address', async () => {
    await using served = await limited();
    for (let sent = 0; sent < 3; sent++) await from(served, '203.0.113.5');

    expect((await from(served, '203.0.113.6')).status).toBe(200);
  });

  test('are counted per IPv6 /64', async () => {
    await using served = await limited();
    for (const host of ['1', '2', '3']) await from(served, `2001:db8::${host}`);

    expect((await from(served, '2001:db8::4')).status).toBe(429);
    expect((await from(served, '2001:db8:0:1::1')).status).toBe(200);
  });

  test('include the time of queries in whole requests, also beyond the limit', async () => {
    const ms: number[] = [];
    const charging = [
      (ctx: Context) => {
        for (const time of ms) ctx.state.countedClient?.charge(time);
        ctx.body = {};
      },
    ];
    const options = { rateLimitPerMinute: 10, requestsPerQuerySecond: 20, trustedProxies: ['127.0.0.1'] };
    await using served = await serve(charging, options);
    const remaining = async (...times: number[]) => {
      ms.splice(0, ms.length, ...times);
      const { status, headers } = await from(served, '203.0.113.5');
      return [status, headers.get('ratelimit-remaining')];
    };

    expect(await remaining(49)).toEqual([200, '9']);
    expect(await remaining(30, 30)).toEqual([200, '8']);
    expect(await remaining(10_000)).toEqual([200, '6']);
    expect(await remaining()).toEqual([429, '0']);
    expect((await from(served, '203.0.113.6')).status).toBe(200);
  });

  test('are counted in the limit of their target, also when a hit is repeated', async () => {
    const answer = { representation: uncompressed('{}'), storedAt: 0 };
    let ordinary = 0;
    const hit: Middleware = ctx => {
      ordinary += 1;
      ctx.state.repeatable = { answer, current: () => answer };
      sendRepresentation(ctx, answer.representation, { 'X-Cache': 'HIT', Age: '0' });
    };
    const pageLimit = {
      requestsPerMinute: 4,
      covers: (target: string) => target === '/page',
      refuse: () => false,
    };
    await using served = await serve([hit], {
      rateLimitPerMinute: 2,
      pageLimit,
      trustedProxies: ['127.0.0.1'],
    });
    const get = async (path: string) => {
      const { status, headers } = await fetch(served.url + path, {
        headers: { 'X-Forwarded-For': '203.0.113.5' },
      });
      return `${status} ${headers.get('ratelimit-limit')} ${headers.get('ratelimit-remaining')}`;
    };

    const pages = [await get('/page'), await get('/page'), await get('/page')];
    const others = [await get('/other'), await get('/other'), await get('/other')];
    const more = [await get('/page'), await get('/page')];

    expect(pages).toEqual(['200 4 3', '200 4 2', '200 4 1']);
    expect(others).toEqual(['200 2 1', '200 2 0', '429 2 0']);
    expect(more).toEqual(['200 4 0', '429 4 0']);
    expect(ordinary).toBe(2);
  });

  test('are not counted for loopback', async () => {
    await using served = await limited();

    for (let sent = 0; sent < 5; sent++) {
      const answer = await fetch(served.url);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('ratelimit-limit')).toBeNull();
    }
  });

  test.each([
    ['X-Forwarded-For', '203.0.113.5'],
    ['X-Forwarded-For', '127.0.0.1'],
    ['Forwarded', 'for=203.0.113.5'],
    ['X-Real-IP', '203.0.113.5'],
    ['Via', '1.1 gateway'],
  ])('are counted for an untrusted proxy on this machine by its own address: %s %s', async (name, value) => {
    await using served = await serve(answered, { rateLimitPerMinute: 2 });
    const forwarded = () => fetch(served.url, { headers: { [name]: value } });

    const statuses = [(await forwarded()).status, (await forwarded()).status, (await forwarded()).status];

    expect(statuses).toEqual([200, 200, 429]);
    expect((await fetch(served.url)).status).toBe(200);
  });

  test.each(['unknown', '203.0.113.5, _hidden', ''])(
    'are counted for a trusted proxy that does not name its client: "%s"',
    async hops => {
      await using served = await limited();
      for (let sent = 0; sent < 2; sent++) await from(served, hops);

      expect((await from(served, hops)).status).toBe(429);
    },
  );

  test('are not counted for a local client of a trusted proxy', async () => {
    await using served = await serve(answered, { rateLimitPerMinute: 2, trustedProxies: ['127.0.0.1'] });

    for (let sent = 0; sent < 5; sent++) expect((await from(served, '::1')).status).toBe(200);
  });

  test('cannot be evaded by an invented hop', async () => {
    await using served = await limited();
    for (const invented of ['1.1.1.1', '2.2.2.2', '127.0.0.1'])
      await from(served, `${invented}, 203.0.113.5`);

    expect((await from(served, '127.0.0.1, 203.0.113.5')).status).toBe(429);
  });
});

test('an untrusted local proxy is logged once, with the setting that trusts it', async () => {
  await using served = await serve(answered);
  await fetch(served.url);
  const before = served.entries.filter(({ level }) => level === 40);

  for (let sent = 0; sent < 3; sent++) await from(served, '203.0.113.5');

  const warnings = served.entries.filter(({ level }) => level === 40);
  expect(before).toEqual([]);
  expect(warnings).toEqual([expect.objectContaining({ peer: '127.0.0.1' })]);
  expect(warnings[0]?.msg).toContain('trustedProxies');
});

test('a trusted proxy is not logged', async () => {
  await using served = await serve(answered, { trustedProxies: ['127.0.0.1'] });

  await from(served, '203.0.113.5');

  expect(served.entries.filter(({ level }) => level === 40)).toEqual([]);
});

describe('pages of other origins', () => {
  test('may read answers and see our headers', async () => {
    await using served = await serve(answered, {
      rateLimitPerMinute: 5,
      crossOrigin: { exposedHeaders: ['ETag'] },
    });

    const { headers } = await fetch(served.url, { headers: { Origin: 'https://app.example' } });

    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-expose-headers')).toBe(
      'X-Request-Id, Retry-After, Allow, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, RateLimit, RateLimit-Policy, ETag',
    );
  });

  test.each(['GET', 'HEAD'])('are allowed by a preflight to %s, with the headers they name', async method => {
    await using served = await serve(answered);

    const answer = await fetch(served.url, {
      method: 'OPTIONS',
      headers: {
        'Access-Control-Request-Method': method,
        'Access-Control-Request-Headers': 'x-api-key, authorization',
      },
    });

    expect(answer.status).toBe(204);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('access-control-allow-methods')).toBe('GET, HEAD');
    expect(answer.headers.get('access-control-allow-headers')).toBe('x-api-key, authorization');
    expect(answer.headers.get('vary')).toBe('Access-Control-Request-Headers');
    expect(await answer.text()).toBe('');
  });

  test.each(['POST', 'DELETE'])('are not allowed by a preflight to %s', async method => {
    await using served = await serve(answered);

    const preflight = await fetch(served.url, {
      method: 'OPTIONS',
      headers: { 'Access-Control-Request-Method': method },
    });
    const itself = await fetch(served.url, { method });

    expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
    expect(itself.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('may POST only where a service allows it', async () => {
    await using served = await serve(answered, {
      crossOrigin: { exposedHeaders: [], isPostAllowed: path => path.startsWith('/open/') },
    });
    const preflight = (path: string) =>
      fetch(served.url + path, {
        method: 'OPTIONS',
        headers: {
          'Access-Control-Request-Method': 'POST',
          'Access-Control-Request-Headers': 'content-type',
        },
      });

    const [open, closed] = [await preflight('/open/a?b'), await preflight('/closed?/open/')];
    const posted = await fetch(`${served.url}/open/a`, { method: 'POST' });

    expect([open.status, open.headers.get('access-control-allow-methods')]).toEqual([204, 'GET, HEAD, POST']);
    expect(open.headers.get('access-control-allow-headers')).toBe('content-type');
    expect(closed.headers.get('access-control-allow-origin')).toBeNull();
    expect(posted.headers.get('access-control-allow-origin')).toBe('*');
  });

  test('may read errors, too', async () => {
    await using served = await serve([]);

    const answer = await fetch(served.url);

    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([404, '*']);
  });
});
