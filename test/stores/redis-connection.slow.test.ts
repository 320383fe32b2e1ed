import dns from 'node:dns';
import { createServer as createHttpServer } from 'node:http';
import { connect as connectTo, createServer, type Server } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openRedis, type RedisConnection } from '#stores/redis-connection.ts';
import { freePort, loopbackPort } from '../lab/loopback-server.ts';
import { type OwnRedis, startOwnRedis } from '../lab/redis.ts';
import { until } from '../lab/until.ts';
import { startFaultyFront } from '../support/faulty-front.ts';
import { countedFailures } from '../support/store-failures.ts';

const TITLE = 'Redis of tests';

async function open(url: string) {
  const failures = countedFailures();
  const connection = await openRedis({ url, title: TITLE, setting: 'test.store', failures });
  onTestFinished(connection.close);
  return { ...connection, failures };
}

async function server(options: { password?: string } = {}): Promise<OwnRedis> {
  const redis = await startOwnRedis(options);
  onTestFinished(() => redis[Symbol.asyncDispose]());
  return redis;
}

async function listening(other: Server): Promise<number> {
  onTestFinished(() => void other.close());
  return loopbackPort(other);
}

const isBack = ({ client }: RedisConnection) =>
  until(
    async () => client.isReady,
    isReady => isReady,
  );

