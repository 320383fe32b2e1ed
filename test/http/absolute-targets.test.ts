import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { represent } from '../../src/http/representation.ts';
import { sendRepresentation } from '../../src/http/send.ts';
import { rawRequest } from '../support/raw-request.ts';
import { type Served, serve } from './serve.ts';

let served: Served;

beforeAll(async () => {
  served = await serve(
    [
      async (ctx, next) => {
        if (ctx.path === '/tagged') sendRepresentation(ctx, await represent('{"a":1}'), {});
        else if (ctx.path.startsWith('/echo') || ctx.path === '/') {
          const { host } = ctx.state.client;
          ctx.body = { url: ctx.url, original: ctx.originalUrl, host, header: ctx.headers.host };
        } else return next();
        return undefined;
      },
    ],
    {
      rateLimitPerMinute: 100_000,
      crossOrigin: { exposedHeaders: [], isPostAllowed: path => path === '/echo' },
      formatError: (_status, message, { path }) => ({
        [path.startsWith('/family') ? 'error' : 'text']: message,
      }),
    },
  );
});
afterAll(() => served[Symbol.asyncDispose]());

function send(line: string, headers = 'Host: wrong.example\r\n') {
  return rawRequest(served.url, `${line}\r\n${headers}Connection: close\r\n\r\n`);
}

describe('a target in absolute form is served as its path, and its host replaces the Host header', () => {
  test.each([
    ['a path', 'http://right.example/echo', '/echo', 'right.example'],
    [
      'a path with escapes and dots',
      'http://right.example/echo/%2e/../a%2Fb',
      '/echo/%2e/../a%2Fb',
      'right.example',
    ],
    ['a query', 'http://right.example/echo?a=http://b/c', '/echo?a=http://b/c', 'right.example'],
    ['a port', 'http://right.example:8080/echo', '/echo', 'right.example:8080'],
    ['an empty port', 'http://right.example:/echo', '/echo', 'right.example'],
    ['an IPv6 address', 'http://[::1]:80/echo', '/echo', '[::1]:80'],
    ['https', 'https://right.example/echo', '/echo', 'right.example'],
    ['upper case', 'HTTP://Right.Example/echo', '/echo', 'Right.Example'],
    ['no path', 'http://right.example', '/', 'right.example'],
    ['a query without a path', 'http://right.example?a=1', '/?a=1', 'right.example'],
  ])('%s', async (_name, target, url, host) => {
    const { status, body } = await send(`GET ${target} HTTP/1.1`);

    expect([status, JSON.parse(body)]).toEqual([200, { url, original: url, host, header: host }]);
  });

  test('without a Host header, as HTTP/1.0 allows', async () => {
    const { status, body } = await send('GET http://right.example/echo HTTP/1.0', '');

    expect([status, JSON.parse(body)]).toMatchObject([200, { host: 'right.example' }]);
  });
});

describe('a target in absolute form is refused in the form of its path', () => {
  test.each([
    ['another scheme', 'ftp://right.example/family/a'],
    ['a user', 'http://user:secret@right.example/family/a'],
    ['no host', 'http:///family/a'],
    ['a port that cannot exist', 'http://right.example:99999/family/a'],
    ['an address that cannot exist', 'http://[::1::]/family/a'],
    ['a fragment', 'http://right.example/family/a#b'],
    ['a broken escape', 'http://right.example/family/%zz'],
    ['a character that is invalid in a host', 'http://right<b>.example/family/a'],
  ])('%s is a 400', async (_name, target) => {
    const { status, body } = await send(`GET ${target} HTTP/1.1`);

    expect([status, JSON.parse(body)]).toEqual([400, { error: expect.any(String) }]);
  });

  test('a path that is not served is a 404', async () => {
    const { status, body } = await send('GET http://right.example/family/a?b HTTP/1.1');

    expect([status, JSON.parse(body)]).toEqual([404, { error: 'Not found' }]);
  });

  test.each([
    ['no Host header', ''],
    ['two Host headers', 'Host: a\r\nHost: right.example\r\n'],
  ])('%s is a 400 although the target names a host', async (_name, headers) => {
    expect((await send('GET http://right.example/echo HTTP/1.1', headers)).status).toBe(400);
  });
});

describe('path rules also apply to a target in absolute form:', () => {
  test('cross-origin access', async () => {
    const allowed = await send(
      'OPTIONS http://right.example/echo HTTP/1.1',
      'Host: a\r\nOrigin: https://shop.example\r\nAccess-Control-Request-Method: POST\r\n',
    );

    expect(allowed.status).toBe(204);
    expect(allowed.head).toMatch(/^Access-Control-Allow-Methods: GET, HEAD, POST\r?$/im);
  });

  test('an ETag', async () => {
    const { head } = await send('GET http://right.example/tagged HTTP/1.1');
    const [, tag] = /^ETag: (.+?)\r?$/im.exec(head) ?? [];

    const again = await send('GET /tagged HTTP/1.1', `Host: a\r\nIf-None-Match: ${tag}\r\n`);

    expect(again.status).toBe(304);
  });

  test('the access log, which never contains a user or password', async () => {
    await send('GET http://right.example/echo?logged=1 HTTP/1.1');
    await send('GET http://user:hunter2@right.example/refused HTTP/1.1');

    await served.entry(({ path }) => path === '/echo?logged=***');
    await served.entry(({ path }) => path === 'http://***@right.example/refused');
    expect(JSON.stringify(served.entries)).not.toContain('hunter2');
  });
});

describe('a target that is not an address is still a 400:', () => {
  test.each(['OPTIONS * HTTP/1.1', 'CONNECT right.example:443 HTTP/1.1', 'GET right.example:443 HTTP/1.1'])(
    '%s',
    async line => {
      const { status, body } = await send(line);

      expect([status, JSON.parse(body)]).toEqual([400, { text: expect.any(String) }]);
    },
  );
});
