import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HttpError } from '../../src/http/errors.ts';
import { type Served, serve } from './serve.ts';

let served: Served;

beforeAll(async () => {
  served = await serve([
    (ctx, next) => {
      if (ctx.path === '/ok') ctx.body = { query: ctx.query.q ?? null };
      else if (ctx.path === '/teapot') {
        throw new HttpError(418, 'Short and stout', {
          headers: { 'X-Pot': 'tea' },
          cause: new Error('handle'),
        });
      } else if (ctx.path === '/boom') throw new Error('password is hunter2');
      else if (ctx.path === '/throws-text') throw 'just text';
      else if (ctx.path === '/half-sent') {
        ctx.type = 'text/csv';
        ctx.set('ETag', '"never"');
        ctx.body = 'a,b';
        throw new HttpError(409, 'Changed while reading');
      } else if (ctx.path === '/refused') {
        ctx.status = 422;
        ctx.body = { why: 'no' };
      } else return next();
      return;
    },
  ]);
});
afterAll(() => served[Symbol.asyncDispose]());

test('no answer may be sniffed as another type, even one to bytes that are no request', async () => {
  for (const path of ['/ok', '/teapot', '/boom', '/nowhere']) {
    const { headers } = await fetch(served.url + path);
    expect(headers.get('x-content-type-options'), path).toBe('nosniff');
  }
  expect(await served.raw('nonsense\r\n\r\n')).toContain('X-Content-Type-Options: nosniff');
});

test.each(['Authorization', 'authorization', 'X-API-Key', 'Host'])(
  'a second %s header is a 400',
  async name => {
    const answer = await served.raw(
      `GET /ok HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nX-Api-Key: a\r\n${name}: a\r\nConnection: close\r\n\r\n`,
    );

    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain(`{"message":"The request has more than one ${name} header"}`);
  },
);

describe('every error is JSON that must not be stored', () => {
  test.each([
    ['/teapot', 418, { message: 'Short and stout' }],
    ['/boom', 500, { message: 'Internal server error' }],
    ['/throws-text', 500, { message: 'Internal server error' }],
    ['/half-sent', 409, { message: 'Changed while reading' }],
    ['/nowhere', 404, { message: 'Not found' }],
    ['/refused', 422, { why: 'no' }],
  ])('%s is %i', async (path, status, body) => {
    const answer = await fetch(served.url + path);

    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/);
    expect(answer.headers.get('etag')).toBeNull();
    expect(await answer.json()).toEqual(body);
  });

  test('the headers of an HttpError are sent', async () => {
    expect((await fetch(`${served.url}/teapot`)).headers.get('x-pot')).toBe('tea');
  });

  test('HEAD has the headers of GET, without the body', async () => {
    for (const path of ['/ok', '/teapot', '/nowhere', '/boom']) {
      const get = await fetch(served.url + path);
      const head = await fetch(served.url + path, { method: 'HEAD' });

      expect(head.status).toBe(get.status);
      expect(head.headers.get('content-length')).toBe(String((await get.arrayBuffer()).byteLength));
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
      expect(await head.text()).toBe('');
    }
  });

  test('the cause of a 500 is logged under the request id and not shown', async () => {
    await fetch(`${served.url}/boom`, { headers: { 'X-Request-Id': 'find-me' } });

    const entry = await served.entry(({ requestId, level }) => requestId === 'find-me' && level === 50);
    expect(entry.err).toMatchObject({ message: 'password is hunter2' });
  });
});

