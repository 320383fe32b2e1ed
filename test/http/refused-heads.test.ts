import { connect } from 'node:net';
import type { Middleware } from 'koa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FormatError } from '../../src/http/errors.ts';
import { rawRequest } from '../support/raw-request.ts';
import { type Served, serve } from './serve.ts';

const KIB = 1024;
let served: Served;

const LINE = 'GET /family/echo HTTP/1.1\r\n';

const echo: Middleware = async (ctx, next) => {
  if (ctx.path !== '/family/echo') return next();
  const pieces: string[] = [];
  for await (const chunk of ctx.req) pieces.push(String(chunk));
  ctx.body = { body: pieces.join('') };
  return undefined;
};
const formatError: FormatError = (_status, message, { path }) => ({
  [path.startsWith('/family') ? 'error' : 'text']: message,
});

beforeAll(async () => {
  served = await serve([echo], { formatError });
});
afterAll(() => served[Symbol.asyncDispose]());

function get(target: string, headers = '') {
  return rawRequest(served.url, `GET ${target} HTTP/1.1\r\nHost: x\r\n${headers}Connection: close\r\n\r\n`);
}

describe('an Expect header', () => {
  test.each(['nonsense', '200-ok', '100-continue, nonsense', '100-continues'])(
    'of %s is a 417 in the form of the path',
    async expectation => {
      const answer = await served.raw(
        `GET /family/echo HTTP/1.1\r\nHost: x\r\nExpect: ${expectation}\r\nConnection: close\r\n\r\n`,
      );

      expect(answer).toContain('HTTP/1.1 417 Expectation Failed\r\n');
      expect(answer).toMatch(/^Content-Type: application\/json; charset=utf-8\r$/im);
      expect(answer).toMatch(/\r\n\r\n\{"error":"Expect must be 100-continue"\}$/);
    },
  );

  test('of nonsense is a 417 to a request with a body, and the next request on the connection is served', async () => {
    const answer = await served.raw(
      'POST /family/echo HTTP/1.1\r\nHost: x\r\nExpect: nonsense\r\nContent-Length: 5\r\n\r\nhello' +
        'GET /family/echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    );

    expect(answer.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 417', 'HTTP/1.1 200']);
  });

  test.each(['100-continue', '100-Continue'])(
    'of %s gets an interim answer and the final one',
    async text => {
      const answer = await served.raw(
        `POST /family/echo HTTP/1.1\r\nHost: x\r\nExpect: ${text}\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello`,
      );

      expect(answer.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 200']);
      expect(answer).toMatch(/\{"body":"hello"\}$/);
    },
  );
});

describe('a head of more than 16 KiB is a 431 in the form of the path', () => {
  test.each([
    ['a header of 16 KiB', '/family/echo', `X-Long: ${'a'.repeat(16 * KIB)}\r\n`],
    ['a target of 16 KiB', `/family/echo?${'a'.repeat(16 * KIB)}`, ''],
    ['a header of 47 KiB', '/family/echo', `X-Long: ${'a'.repeat(47 * KIB)}\r\n`],
    ['a header beyond what is read', '/family/echo', `X-Long: ${'a'.repeat(60 * KIB)}\r\n`],
    ['a header beyond several reads', '/family/echo', `X-Long: ${'a'.repeat(500 * KIB)}\r\n`],
    ['a target beyond what is read', `/family/echo?${'a'.repeat(60 * KIB)}`, ''],
    ['an absolute target beyond what is read', `http://h/family/echo?${'a'.repeat(60 * KIB)}`, ''],
    ['3,000 headers', '/family/echo', 'a: b\r\n'.repeat(3_000)],
  ])('%s', async (_name, target, headers) => {
    const { status, body } = await get(target, headers);

    expect([status, JSON.parse(body)]).toEqual([
      431,
      { error: 'The request target and headers are too long' },
    ]);
  });

  test('and in the plain form when its request line arrived long before', async () => {
    const socket = connect(served.port, '127.0.0.1');
    const received: string[] = [];
    socket.write(`GET /family/echo HTTP/1.1\r\nHost: x\r\n\r\n${LINE}`);
    await new Promise(resolve => socket.once('data', resolve));
    socket.on('data', chunk => received.push(String(chunk)));

    socket.write(`Host: x\r\nX-Long: ${'a'.repeat(60 * KIB)}\r\n\r\n`);
    await new Promise(resolve => socket.once('close', resolve));

    expect(received.join('')).toMatch(/^HTTP\/1\.1 431 [\s\S]*\{"text":"[^"]+"\}$/);
  });

  test('and a smaller one is served', async () => {
    expect((await get('/family/echo', `X-Long: ${'a'.repeat(15 * KIB)}\r\n`)).status).toBe(200);
  });
});

describe('a request that does not arrive in time is a 408', () => {
  let hurried: Served;

  beforeAll(async () => {
    hurried = await serve([echo], { formatError, arrival: { headMs: 200, requestMs: 400 } });
  });
  afterAll(() => hurried[Symbol.asyncDispose]());

  test.each([
    [
      'in the form of its path when its body is late',
      'POST /family/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel',
      'error',
    ],
    ['in the plain form when its head is late', `${LINE}Host: x\r\n`, 'text'],
  ])('%s', async (_name, request, property) => {
    const answer = await hurried.raw(request);

    expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toEqual({
      [property]: 'The request took too long to arrive',
    });
  });
});
