import { readFileSync } from 'node:fs';
import { createServer as createSecureServer } from 'node:https';
import { createServer as createRawServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { createLogger } from '#lib/logger.ts';
import { webhookSender } from '#payments/webhooks/sender.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { type Answer, startReceiver } from '../../lab/webhook-receiver.ts';

const log = createLogger({ level: 'silent' });
const HERE = '127.0.0.1';
const THERE = '127.0.0.2';
/** Also the error for unknown names, so that it does not reveal names of our own network. */
const NOT_ALLOWED = 'The receiver could not be reached at any public address of its name.';
const REFUSED = {
  isSuccess: false,
  responseCode: null,
  responseTimeMs: null,
  error: NOT_ALLOWED,
  responseBody: null,
};

/** A resolver that answers any name with one list after another, then repeats the last one. */
function names(...answers: string[][]) {
  return vi.fn(async (_hostname: string) => {
    const addresses = (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
    return addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 }));
  });
}

/** A sender that may reach the receivers of these tests over http by default. */
function sender(options: Partial<Parameters<typeof webhookSender>[0]> = {}) {
  const made = webhookSender({
    allowedNetworks: [`${HERE}/32`],
    allowHttp: true,
    timeoutMs: PATIENCE_MS,
    lookup: names([HERE]),
    log,
    ...options,
  });
  const send = (url: string, body = '{}', headers: Record<string, string> = {}) =>
    made.send({ url, headers: { 'Content-Type': 'application/json', ...headers }, body });
  const answerOf = (url: string) => made.send({ url, headers: {}, body: '{}', storeResponses: true });
  return { send, answerOf, close: made.close, [Symbol.asyncDispose]: () => made.close() };
}

/** A server on all addresses of this machine. It counts the connections that should not have been made. */
async function canary() {
  let connections = 0;
  const server = createRawServer(socket => {
    connections += 1;
    socket.resume().end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n');
  });
  await new Promise<void>(resolve => server.listen(0, '::', resolve));
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('no port');
  return {
    port: bound.port,
    connections: () => connections,
    [Symbol.asyncDispose]: () => new Promise<void>(resolve => server.close(() => resolve())),
  };
}

