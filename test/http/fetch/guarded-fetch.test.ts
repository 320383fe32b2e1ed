import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, test, vi } from 'vitest';
import { allowedAddressTest } from '#http/fetch/address-filter.ts';
import {
  FetchFailure,
  type GuardedFetchOptions,
  type GuardedRequest,
  guardedFetch,
} from '#http/fetch/guarded-fetch.ts';
import { createLogger } from '#lib/logger.ts';
import { type Behaviour, type SeenRequest, startScriptedUpstream } from '../../lab/scripted-upstream.ts';

const log = createLogger({ level: 'silent' });
const HERE = '127.0.0.1';
const THERE = '127.0.0.2';
const file = (name: string) => readFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url), 'utf8');

/** A resolver that answers every name with one list after another, and keeps the last one. */
function names(...answers: string[][]) {
  return vi.fn(async (_hostname: string) => {
    const addresses = (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
    return addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 }));
  });
}

/** A fetcher that may reach loopback without TLS by default. */
function fetcher(overrides: Partial<GuardedFetchOptions> = {}) {
  const guarded = guardedFetch({
    allowedNetworks: [`${HERE}/32`],
    allowHttp: true,
    timeoutMs: 30_000,
    maxBytes: 10_000,
    lookup: names([HERE]),
    log,
    ...overrides,
  });
  const fetch = (url: string, request: Omit<GuardedRequest, 'url'> = {}) =>
    guarded.fetch({ url, ...request });
  const failure = (url: string, request: Omit<GuardedRequest, 'url'> = {}) =>
    fetch(url, request).then(
      ({ status }) => expect.fail(`was answered with ${status}`),
      (error: unknown) =>
        error instanceof FetchFailure ? { kind: error.kind, status: error.status } : { error },
    );
  return { fetch, failure, [Symbol.asyncDispose]: () => guarded.close() };
}

/** A service on loopback, by name. */
async function service(respond: (request: SeenRequest) => Behaviour) {
  const upstream = await startScriptedUpstream(respond);
  const { port } = new URL(upstream.url);
  return {
    upstream,
    url: (path: string) => `http://files.test:${port}${path}`,
    [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose](),
  };
}

