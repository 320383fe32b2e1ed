import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Behaviour } from '../../lab/scripted-upstream.ts';
import { NOBODY, opened } from './opened.ts';

const HTML = '<!doctype html><title>Just a moment...</title>';

interface Row {
  readonly name: string;
  readonly behaviour: Behaviour;
  readonly kind?: 'unavailable' | 'unsupported';
  readonly reason?: string;
  readonly message: string;
  /** Requests that arrive, including retries; 1 when absent. */
  readonly requests?: number;
}

const status = (code: number, body: unknown = { message: 'no' }): Behaviour => ({ json: body, status: code });

const OUTAGES: readonly Row[] = [
  ...[401, 403, 500, 502, 503, 504, 520, 599].map(code => ({
    name: `${code} with a body of JSON`,
    behaviour: status(code, { items: [] }),
    message: `it answered ${code}`,
    // Upstream's crash handler and its refusals answer like this: it is alive.
    reason: code === 500 || code === 403 ? 'unreadable' : 'failed',
  })),
  ...[301, 302, 307].map(code => ({
    name: `${code} to another host`,
    behaviour: { text: '', status: code, headers: { location: 'https://new.test/api/v2/blocks?key=secret' } },
    message: `it redirects with ${code} to new.test`,
  })),
  ...[301, 302, 307].map(code => ({
    name: `${code}, which is not followed`,
    behaviour: { text: '', status: code, headers: { location: '/api/v2/elsewhere' } },
    message: `it redirects with ${code} to another path of its own`,
  })),
  ...[304].map(code => ({
    name: `${code}, which is not followed`,
    behaviour: { text: '', status: code, headers: { location: '/api/v2/elsewhere' } },
    message: `it answered ${code}`,
  })),
  {
    name: '500 with a bare string',
    behaviour: status(500, 'Internal server error'),
    reason: 'unreadable',
    message: 'it answered 500',
  },
  {
    name: '503 with HTML',
    behaviour: { text: HTML, type: 'text/html', status: 503 },
    message: 'it answered 503',
  },
  {
    name: '503 whose body breaks off',
    behaviour: { cut: 'within the body', status: 503 },
    message: 'it answered 503',
  },
  { name: '503 without end', behaviour: { endless: 'text', status: 503 }, message: 'it answered 503' },
  {
    name: '404 with HTML',
    behaviour: { text: HTML, type: 'text/html', status: 404 },
    message: 'its answer was not JSON',
  },
  { name: '200 with HTML', behaviour: { text: HTML, type: 'text/html' }, message: 'its answer was not JSON' },
  {
    name: 'HTML that calls itself JSON',
    behaviour: { text: HTML, type: 'application/json' },
    message: 'its answer was not JSON',
  },
  { name: 'JSON that calls itself text', behaviour: { text: '{}' }, message: 'its answer was not JSON' },
  {
    name: 'no content type',
    behaviour: { raw: 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}' },
    message: 'its answer was not JSON',
  },
  {
    name: 'an empty body',
    behaviour: { text: '', type: 'application/json' },
    message: 'its answer was not JSON',
  },
  {
    name: '204',
    behaviour: { text: '', type: 'application/json', status: 204 },
    message: 'its answer was not JSON',
  },
  {
    name: 'half of a value',
    behaviour: { text: '{"items":[', type: 'application/json' },
    message: 'its answer was not JSON',
  },
  {
    name: 'a value nested too deep',
    behaviour: { text: `${'['.repeat(1e5)}[1e30]`, type: 'application/json' },
    message: 'its answer was not JSON',
  },
  {
    name: 'a bare string',
    behaviour: { json: 'Bad request', status: 400 },
    reason: 'unreadable',
    message: 'its answer was only a text',
  },
  {
    name: 'a body without end',
    behaviour: { endless: 'text' },
    reason: 'unreadable',
    message: 'its answer was too long',
  },
  {
    name: 'a compressed body without end',
    behaviour: { endless: 'gzip' },
    reason: 'unreadable',
    message: 'its answer was too long',
  },
  {
    name: 'a truncated gzip',
    behaviour: { truncated: 'gzip' },
    message: 'its answer could not be decompressed',
  },
  {
    name: 'a gzip that is none',
    behaviour: { bytes: Buffer.from('{}'), headers: { 'content-encoding': 'gzip' } },
    message: 'its answer could not be decompressed',
  },
  {
    name: 'a brotli that is none',
    behaviour: { bytes: Buffer.alloc(100, 255), headers: { 'content-encoding': 'br' } },
    message: 'its answer could not be decompressed',
  },
  {
    name: 'a coding that was not asked for',
    behaviour: { bytes: gzipSync('{}'), headers: { 'content-encoding': 'zstd' } },
    message: 'its answer has an unknown compression',
  },
  { name: 'no answer at all', behaviour: 'silence', reason: 'timeout', message: 'it did not answer in time' },
  {
    name: 'an answer too late',
    behaviour: { json: {}, latencyMs: 60_000 },
    reason: 'timeout',
    message: 'it did not answer in time',
  },
  {
    name: 'a slow drip',
    behaviour: { drip: '{"items":[1,2,3,4,5]}', everyMs: 10_000 },
    reason: 'timeout',
    message: 'it did not answer in time',
  },
  {
    name: 'a cut before headers',
    behaviour: { cut: 'before headers' },
    message: 'it could not be reached',
    requests: 2,
  },
  {
    name: 'a cut after headers',
    behaviour: { cut: 'after headers' },
    message: 'its answer broke off',
    requests: 2,
  },
  {
    name: 'a cut within the body',
    behaviour: { cut: 'within the body' },
    message: 'its answer broke off',
    requests: 2,
  },
  {
    name: 'something that is not HTTP',
    behaviour: { raw: 'SSH-2.0-OpenSSH_9.7\r\n' },
    message: 'it could not be reached',
    requests: 2,
  },
  {
    name: '501',
    behaviour: { text: HTML, type: 'text/html', status: 501 },
    kind: 'unsupported',
    reason: 'no_such_answer',
    message: 'it has no such answer',
  },
  ...[400, 403, 404, 500, 503].map(code => ({
    name: `${code} of a service that is disabled`,
    behaviour: status(code, { message: 'Transaction Interpretation Service is disabled' }),
    kind: 'unsupported' as const,
    reason: 'no_such_answer',
    message: 'it has no such answer',
  })),
  {
    name: '403 of a key that is disabled',
    behaviour: status(403, { message: 'This API key is disabled' }),
    reason: 'unreadable',
    message: 'it answered 403',
  },
];

test.for(OUTAGES)('$name: $message', async row => {
  const { behaviour, kind = 'unavailable', reason = 'failed', message, requests = 1 } = row;
  await using to = await opened(() => behaviour);

  const failure = await (reason === 'timeout' ? to.timeout('/blocks') : to.failure('/blocks'));

  expect({ kind: failure.kind, reason: failure.reason, message: failure.message }).toEqual({
    kind,
    reason,
    message,
  });
  expect(to.service.requests).toHaveLength(requests);
});

test('an upstream without a listener is unavailable, with the cause kept', async () => {
  await using to = await opened(() => ({ json: {} }), { baseUrl: NOBODY });

  const failure = await to.failure();

  expect(failure).toMatchObject({ kind: 'unavailable', message: 'it could not be reached' });
  expect(failure.cause).toMatchObject({ code: 'ECONNREFUSED', cause: { code: 'ECONNREFUSED' } });
});
