import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { byteSize, type Representation, represent } from '../../src/http/representation.ts';
import { sendRepresentation } from '../../src/http/send.ts';
import { type Served, serve } from './serve.ts';

const LONG = JSON.stringify({ items: Array.from({ length: 200 }, (_, index) => ({ index, hash: '0xabc' })) });
const SHORT = '{"a":1}';

let served: Served;
let long: Representation;
let short: Representation;

beforeAll(async () => {
  [long, short] = await Promise.all([represent(LONG), represent(SHORT)]);
  served = await serve([
    ctx => {
      const representation = ctx.path === '/short' ? short : long;
      if (ctx.path === '/gone') return sendRepresentation(ctx, representation, {}, 410);
      if (ctx.path === '/varied') ctx.vary('Origin');
      return sendRepresentation(ctx, representation, {
        'Cache-Control': 'public, max-age=60',
        'X-Cache': 'HIT',
      });
    },
  ]);
});
afterAll(() => served[Symbol.asyncDispose]());

interface Answer {
  status: number;
  headers: Record<string, unknown>;
  body: Buffer;
}

/** A request whose answer is not decoded, as fetch would do. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(served.url + path, { method, headers }, response => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });
}

function decoded({ headers, body }: Answer): string {
  const coding = headers['content-encoding'];
  if (coding === 'br') return brotliDecompressSync(body).toString();
  return (coding === 'gzip' ? gunzipSync(body) : body).toString();
}

describe('the coding is the client’s most preferred one', () => {
  test.each([
    [undefined, undefined],
    ['', undefined],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['br;q=0.5, gzip;q=1.0', 'gzip'],
    ['br;q=0.5, gzip;q=0.5', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0, gzip;q=0', undefined],
    ['*', 'br'],
    ['*;q=0.1, gzip;q=0.2', 'gzip'],
    ['br;q=0, *', 'gzip'],
    ['*;q=0', undefined],
    ['identity', undefined],
    ['identity;q=0.5, gzip;q=0.4', undefined],
    ['identity;q=0', undefined],
    ['identity;q=0, gzip', 'gzip'],
    ['deflate, zstd', undefined],
    ['br;q=2, gzip;q=x', undefined],
    [' gzip ; q=0.8 , br ; q=0.9 ', 'br'],
    [';,;q=,,=', undefined],
  ])('%o gets %o', async (acceptEncoding, coding) => {
    const answer = await ask(
      '/long',
      acceptEncoding === undefined ? {} : { 'Accept-Encoding': acceptEncoding },
    );

    expect(answer.status).toBe(200);
    expect(answer.headers['content-encoding']).toBe(coding);
    expect(answer.headers['content-length']).toBe(String(answer.body.length));
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.headers.vary).toBe('Accept-Encoding');
    expect(decoded(answer)).toBe(LONG);
  });

  test('a body of less than 1 kB is not compressed', async () => {
    const answer = await ask('/short', { 'Accept-Encoding': 'br, gzip' });

    expect(answer.headers['content-encoding']).toBeUndefined();
    expect(answer.body.toString()).toBe(SHORT);
  });

  test('an existing Vary header is extended', async () => {
    expect((await ask('/varied')).headers.vary).toBe('Origin, Accept-Encoding');
  });
});

describe('entity tags', () => {
  test.each([
    ['identity', /^"[\w-]{22}"$/],
    ['br', /^"[\w-]{22}-br"$/],
    ['gzip', /^"[\w-]{22}-gz"$/],
  ])('the form %s has its own tag', async (coding, pattern) => {
    expect((await ask('/long', { 'Accept-Encoding': coding })).headers.etag).toMatch(pattern);
  });

  test('equal bytes have equal tags, and different ones different tags', async () => {
    expect((await represent(Buffer.from(LONG))).etag).toBe(long.etag);
    expect(short.etag).not.toBe(long.etag);
  });

  test.each([
    ['the tag', (tag: string) => tag, 304],
    ['the tag, weakened', (tag: string) => `W/${tag}`, 304],
    ['a list with the tag', (tag: string) => `"other", ${tag} , W/"x"`, 304],
    ['anything', () => '*', 304],
    ['another tag', () => '"other"', 200],
    ['the tag without quotes', (tag: string) => tag.replaceAll('"', ''), 200],
    ['a broken list', () => '"', 200],
    ['the tag of another coding', (tag: string) => `${tag.slice(0, -1)}-gz"`, 200],
  ])('a client with %s gets the matching answer', async (_, header, status) => {
    const full = await ask('/long');

    const answer = await ask('/long', { 'If-None-Match': header(String(full.headers.etag)) });

    expect(answer.status).toBe(status);
    expect(answer.body.length).toBe(status === 304 ? 0 : LONG.length);
    for (const name of ['etag', 'vary', 'cache-control', 'x-cache', 'access-control-allow-origin']) {
      expect(answer.headers[name]).toBe(full.headers[name]);
    }
  });

  test('only a read is conditional', async () => {
    expect((await ask('/long', { 'If-None-Match': '*' }, 'POST')).status).toBe(200);
  });

  test('an answer other than 200 has no tag and is never a 304', async () => {
    const answer = await ask('/gone', { 'If-None-Match': '*' });

    expect(answer.status).toBe(410);
    expect(answer.headers.etag).toBeUndefined();
    expect(answer.body.toString()).toBe(LONG);
  });
});

test('HEAD has the headers of GET and no body, in every coding', async () => {
  for (const coding of ['identity', 'br', 'gzip']) {
    const get = await ask('/long', { 'Accept-Encoding': coding });
    const head = await ask('/long', { 'Accept-Encoding': coding }, 'HEAD');

    const named = ({ headers: { date: _, 'x-request-id': __, ...headers } }: Answer) => headers;
    expect(named(head)).toEqual(named(get));
    expect(head.body.length).toBe(0);
  }
});

test('the size of a representation covers all its forms', () => {
  const lengths = [long.identity, long.br, long.gzip].map(form => form?.length ?? 0);

  expect(lengths.every(length => length > 0)).toBe(true);
  expect(byteSize(long)).toBe(lengths.reduce((sum, length) => sum + length));
  expect(byteSize(short)).toBe(SHORT.length);
});
