import { describe, expect, test } from 'vitest';
import { clientKey, clientReader } from '../../src/http/client-address.ts';
import { serve } from './serve.ts';

/** The client in the server's view when loopback sends these headers. */
async function clientOf(trustedProxies: string[], headers: Record<string, string>): Promise<unknown> {
  await using served = await serve(
    [
      ctx => {
        ctx.body = ctx.state.client;
      },
    ],
    { trustedProxies },
  );
  const lines = Object.entries({ Host: 'data.example', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const answer = await served.raw(`GET / HTTP/1.1\r\n${lines.join('')}Connection: close\r\n\r\n`);
  return JSON.parse(answer.split('\r\n\r\n')[1] ?? '');
}

const LOOPBACK = ['127.0.0.0/8'];

describe('X-Forwarded-For is trusted hop by hop, from the right:', () => {
  test.each<[string, string[], string | undefined, string]>([
    ['no proxy is trusted', [], '203.0.113.5', '127.0.0.1'],
    ['the peer is not the trusted one', ['10.0.0.0/8'], '203.0.113.5', '127.0.0.1'],
    ['the peer is trusted and sends no header', LOOPBACK, undefined, '127.0.0.1'],
    ['the peer is trusted', LOOPBACK, '203.0.113.5', '203.0.113.5'],
    ['the client wrote a hop itself', LOOPBACK, '1.1.1.1, 203.0.113.5', '203.0.113.5'],
    ['two proxies are trusted', [...LOOPBACK, '10.0.0.0/8'], '1.1.1.1, 203.0.113.5, 10.1.2.3', '203.0.113.5'],
    ['every hop is trusted', [...LOOPBACK, '10.0.0.0/8'], '10.0.0.1, 10.0.0.2', '10.0.0.1'],
    ['a single address is trusted', ['127.0.0.1'], '203.0.113.5', '203.0.113.5'],
    ['the hop has a port', LOOPBACK, '203.0.113.5:4711', '203.0.113.5'],
    ['the hop is IPv6', LOOPBACK, '2001:db8::7', '2001:db8::7'],
    ['the hop is IPv6 in brackets with a port', LOOPBACK, '[2001:db8::7]:4711', '2001:db8::7'],
    ['the hop is IPv4 written as IPv6', LOOPBACK, '::ffff:203.0.113.5', '203.0.113.5'],
    ['the trusted hop is IPv6', [...LOOPBACK, '2001:db8::/32'], '203.0.113.5, 2001:db8::1', '203.0.113.5'],
    ['the hop is hidden', LOOPBACK, '203.0.113.5, unknown', '127.0.0.1'],
    ['the hop is nonsense', LOOPBACK, '203.0.113.5, 1.2.3', '127.0.0.1'],
    ['the hop is octal', LOOPBACK, '0177.0.0.1', '127.0.0.1'],
    ['the hop is empty', LOOPBACK, '203.0.113.5,', '127.0.0.1'],
    ['the hop is endless', LOOPBACK, `${'9'.repeat(3_000)}.1.1.1`, '127.0.0.1'],
  ])('%s', async (_, trusted, forwarded, address) => {
    const client = await clientOf(trusted, forwarded === undefined ? {} : { 'X-Forwarded-For': forwarded });

    expect(client).toMatchObject({ address });
  });
});

describe('protocol and host', () => {
  test.each<[string, string[], Record<string, string>, object]>([
    ['are those of the connection', LOOPBACK, {}, { protocol: 'http', host: 'data.example' }],
    [
      'are those that a trusted peer forwards',
      LOOPBACK,
      { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'api.example:8443' },
      { protocol: 'https', host: 'api.example:8443' },
    ],
    [
      'are not those that anyone else forwards',
      [],
      { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'evil.example' },
      { protocol: 'http', host: 'data.example' },
    ],
    [
      'are the last of a list, which the nearest proxy wrote',
      LOOPBACK,
      { 'X-Forwarded-Proto': 'http, HTTPS', 'X-Forwarded-Host': 'evil.example, api.example' },
      { protocol: 'https', host: 'api.example' },
    ],
    [
      'are never invalid',
      LOOPBACK,
      { 'X-Forwarded-Proto': 'gopher', 'X-Forwarded-Host': '<b>x</b>' },
      { protocol: 'http', host: 'data.example' },
    ],
    ['are never an invalid host', [], { Host: 'a/b' }, { host: 'localhost' }],
    ['may be a literal IPv6 host', [], { Host: '[::1]:3000' }, { host: '[::1]:3000' }],
  ])('%s', async (_, trusted, headers, expected) => {
    expect(await clientOf(trusted, headers)).toMatchObject(expected);
  });
});

test('IPv6 clients of one /64 share one identity, and each IPv4 client has its own', () => {
  expect(clientKey('2001:db8:1:2::1')).toBe(clientKey('2001:db8:1:2:ffff::9'));
  expect(clientKey('2001:db8:1:2::1')).not.toBe(clientKey('2001:db8:1:3::1'));
  expect(clientKey('203.0.113.5')).not.toBe(clientKey('203.0.113.6'));
});

test('an invalid network is refused when the service is created', () => {
  expect(() => clientReader(['10.0.0.0/40'])).toThrow();
});