describe('hostile requests never become a server error', () => {
  const long = 'x'.repeat(10_000);

  test.each([
    ['a NUL byte', 'GET /a%00b HTTP/1.1', 400],
    ['a NUL byte in the query', 'GET /ok?q=%00 HTTP/1.1', 400],
    ['an invalid escape', 'GET /a%zz HTTP/1.1', 400],
    ['an escape that ends early', 'GET /a% HTTP/1.1', 400],
    ['half a character', 'GET /%E4%BD HTTP/1.1', 400],
    ['an invalid escape in the query', 'GET /ok?q=%zz HTTP/1.1', 400],
    ['an encoded parent path', 'GET /..%2f..%2fetc%2fpasswd HTTP/1.1', 404],
    ['a parent path', 'GET /../../etc/passwd HTTP/1.1', 404],
    ['a doubly encoded parent path', 'GET /%252e%252e%252f HTTP/1.1', 404],
    ['two slashes', 'GET //evil.example/ok HTTP/1.1', 404],
    ['two slashes, a user and a wrong port', 'GET //u@h:99999999/ HTTP/1.1', 404],
    ['absolute form of another scheme', 'GET ftp://evil.example/ok HTTP/1.1', 400],
    ['asterisk form', 'OPTIONS * HTTP/1.1', 400],
    ['a fragment', 'GET /ok#part HTTP/1.1', 400],
    ['bytes beyond ASCII', 'GET /caf\xe9 HTTP/1.1', 400],
    ['an unknown method', 'BREW /ok HTTP/1.1', 400],
    ['a query of 10 kB', `GET /ok?q=${long} HTTP/1.1`, 200],
    ['a path of 10 kB', `GET /${long} HTTP/1.1`, 404],
    ['a target beyond all limits', `GET /ok?q=${long}${long} HTTP/1.1`, 431],
    ['no version', 'GET /ok', 400],
    ['a future version', 'GET /ok HTTP/9.9', 400],
    ['nonsense', '\x16\x03\x01 hello', 400],
  ])('%s', async (_, line, status) => {
    const answer = await served.raw(`${line}\r\nHost: x\r\nConnection: close\r\n\r\n`);

    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head.split('\r\n')[0]).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(head).toMatch(/content-type: application\/json; charset=utf-8/i);
    const parsed: unknown = JSON.parse(body);
    expect(parsed).toEqual(status === 200 ? { query: long } : { message: expect.any(String) });
  });

  test.each([
    ['no host', '', 400],
    ['two hosts', 'Host: a\r\nHost: b\r\n', 400],
    ['an invalid host', 'Host: <script>\r\n', 200],
    [
      'repeated and broken headers',
      `Host: x\r\n${'Accept-Encoding: ;;q=,,\r\n'.repeat(3)}If-None-Match: "\r\nX-Forwarded-For: ${','.repeat(500)}\r\n`,
      200,
    ],
    [
      'a request id that does not belong into a log',
      'Host: x\r\nX-Request-Id: a b\r\nX-Request-Id: c\r\n',
      200,
    ],
    ['headers beyond all limits', `Host: x\r\nX-Long: ${long}${long}\r\n`, 431],
    ['a header without a name', 'Host: x\r\n: y\r\n', 400],
    ['two lengths', 'Host: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n', 400],
    ['an upgrade', 'Host: x\r\nUpgrade: websocket\r\n', 200],
  ])('%s', async (_, headers, status) => {
    const answer = await served.raw(`GET /ok HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`);

    expect(answer.split('\r\n')[0]).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toMatch(/application\/json/i);
  });

  test('a body that becomes malformed is refused while it is read', async () => {
    await using reading = await serve([
      async ctx => {
        for await (const chunk of ctx.req) ctx.body = String(chunk);
      },
    ]);

    const answer = await reading.raw(
      'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    );

    expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*\{"message":"The request is not valid HTTP"\}$/);
  });

  test('after all of them the server still answers', async () => {
    expect((await fetch(`${served.url}/ok`)).status).toBe(200);
  });
});

test('another family of routes has its own form of errors, with path and request id', async () => {
  await using other = await serve([], {
    formatError: (status, message, { path, requestId }) => ({ error: { status, message, path, requestId } }),
  });

  const answer = await fetch(`${other.url}/api/v1/x?key=1`, { headers: { 'X-Request-Id': 'r1' } });

  expect(await answer.json()).toEqual({
    error: { status: 404, message: 'Not found', path: '/api/v1/x', requestId: 'r1' },
  });
  expect(await other.raw('nonsense\r\n\r\n')).toMatch(/\{"error":\{"status":400,/);
});

test('an error that cannot be formatted is still answered', async () => {
  await using broken = await serve([], {
    formatError: () => {
      throw new Error('no words');
    },
  });

  const answer = await fetch(`${broken.url}/x`);

  expect([answer.status, await answer.json()]).toEqual([404, { message: 'Not found' }]);
});