/** A server that counts its requests, at a given loopback address. */
async function serverAt(address: string, { secure = false, port = 0 } = {}) {
  let requests = 0;
  const answer = (_: IncomingMessage, response: ServerResponse) => {
    requests += 1;
    response.writeHead(200, { connection: 'close' }).end('here');
  };
  const server = secure
    ? createSecureServer({ key: file('key.pem'), cert: file('certificate.pem') }, answer)
    : createServer(answer);
  await new Promise<void>(resolve => server.listen(port, address, resolve));
  const bound: AddressInfo | string | null = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('no port');
  return {
    port: bound.port,
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      const closed = new Promise(resolve => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

const FORBIDDEN = [
  ['unspecified', '0.0.0.0'],
  ['this network', '0.1.2.3'],
  ['private', '10.0.0.1'],
  ['carrier-grade NAT', '100.64.0.1'],
  ['carrier-grade NAT, the last', '100.127.255.255'],
  ['loopback', '127.0.0.1'],
  ['loopback, another', '127.255.255.254'],
  ['link-local', '169.254.0.1'],
  ['metadata of a cloud', '169.254.169.254'],
  ['private, the middle block', '172.16.0.1'],
  ['private, the last of the middle block', '172.31.255.255'],
  ['protocol assignments', '192.0.0.192'],
  ['documentation', '192.0.2.1'],
  ['relay of 6to4', '192.88.99.1'],
  ['private, small', '192.168.1.1'],
  ['benchmarks', '198.19.255.255'],
  ['documentation, second', '198.51.100.1'],
  ['documentation, third', '203.0.113.1'],
  ['multicast', '224.0.0.1'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['host of a cloud', '168.63.129.16'],
  ['unspecified', '::'],
  ['loopback', '::1'],
  ['IPv4 in the deprecated form', '::127.0.0.1'],
  ['IPv4 mapped', '::ffff:127.0.0.1'],
  ['public IPv4 mapped', '::ffff:8.8.8.8'],
  ['IPv4 translated', '::ffff:0:127.0.0.1'],
  ['NAT64', '64:ff9b::7f00:1'],
  ['NAT64 of a public address', '64:ff9b::808:808'],
  ['local NAT64', '64:ff9b:1::1'],
  ['discard', '100::1'],
  ['Teredo', '2001::1'],
  ['ORCHID', '2001:20::1'],
  ['documentation', '2001:db8::1'],
  ['6to4', '2002:7f00:1::'],
  ['documentation, new', '3fff::1'],
  ['unique local', 'fc00::1'],
  ['metadata of a cloud', 'fd00:ec2::254'],
  ['link-local', 'fe80::1'],
  ['site-local', 'fec0::1'],
  ['multicast', 'ff02::1'],
] as const;

test.for(FORBIDDEN)('%s is refused as a literal and behind a name: %s', async ([, address]) => {
  const lookup = names([address]);
  await using strict = fetcher({ allowedNetworks: [], lookup });
  const literal = address.includes(':') ? `[${address}]` : address;

  expect(await strict.failure(`https://${literal}/`)).toMatchObject({ kind: 'refused' });
  expect(lookup).not.toHaveBeenCalled();
  expect(await strict.failure('https://files.test/')).toMatchObject({ kind: 'refused' });
  expect(lookup).toHaveBeenCalledWith('files.test');
});

test.for([
  'http://2130706433/',
  'http://0x7f.1/',
  'http://0177.0.0.1/',
  'http://127.1/',
  'http://①②⑦.0.0.1/',
  'http://%31%32%37.0.0.1/',
])('no spelling of a loopback address is accepted: %s', async url => {
  const lookup = names(['8.8.8.8']);
  await using strict = fetcher({ allowedNetworks: [], lookup });

  expect(await strict.failure(url)).toMatchObject({ kind: 'refused' });
  expect(lookup).not.toHaveBeenCalled();
});

test.for(['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450:4001::1'])(
  'a public address is allowed: %s',
  address => {
    expect(allowedAddressTest([], () => [])(address)).toBe(true);
  },
);

test.for(['8.8.8', '', 'example.org', '2606:4700::1111%eth0', '08.8.8.8'])(
  'a text that is not a numeric address is not allowed: %s',
  text => {
    expect(allowedAddressTest([], () => [])(text)).toBe(false);
  },
);

test('a public address of this machine is refused, unless it is allowed', () => {
  const own = () => ['8.8.8.8', '2606:4700::1111'];

  expect(allowedAddressTest([], own)('8.8.8.8')).toBe(false);
  expect(allowedAddressTest([], own)('2606:4700:0:0::1111')).toBe(false);
  expect(allowedAddressTest([], own)('8.8.4.4')).toBe(true);
  expect(allowedAddressTest(['8.8.8.8'], own)('8.8.8.8')).toBe(true);
});

test('an allowed network allows nothing outside of it', () => {
  const isAllowed = allowedAddressTest(['10.1.0.0/16', 'fd00::/64'], () => []);

  expect(['10.1.2.3', 'fd00::1'].map(isAllowed)).toEqual([true, true]);
  expect(['10.2.0.1', 'fd00:0:0:1::1', '::ffff:10.1.2.3', '127.0.0.1'].map(isAllowed)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

test('an invalid network is refused when the fetcher is created', () => {
  expect(() => fetcher({ allowedNetworks: ['everything'] })).toThrow();
});

test.for([
  'http://user@files.test/',
  'http://user:secret@files.test/',
  'http://:secret@files.test/',
  'ftp://files.test/',
  'file:///etc/passwd',
  'data:application/json,{}',
  'javascript:alert(1)',
  'files.test/7',
  '//files.test/7',
  'https://',
  `https://files.test/${'7'.repeat(9_000)}`,
])('a forbidden URL is refused before its name is resolved: %s', async url => {
  const lookup = names([HERE]);
  await using guarded = fetcher({ lookup });

  expect(await guarded.failure(url)).toMatchObject({ kind: 'refused' });
  expect(lookup).not.toHaveBeenCalled();
});

test('without permission nothing is fetched without TLS', async () => {
  await using guarded = fetcher({ allowHttp: false });

  expect(await guarded.failure('http://files.test/')).toMatchObject({ kind: 'refused' });
});

test('a name is resolved once, and the socket uses the checked address', async () => {
  await using server = await serverAt(THERE);
  await using other = await serverAt(HERE, { port: server.port });
  const lookup = names([THERE], [HERE]);
  await using guarded = fetcher({ allowedNetworks: [THERE], lookup });

  const first = await guarded.fetch(`http://files.test:${server.port}/`);
  const second = await guarded.failure(`http://files.test:${server.port}/`);

  expect(first.bytes.toString()).toBe('here');
  expect(second).toMatchObject({ kind: 'refused' });
  expect(lookup).toHaveBeenCalledTimes(2);
  expect([server.requests(), other.requests()]).toEqual([1, 0]);
});

test('only allowed ones of several addresses are tried', async () => {
  await using server = await serverAt(THERE);
  await using other = await serverAt(HERE, { port: server.port });
  await using guarded = fetcher({ allowedNetworks: [THERE], lookup: names([HERE, '::1', THERE]) });

  await guarded.fetch(`http://files.test:${server.port}/`);

  expect([server.requests(), other.requests()]).toEqual([1, 0]);
});

test('a response has its status, headers and bytes', async () => {
  await using to = await service(() => ({ status: 404, text: 'nothing', headers: { 'retry-after': '7' } }));
  await using guarded = fetcher();

  const { status, headers, bytes } = await guarded.fetch(to.url('/7?a=b'));

  expect({ status, wait: headers['retry-after'], text: bytes.toString() }).toEqual({
    status: 404,
    wait: '7',
    text: 'nothing',
  });
  expect(to.upstream.requests[0]?.url).toBe('/7?a=b');
});

test.for(['gzip', 'br'] as const)('a body is decompressed: %s', async encoding => {
  await using to = await service(() => ({ json: { name: 'ü' }, encoding }));
  await using guarded = fetcher();

  expect((await guarded.fetch(to.url('/'))).bytes.toString()).toBe('{"name":"ü"}');
});

test('redirects on the same host are followed three times', async () => {
  await using to = await service(({ url }) => {
    const left = Number(url.slice(1));
    return left === 0
      ? { text: 'arrived' }
      : { status: 302, text: '', headers: { location: `/${left - 1}` } };
  });
  await using guarded = fetcher();

  expect((await guarded.fetch(to.url('/3'))).bytes.toString()).toBe('arrived');
  expect(await guarded.failure(to.url('/4'))).toEqual({ kind: 'redirected', status: 302 });
});

test.for([
  ['another host', 'http://other.test/'],
  ['another port', 'http://files.test:1/'],
  ['a private address', 'http://10.0.0.1/'],
  ['the metadata of a cloud', 'http://169.254.169.254/latest/meta-data'],
] as const)('a redirect to %s is not followed', async ([, location]) => {
  await using to = await service(() => ({ status: 307, text: '', headers: { location } }));
  const lookup = names([HERE]);
  await using guarded = fetcher({ lookup });

  expect(await guarded.failure(to.url('/'))).toEqual({ kind: 'redirected', status: 307 });
  expect(lookup.mock.calls).toEqual([['files.test']]);
});

test.for([
  ['another host', 'http://other.test'],
  ['an address', `http://${HERE}`],
] as const)('a redirect to %s is followed where any host is allowed', async ([, origin]) => {
  await using to = await service(({ url }) =>
    url === '/there'
      ? { text: 'arrived' }
      : { status: 307, text: '', headers: { location: `${origin}:${new URL(to.upstream.url).port}/there` } },
  );
  await using guarded = fetcher({ redirects: 'any host' });

  expect((await guarded.fetch(to.url('/'))).bytes.toString()).toBe('arrived');
});

test.for([
  ['a private address', 'http://10.0.0.1/'],
  ['the metadata of a cloud', 'http://169.254.169.254/latest/meta-data'],
  ['a name with a private address', 'http://other.test/'],
  ['a file', 'file:///etc/passwd'],
  ['a user', 'http://user@files.test/'],
] as const)('a redirect to %s is refused even where any host is allowed', async ([, location]) => {
  await using to = await service(() => ({ status: 307, text: '', headers: { location } }));
  await using guarded = fetcher({ redirects: 'any host', lookup: names([HERE], [THERE]) });

  expect(await guarded.failure(to.url('/'))).toMatchObject({ kind: 'refused' });
  expect(to.upstream.requests).toHaveLength(1);
});

test.for(['file:///etc/passwd', 'http://user@files.test/', 'http://['])(
  'a redirect to a forbidden URL is refused: %s',
  async location => {
    await using to = await service(() => ({ status: 301, text: '', headers: { location } }));
    await using guarded = fetcher();

    expect(await guarded.failure(to.url('/'))).toMatchObject({ kind: 'refused' });
  },
);

test('each hop is checked again: a host that has moved to a forbidden address is refused', async () => {
  const redirect = 'HTTP/1.1 302 Found\r\nlocation: /2\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';
  await using to = await service(() => ({ raw: redirect }));
  await using guarded = fetcher({ lookup: names([HERE], [THERE]) });

  expect(await guarded.failure(to.url('/1'))).toMatchObject({ kind: 'refused' });
  expect(to.upstream.requests).toHaveLength(1);
});

test('a POST is sent unchanged, and a redirect is its answer', async () => {
  await using to = await service(() => ({ status: 307, text: 'no', headers: { location: '/2' } }));
  await using guarded = fetcher();

  const { status } = await guarded.fetch(to.url('/1'), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-signature': 'abc' },
    body: '{"a":1}',
  });

  expect(status).toBe(307);
  expect(to.upstream.requests.map(({ method, url }) => ({ method, url }))).toEqual([
    { method: 'POST', url: '/1' },
  ]);
  expect(to.upstream.requests[0]?.headers).toMatchObject({ 'content-length': '7', 'x-signature': 'abc' });
});

test('a body that trickles does not extend a fetch beyond its deadline', async () => {
  await using to = await service(() => ({
    drip: '{"a":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}',
    everyMs: 10_000,
  }));
  await using guarded = fetcher({ timeoutMs: 300 });

  expect(await guarded.failure(to.url('/'))).toMatchObject({ kind: 'timeout' });
});

test('neither does silence, nor a resolver that does not answer', async () => {
  await using to = await service(() => 'silence');
  await using guarded = fetcher({ timeoutMs: 200 });
  await using unresolved = fetcher({ timeoutMs: 200, lookup: () => new Promise(() => undefined) });

  expect(await guarded.failure(to.url('/'))).toMatchObject({ kind: 'timeout' });
  expect(await unresolved.failure(to.url('/'))).toMatchObject({ kind: 'timeout' });
});

test('headers that arrive too late end a fetch long before its deadline', async () => {
  await using to = await service(() => 'silence');
  await using guarded = fetcher({ timeoutMs: 60_000, headersWithinMs: 200 });

  expect(await guarded.failure(to.url('/'))).toEqual({ kind: 'timeout', status: undefined });
});

test('a body may take longer than its headers', async () => {
  await using to = await service(() => ({ drip: 'slowly', everyMs: 500 }));
  await using guarded = fetcher({ timeoutMs: 60_000, headersWithinMs: 2_000 });

  expect((await guarded.fetch(to.url('/'))).bytes.toString()).toBe('slowly');
});

test('the deadline covers all redirects together', async () => {
  await using to = await service(() => ({
    status: 302,
    text: '',
    headers: { location: '/' },
    latencyMs: 120,
  }));
  await using guarded = fetcher({ timeoutMs: 300 });

  expect(await guarded.failure(to.url('/'))).toMatchObject({ kind: 'timeout' });
});

test('an endless body is aborted as soon as it is too long', async () => {
  await using to = await service(() => ({ endless: 'text' }));
  await using guarded = fetcher();

  expect(await guarded.failure(to.url('/'))).toEqual({ kind: 'too_long', status: 200 });
  expect(to.upstream.bytesSent()).toBeLessThan(16_000_000);
});

test('a small body that decompresses to too much is aborted, too', async () => {
  await using to = await service(() => ({ endless: 'gzip' }));
  await using guarded = fetcher();

  expect(await guarded.failure(to.url('/'))).toEqual({ kind: 'too_long', status: 200 });
  expect(to.upstream.bytesSent()).toBeLessThan(1_000_000);
});

test('the limit is exact', async () => {
  await using to = await service(({ url }) => ({ text: 'x'.repeat(Number(url.slice(1))) }));
  await using guarded = fetcher();

  expect((await guarded.fetch(to.url('/10000'))).bytes).toHaveLength(10_000);
  expect(await guarded.failure(to.url('/10001'))).toMatchObject({ kind: 'too_long' });
});

test.for([
  ['application/json', true],
  ['Application/JSON; charset=utf-8', true],
  ['text/html', false],
  ['application/jsonp', false],
] as const)('only requested content types are accepted: %s', async ([type, isTaken]) => {
  await using to = await service(() => ({ text: '{}', type }));
  await using guarded = fetcher();
  const types = ['application/json'];

  if (isTaken) expect((await guarded.fetch(to.url('/'), { types })).bytes.toString()).toBe('{}');
  else expect(await guarded.failure(to.url('/'), { types })).toEqual({ kind: 'wrong_type', status: 200 });
  expect(to.upstream.requests[0]?.headers.accept).toBe('application/json');
});

test.for([
  ['broken off', { cut: 'within the body' }, 'unreachable'],
  ['truncated within its compression', { truncated: 'gzip' }, 'unreadable'],
  ['compressed in an unknown way', { text: 'x', headers: { 'content-encoding': 'zstd' } }, 'unreadable'],
  ['compressed as __proto__', { text: 'x', headers: { 'content-encoding': '__proto__' } }, 'unreadable'],
  ['compressed as constructor', { text: 'x', headers: { 'content-encoding': 'constructor' } }, 'unreadable'],
  ['not HTTP', { raw: 'SSH-2.0-OpenSSH_9.6\r\n' }, 'unreachable'],
] as const)('an answer that is %s is a failure', async ([, behaviour, kind]) => {
  await using to = await service(() => behaviour);
  await using guarded = fetcher();

  expect(await guarded.failure(to.url('/'))).toMatchObject({ kind });
});

test('an abort by the caller differs from a timeout of the host', async () => {
  await using to = await service(() => 'silence');
  await using guarded = fetcher();

  expect(await guarded.failure(to.url('/'), { signal: AbortSignal.timeout(50) })).toMatchObject({
    kind: 'abandoned',
  });
});

test('a certificate must be trusted and valid for the name', async () => {
  await using server = await serverAt(HERE, { secure: true });
  const at = (host: string) => `https://${host}:${server.port}/`;
  await using guarded = fetcher({ allowHttp: false });

  expect(await guarded.failure(at('files.test'))).toMatchObject({ kind: 'unreachable' });

  const usual = getCACertificates('default');
  setDefaultCACertificates([...usual, file('certificate.pem')]);
  try {
    await using trusting = fetcher({ allowHttp: false });
    expect((await trusting.fetch(at('files.test'))).bytes.toString()).toBe('here');
    expect(await trusting.failure(at('other.test'))).toMatchObject({ kind: 'unreachable' });
  } finally {
    setDefaultCACertificates(usual);
  }
  expect(server.requests()).toBe(1);
});

test('failure messages contain no address', async () => {
  await using guarded = fetcher({ allowedNetworks: [] });

  const message = await guarded.fetch('http://127.0.0.1:1/secret').catch((error: Error) => error.message);

  expect(message).toBe('the fetch failed: refused');
});