/** Spellings of hosts in a merchant's URL. */
const LITERALS: readonly (readonly [kind: string, host: string])[] = [
  ['loopback', '127.0.0.1'],
  ['loopback, another', '127.8.8.8'],
  ['unspecified, which is loopback', '0.0.0.0'],
  ['as a single number', '2130706433'],
  ['in hex', '0x7f000001'],
  ['in hex, by parts', '0x7f.0.0.0x1'],
  ['in octal', '0177.0.0.01'],
  ['short', '127.1'],
  ['shorter', '0'],
  ['in circled digits', '①②⑦.⓪.⓪.①'],
  ['in full-width digits', '１２７.０.０.１'],
  ['percent-encoded', '%31%32%37%2e%30%2e0.1'],
  ['with a soft hyphen', '127.0.0\u00ad.1'],
  ['with an ideographic full stop', '127。0。0。1'],
  ['with a trailing dot', '127.0.0.1.'],
  ['private', '10.0.0.1'],
  ['private, in the middle', '172.16.5.4'],
  ['private, small', '192.168.0.1'],
  ['link-local', '169.254.1.1'],
  ['metadata of clouds', '169.254.169.254'],
  ['metadata of clouds, in one number', '2852039166'],
  ['metadata of another cloud', '100.100.100.200'],
  ['carrier-grade NAT', '100.64.0.1'],
  ['multicast', '224.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['loopback of IPv6', '[::1]'],
  ['loopback of IPv6 in full', '[0:0:0:0:0:0:0:1]'],
  ['unspecified of IPv6', '[::]'],
  ['IPv4 mapped', '[::ffff:127.0.0.1]'],
  ['IPv4 mapped, in hex', '[::ffff:7f00:1]'],
  ['IPv4 mapped metadata', '[::ffff:a9fe:a9fe]'],
  ['IPv4 in the deprecated form', '[::127.0.0.1]'],
  ['IPv4 in the deprecated form, in hex', '[::7f00:1]'],
  ['NAT64', '[64:ff9b::7f00:1]'],
  ['local NAT64', '[64:ff9b:1::7f00:1]'],
  ['6to4', '[2002:7f00:1::1]'],
  ['Teredo', '[2001:0:7f00:1::]'],
  ['unique local', '[fd00::1]'],
  ['metadata of a cloud, by IPv6', '[fd00:ec2::254]'],
  ['link-local of IPv6', '[fe80::1]'],
];

describe('without an allowed network', () => {
  test.for(LITERALS)('nothing is sent to an address: %s', async ([, host]) => {
    await using bird = await canary();
    await using strict = sender({ allowedNetworks: [] });

    expect(await strict.send(`http://${host}:${bird.port}/`)).toEqual(REFUSED);
    expect(await strict.send(`https://${host}:${bird.port}/`)).toEqual(REFUSED);
    expect(bird.connections()).toBe(0);
  });

  test.for([
    ['loopback', [HERE]],
    ['loopback of IPv6', ['::1']],
    ['both', [HERE, '::1']],
    ['IPv4 mapped', ['::ffff:127.0.0.1']],
    ['IPv4 in the deprecated form', ['::7f00:1']],
    ['private', ['10.1.2.3', '192.168.1.1']],
    ['metadata of clouds', ['169.254.169.254']],
    ['NAT64', ['64:ff9b::7f00:1']],
    ['6to4', ['2002:7f00:1::1']],
  ] as const)('nothing is sent to a name that resolves to %s', async ([, addresses]) => {
    await using bird = await canary();
    await using strict = sender({ allowedNetworks: [], lookup: names([...addresses]) });

    expect(await strict.send(`http://hooks.example:${bird.port}/`)).toEqual(REFUSED);
    expect(bird.connections()).toBe(0);
  });
});

test('the canary sees allowed connections, so its silence proves something', async () => {
  await using bird = await canary();
  await using lax = sender({ allowedNetworks: ['127.0.0.0/8', '::1'] });

  const sent = await Promise.all(
    [HERE, '2130706433', '[::1]', 'hooks.example'].map(host => lax.send(`http://${host}:${bird.port}/`)),
  );

  expect(sent.map(({ responseCode }) => responseCode)).toEqual([204, 204, 204, 204]);
  expect(bird.connections()).toBe(4);
});

test('only the allowed addresses of a name are tried', async () => {
  await using there = await startReceiver(undefined, { host: THERE });
  await using here = await startReceiver(undefined, { host: HERE, port: there.port });
  await using guarded = sender({ allowedNetworks: [THERE], lookup: names([HERE, '::1', '10.0.0.1', THERE]) });

  expect(await guarded.send(`http://hooks.example:${there.port}/`)).toMatchObject({ isSuccess: true });
  expect([there.connections(), here.connections()]).toEqual([1, 0]);
});

test('a name is resolved and checked for every connection, which uses exactly the checked address', async () => {
  const leave: Answer = response => response.writeHead(204, { connection: 'close' }).end();
  await using there = await startReceiver(() => leave, { host: THERE });
  await using here = await startReceiver(undefined, { host: HERE, port: there.port });
  const lookup = names([THERE], [HERE]);
  await using guarded = sender({ allowedNetworks: [THERE], lookup });
  const url = `http://hooks.example:${there.port}/`;

  expect(await guarded.send(url)).toMatchObject({ isSuccess: true });
  expect(await guarded.send(url)).toEqual(REFUSED);
  expect(lookup).toHaveBeenCalledTimes(2);
  expect([there.connections(), here.connections()]).toEqual([1, 0]);
});

test.for([301, 302, 303, 307, 308])('a redirect is a failure and is not followed: %i', async status => {
  await using bird = await canary();
  const location = `http://${HERE}:${bird.port}/`;
  await using receiver = await startReceiver(
    () => response => response.writeHead(status, { location }).end(),
  );
  await using guarded = sender();

  expect(await guarded.send(receiver.url)).toMatchObject({
    isSuccess: false,
    responseCode: status,
    error: `The receiver answered ${status}; redirects are not followed.`,
  });
  expect(receiver.arrivals).toHaveLength(1);
  expect(bird.connections()).toBe(0);
});

describe('what the operator allows', () => {
  test('opens only the named networks', async () => {
    await using there = await startReceiver(undefined, { host: THERE });
    await using bird = await canary();
    await using guarded = sender({ allowedNetworks: ['127.0.0.2/32'] });

    expect(await guarded.send(there.url)).toMatchObject({ isSuccess: true });
    for (const host of [HERE, '127.0.0.3', '[::1]', '[::ffff:127.0.0.2]', '10.0.0.1']) {
      expect(await guarded.send(`http://${host}:${bird.port}/`)).toEqual(REFUSED);
    }
    expect(bird.connections()).toBe(0);
  });

  test('opens http only if set, even in an allowed network', async () => {
    await using bird = await canary();
    await using guarded = sender({ allowHttp: false });

    expect(await guarded.send(`http://${HERE}:${bird.port}/`)).toEqual(REFUSED);
    expect(bird.connections()).toBe(0);
  });

  test('does not open private networks with http', async () => {
    await using bird = await canary();
    await using guarded = sender({ allowedNetworks: [], allowHttp: true });

    expect(await guarded.send(`http://${HERE}:${bird.port}/`)).toEqual(REFUSED);
    expect(bird.connections()).toBe(0);
  });

  test.for([
    'ftp://hooks.example/',
    'file:///etc/passwd',
    'http://user:secret@hooks.example/',
    'hooks.example',
  ])('opens no other kind of URL: %s', async url => {
    await using guarded = sender();

    expect(await guarded.send(url)).toEqual(REFUSED);
  });
});

describe('a request', () => {
  test('arrives as a POST with exactly these bytes and headers', async () => {
    await using receiver = await startReceiver();
    await using guarded = sender();
    const body = '{ "b":1e3,"a":"\\u0041 ü 🧾" }';

    await guarded.send(`${receiver.url}/hook?shop=7&x=%2F`, body, { 'X-Service-Event': 'test.ping' });

    const [arrival] = receiver.arrivals;
    expect(arrival?.path).toBe('/hook?shop=7&x=%2F');
    expect(arrival?.body).toEqual(Buffer.from(body, 'utf8'));
    expect(arrival?.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'user-agent': expect.stringMatching(/^tollgate\//),
      'x-service-event': 'test.ping',
    });
  });

  test.for([200, 201, 202, 204, 299])('is a success when the receiver answers %i', async status => {
    await using receiver = await startReceiver(() => status);
    await using guarded = sender();

    const result = await guarded.send(receiver.url);

    expect(result).toEqual({
      isSuccess: true,
      responseCode: status,
      responseTimeMs: expect.any(Number),
      error: null,
      responseBody: null,
    });
    expect(Number.isInteger(result.responseTimeMs) && Number(result.responseTimeMs) >= 0).toBe(true);
  });

  test('has the time until the answer as its response time, in whole milliseconds', async () => {
    await using receiver = await startReceiver(() => response => setTimeout(() => response.end(), 100));
    await using guarded = sender();
    const startedAt = performance.now();

    const { responseTimeMs } = await guarded.send(receiver.url);

    // A timer may end up to a millisecond early.
    expect(responseTimeMs).toBeGreaterThanOrEqual(99);
    expect(responseTimeMs).toBeLessThanOrEqual(Math.ceil(performance.now() - startedAt));
  });

  test.for([304, 400, 401, 404, 410, 429, 500, 503])('is a failure when it answers %i', async status => {
    await using receiver = await startReceiver(() => status);
    await using guarded = sender();

    expect(await guarded.send(receiver.url)).toMatchObject({
      isSuccess: false,
      responseCode: status,
      error: expect.stringContaining(`The receiver answered ${status}`),
    });
  });

  test('is a failure without an answer in time, with neither code nor time', async () => {
    await using receiver = await startReceiver(() => () => undefined);
    await using guarded = sender({ timeoutMs: 300 });

    expect(await guarded.send(receiver.url)).toEqual({
      isSuccess: false,
      responseCode: null,
      responseTimeMs: null,
      error: 'No answer came within 0.3 seconds.',
      responseBody: null,
    });
  });

  test.for<[string, Answer, string]>([
    [
      'that ends the connection',
      response => response.socket?.destroy(),
      'The receiver ended the connection without an answer.',
    ],
    ['that speaks SMTP', response => response.socket?.end('220 mail.example ESMTP\r\n'), 'reached'],
  ])('is a failure at a receiver %s', async ([, answer, said]) => {
    await using receiver = await startReceiver(() => answer);
    await using guarded = sender();

    expect(await guarded.send(receiver.url)).toMatchObject({
      isSuccess: false,
      responseCode: null,
      error: expect.stringContaining(said),
    });
  });

  test('is a failure at a closed port or an unknown name', async () => {
    const gone = await startReceiver();
    await gone[Symbol.asyncDispose]();
    const unknown = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));
    await using guarded = sender();
    await using unresolved = sender({ lookup: unknown });

    expect((await guarded.send(gone.url)).error).toBe('The receiver refused the connection.');
    expect((await unresolved.send('http://hooks.example/')).error).toBe(NOT_ALLOWED);
  });

  test('is a failure when the certificate is not trusted', async () => {
    const file = (name: string) =>
      readFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url), 'utf8');
    let requests = 0;
    const server = createSecureServer(
      { key: file('key.pem'), cert: file('certificate.pem') },
      (_, response) => {
        requests += 1;
        response.end();
      },
    );
    await new Promise<void>(resolve => server.listen(0, HERE, resolve));
    const bound = server.address();
    if (bound === null || typeof bound === 'string') throw new Error('no port');
    await using guarded = sender();

    const result = await guarded.send(`https://hooks.example:${bound.port}/`);

    expect(result).toMatchObject({
      responseCode: null,
      error: 'The receiver’s certificate is not valid for its name.',
    });
    expect(requests).toBe(0);
    await new Promise(resolve => server.close(resolve));
  });
});