test.each([
  ['without its password', (port: number) => `redis://127.0.0.1:${port}`, /asks for a password/],
  ['with another password', (port: number) => `redis://:0ther@127.0.0.1:${port}`, /answers "WRONGPASS/],
  ['with a missing database', (port: number) => `redis://:s3cret@127.0.0.1:${port}/99`, /answers "ERR DB/],
])('a Redis opened %s is refused with a sentence that names its setting', async (_, urlOf, reason) => {
  const { port } = await server({ password: 's3cret' });

  const refused = open(urlOf(port));

  await expect(refused).rejects.toMatchObject({ name: 'CannotStart', setting: 'test.store' });
  await expect(refused).rejects.toThrow(reason);
  await expect(refused).rejects.not.toThrow(/s3cret|0ther/);
});

test('a Redis user without write permission is refused with the message of the server', async () => {
  const redis = await server();
  const { client } = await open(redis.url);
  await client.sendCommand(['ACL', 'SETUSER', 'reader', 'on', '>pw', '~*', '+ping', '+get']);

  const refused = open(redis.url.replace('//', '//reader:pw@'));

  await expect(refused).rejects.toThrow(/answers "NOPERM/);
});

test('a server with another protocol is refused as not Redis', async () => {
  const port = await listening(createHttpServer((_, response) => response.end('hello')));

  await expect(open(`redis://127.0.0.1:${port}`)).rejects.toThrow(/does not speak the protocol of Redis/);
});

test('failed TLS is refused with its code', async () => {
  const port = await listening(createHttpServer((_, response) => response.end('hello')));

  await expect(open(`rediss://127.0.0.1:${port}`)).rejects.toThrow(/TLS fails with ERR_SSL_/);
});

test('a password repeated by the server in its refusal is not in the message', async () => {
  const port = await listening(
    createServer(socket =>
      socket.on('data', () => socket.write("-ERR unknown command 'AUTH' 'p%40ss' 'p@ss'\r\n")),
    ),
  );

  await expect(open(`redis://:p%40ss@127.0.0.1:${port}`)).rejects.toThrow(/unknown command 'AUTH' '…' '…'/);
});

test('a Redis that is down at the start is reported, and is used once it is up', async () => {
  const port = await freePort();
  const connection = await open(`redis://127.0.0.1:${port}`);
  const { client, failures } = connection;
  const atStart = failures.reported.length;
  const early = client.ping();

  await expect(early).rejects.toThrow();
  const redis = await server();
  const forwarder = createServer(socket => {
    socket.pipe(connectTo(redis.port)).pipe(socket);
  });
  onTestFinished(() => void forwarder.close());
  forwarder.listen(port, '127.0.0.1');
  await isBack(connection);

  expect(atStart).toBe(1);
  expect(await client.ping()).toBe('PONG');
});

test('commands fail at once while Redis is down, and work again when it is back', async () => {
  const redis = await server();
  const connection = await open(redis.url);

  await redis.stop();
  await until(
    async () => connection.client.isReady,
    isReady => !isReady,
  );
  await expect(connection.client.ping()).rejects.toThrow();
  await redis.start();
  await isBack(connection);

  expect(await connection.client.ping()).toBe('PONG');
  expect(connection.failures.reported.length).toBeGreaterThan(0);
});

test.each([
  ['brings unreadable bytes', '\u0001garbage\r\n'],
  ['loses a reply', ''],
])('a connection that %s is reopened', async (_, bytes) => {
  const redis = await server();
  const front = await startFaultyFront(redis.port);
  const connection = await open(`redis://127.0.0.1:${front.port}`);
  await connection.client.set('a', '1');

  front.spoil(Buffer.from(bytes), { isInstead: true });
  await until(
    async () => connection.failures.reported.length,
    count => count > 0,
  );
  await isBack(connection);

  // A busy machine may be late for a ping again.
  await expect.poll(() => connection.client.get('a')).toBe('1');
});

test('a connection to a hanging Redis is dropped even while commands continue, and is reopened afterwards', async () => {
  const redis = await server();
  const connection = await open(redis.url);
  redis.hang();

  const isReady = await until(
    async () => {
      connection.client.get('a').catch(() => undefined);
      return connection.client.isReady;
    },
    isStillReady => !isStillReady,
  );
  redis.goOn();
  await isBack(connection);

  expect(isReady).toBe(false);
  await expect.poll(() => connection.client.ping()).toBe('PONG');
});

test('a TLS handshake that is cut off is an outage, not a refusal', async () => {
  const port = await listening(createServer(socket => socket.once('data', () => socket.destroy())));

  const { failures } = await open(`rediss://127.0.0.1:${port}`);

  expect(failures.reported[0]).toMatchObject({ code: 'ECONNRESET' });
});

test('a host whose two addresses both refuse connections is an outage, not a refusal', async () => {
  const port = await freePort();
  const both = [
    { address: '127.0.0.1', family: 4 },
    { address: '127.0.0.2', family: 4 },
  ];
  const lookup = vi.spyOn(dns, 'lookup').mockImplementation((...given: unknown[]) => {
    const [done] = given.slice(-1);
    if (typeof done === 'function') done(null, both);
  });
  onTestFinished(() => lookup.mockRestore());

  const { failures } = await open(`redis://two.addresses.test:${port}`);

  expect(failures.reported[0]).toMatchObject({ name: 'AggregateError', code: 'ECONNREFUSED' });
});

test('a connection closed during its opening stays closed, and can be closed again', async () => {
  const senders: string[] = [];
  const marked = Promise.withResolvers<void>();
  const port = await listening(
    createServer(socket => {
      socket.on('error', () => undefined);
      socket.on('data', data => {
        senders.push(data.includes('marker') ? 'marker' : 'client');
        if (senders.at(-1) === 'marker') marked.resolve();
      });
    }),
  );
  const looking = Promise.withResolvers<() => void>();
  const lookup = vi.spyOn(dns, 'lookup').mockImplementation((...given: unknown[]) => {
    const [done] = given.slice(-1);
    if (typeof done !== 'function') return;
    if (lookup.mock.calls.length > 1)
      looking.resolve(() => done(null, [{ address: '127.0.0.1', family: 4 }]));
    else done(Object.assign(new Error('no address'), { syscall: 'getaddrinfo', code: 'EAI_AGAIN' }));
  });
  onTestFinished(() => lookup.mockRestore());
  const { close, failures } = await open(`redis://late.address.test:${port}`);
  const find = await looking.promise;

  close();
  close();
  find();
  const marker = connectTo(port, '127.0.0.1', () => marker.write('marker'));
  onTestFinished(() => void marker.destroy());
  await marked.promise;

  expect(senders).toEqual(['marker']);
  expect(failures.reported).toHaveLength(1);
});
