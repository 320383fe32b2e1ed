import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { MAX_ANSWER_BYTES } from '#data/backends/upstream/exchange.ts';
import { quickBrotli } from '../../lab/scripted-upstream.ts';
import { opened } from './opened.ts';

const BODY = { name: 'Zoë ☕', items: Array.from({ length: 20_000 }, (_, index) => ({ index })) };

/** A JSON array of exactly this many bytes. */
function json(bytes: number): Buffer {
  return Buffer.concat([Buffer.from('['), Buffer.alloc(bytes - 2, ' '), Buffer.from(']')]);
}

test.for([undefined, 'gzip', 'br'] as const)('a body compressed as %s is read completely', async encoding => {
  await using to = await opened(() => ({ json: BODY, ...(encoding === undefined ? {} : { encoding }) }));

  expect(await to.get()).toEqual({ status: 200, body: BODY });
});

test.for(['GZIP', ' gzip', 'identity'])('a coding may be written %s', async coding => {
  const bytes = coding === 'identity' ? Buffer.from('[1]') : gzipSync('[1]');
  await using to = await opened(() => ({ bytes, headers: { 'content-encoding': coding } }));

  expect(await to.get()).toEqual({ status: 200, body: [1] });
});

test.for([
  'application/json',
  'application/json;charset=UTF-8',
  'Application/Problem+JSON',
  'application/vnd.api+json ; v=1',
])('%s is a JSON content type', async type => {
  await using to = await opened(() => ({ text: '{"a":1}', type }));

  expect(await to.get()).toEqual({ status: 200, body: { a: 1 } });
});

test.for(['text/json', 'application/jsonp', 'application/json5', 'application/x-ndjson'])(
  '%s is not a JSON content type',
  async type => {
    await using to = await opened(() => ({ text: '{"a":1}', type }));

    expect(await to.failure()).toMatchObject({ message: 'its answer was not JSON' });
  },
);

test.for([
  ['plain', (bytes: Buffer) => bytes, {}],
  ['gzip', gzipSync, { 'content-encoding': 'gzip' }],
  ['br', quickBrotli, { 'content-encoding': 'br' }],
] as const)('the limit is exact and applies to decompressed bytes: %s', async ([, compressed, headers]) => {
  const longest = compressed(json(MAX_ANSWER_BYTES));
  const tooLong = compressed(json(MAX_ANSWER_BYTES + 1));
  await using to = await opened(({ path }) => ({ bytes: path === '/longest' ? longest : tooLong, headers }));

  expect(await to.get('/longest')).toEqual({ status: 200, body: [] });
  expect(await to.failure('/longer')).toMatchObject({ message: 'its answer was too long' });
});

test('an endless compressed body is aborted', async () => {
  await using to = await opened(() => ({ endless: 'gzip' }));

  await to.failure();

  expect(to.service.bytesSent()).toBeLessThan(1_000_000);
});

test('a refusal is read only as far as its message needs', async () => {
  await using to = await opened(() => ({ endless: 'text', status: 404 }));

  expect(await to.failure()).toMatchObject({ message: 'its answer was too long' });

  expect(to.service.bytesSent()).toBeLessThan(16_000_000);
});

test('integers beyond 2^53 keep their digits', async () => {
  await using to = await opened(() => ({ text: '{"id":123456789012345678901}', type: 'application/json' }));

  expect(await to.get()).toEqual({ status: 200, body: { id: 123456789012345678901n } });
});

test('a byte order mark is not part of the text', async () => {
  await using to = await opened(() => ({ text: '\uFEFF[1]', type: 'application/json' }));

  expect(await to.get()).toEqual({ status: 200, body: [1] });
});