describe('the body of an answer does not matter:', () => {
  const endless = (response: Parameters<Exclude<Answer, number>>[0]) => {
    const block = Buffer.alloc(65_536, 'x');
    const write = () => {
      while (!response.destroyed && response.write(block)) {}
    };
    response.on('drain', write);
    write();
  };

  test.for<[string, Answer]>([
    ['one of a megabyte', response => response.writeHead(200).end(Buffer.alloc(1_000_000))],
    ['one without end', response => endless(response.writeHead(200))],
    ['one that never comes', response => response.writeHead(200, { 'content-length': '10' }).flushHeaders()],
    [
      'one that is cut off',
      response =>
        response.writeHead(200, { 'content-length': '10' }).write('x', () => response.socket?.destroy()),
    ],
    [
      'one in an unknown encoding',
      response => response.writeHead(200, { 'content-encoding': 'zstd' }).end('x'),
    ],
  ])('%s', async ([, answer]) => {
    await using receiver = await startReceiver(() => answer);
    // Longer than the test may take, so that a wait for the end of the body fails it.
    await using guarded = sender({ timeoutMs: 2 * PATIENCE_MS });

    expect(await guarded.send(receiver.url)).toMatchObject({ isSuccess: true, responseCode: 200 });
  });

  test('its connection is closed soon, and no attempt waits for it', async () => {
    const left: Promise<void>[] = [];
    await using receiver = await startReceiver(({ number }) => {
      if (number > 20) return 204;
      return response => {
        left.push(new Promise(resolve => response.once('close', resolve)));
        endless(response.writeHead(200));
      };
    });
    await using guarded = sender({ timeoutMs: PATIENCE_MS });

    const sent = await Promise.all(Array.from({ length: 20 }, () => guarded.send(receiver.url)));
    await Promise.all(left);

    expect(sent.every(({ isSuccess }) => isSuccess)).toBe(true);
    expect(left).toHaveLength(20);
    expect(await guarded.send(receiver.url)).toMatchObject({ isSuccess: true });
  });
});

test('hanging requests do not delay another one to the same host', async () => {
  const arrived = Promise.withResolvers<void>();
  await using receiver = await startReceiver(({ path, number }) => {
    if (number === 30) arrived.resolve();
    return path === '/hangs' ? () => undefined : 204;
  });
  await using guarded = sender({ timeoutMs: PATIENCE_MS });
  const hanging = Array.from({ length: 30 }, () => guarded.send(`${receiver.url}/hangs`));
  await arrived.promise;

  expect(await guarded.send(receiver.url)).toMatchObject({ isSuccess: true });
  await guarded.close();
  expect((await Promise.all(hanging)).some(({ isSuccess }) => isSuccess)).toBe(false);
});

test('a result names no address', async () => {
  await using guarded = sender({ allowedNetworks: [], lookup: names(['10.11.12.13']) });

  const { error } = await guarded.send('http://secret-name.example:4567/token');

  expect(error).not.toMatch(/10\.11|secret-name|4567|token/);
});

describe('the answer of a receiver', () => {
  const kept = { keptNetworks: [`${HERE}/32`] };

  test('is kept up to 2,048 bytes, whatever its status, and never within a character', async () => {
    await using receiver = await startReceiver(() => response => {
      response.statusCode = 500;
      response.end(`a${'é'.repeat(5_000)}`);
    });
    await using sending = sender(kept);

    const { responseCode, responseBody } = await sending.answerOf(receiver.url);

    expect([responseCode, responseBody]).toEqual([500, `a${'é'.repeat(1_023)}`]);
  });

  test('is not kept when the setting is off', async () => {
    await using receiver = await startReceiver(() => response => response.end('secret'));
    await using sending = sender(kept);

    expect((await sending.send(receiver.url)).responseBody).toBeNull();
  });

  test('is not kept from a network that only the operator allows, which gets one request', async () => {
    await using receiver = await startReceiver(() => response => response.end('of the private network'));
    await using sending = sender();

    expect(await sending.answerOf(receiver.url)).toMatchObject({ responseCode: 200, responseBody: null });
    expect(receiver.arrivals).toHaveLength(1);
  });

  test('is kept as far as it arrives within a second, and not at all when compressed', async () => {
    await using slow = await startReceiver(() => response => void response.write('begun'));
    await using packed = await startReceiver(() => response => {
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync('text'));
    });
    await using sending = sender(kept);

    expect(await sending.answerOf(slow.url)).toMatchObject({ isSuccess: true, responseBody: 'begun' });
    expect(await sending.answerOf(packed.url)).toMatchObject({ isSuccess: true, responseBody: null });
  });
});
