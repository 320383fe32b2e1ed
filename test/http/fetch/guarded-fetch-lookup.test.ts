import { createSocket } from 'node:dgram';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { nameServerLookup, systemLookup } from '#http/fetch/connect.ts';
import { FetchFailure, guardedFetch } from '#http/fetch/guarded-fetch.ts';
import { createLogger } from '#lib/logger.ts';

const TYPE_A = 1;
const HEADER_BYTES = 12;
const QUESTION_TAIL_BYTES = 5;

/** A name server on loopback (RFC 1035) that gives every name these IPv4 addresses; without any it does not answer. */
async function nameServer(addresses: readonly string[]) {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const end = query.indexOf(0, HEADER_BYTES) + QUESTION_TAIL_BYTES;
    const question = query.subarray(HEADER_BYTES, end);
    const answers = query.readUInt16BE(end - 4) === TYPE_A ? addresses : [];
    const head = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, answers.length, 0, 0, 0, 0]);
    const records = answers.map(text =>
      Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...text.split('.').map(Number)]),
    );
    if (addresses.length > 0) socket.send(Buffer.concat([head, question, ...records]), port, address);
  });
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve));
  return {
    lookup: nameServerLookup([`127.0.0.1:${socket.address().port}`]),
    async [Symbol.asyncDispose]() {
      await new Promise<void>(resolve => socket.close(resolve));
    },
  };
}

test('a name resolves to the addresses from its name server', async () => {
  await using server = await nameServer(['192.0.2.1', '198.51.100.7']);

  expect(await server.lookup('files.test')).toEqual([
    { address: '192.0.2.1', family: 4 },
    { address: '198.51.100.7', family: 4 },
  ]);
});

test('a name that resolves to this machine is refused', async () => {
  let requests = 0;
  const web = createServer((_, response) => {
    requests += 1;
    response.end('here');
  });
  await new Promise<void>(resolve => web.listen(0, '127.0.0.1', resolve));
  const address = web.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  await using server = await nameServer(['127.0.0.1']);
  const bounds = { timeoutMs: 20_000, maxBytes: 100, allowHttp: true, lookup: server.lookup };
  const log = createLogger({ level: 'silent' });
  const guarded = guardedFetch({ ...bounds, log });
  const allowed = guardedFetch({ ...bounds, log, allowedNetworks: ['127.0.0.0/8'] });
  const url = `http://files.test:${port}/`;

  const refused = await guarded.fetch({ url }).catch((error: unknown) => error);
  const answered = await allowed.fetch({ url });

  expect(refused instanceof FetchFailure && refused.kind).toBe('refused');
  expect(answered.bytes.toString()).toBe('here');
  expect(requests).toBe(1);
  await Promise.all([guarded.close(), allowed.close()]);
  await new Promise(resolve => web.close(resolve));
});

test('a name server that does not answer does not delay a fetch beyond its deadline', async () => {
  await using server = await nameServer([]);
  const log = createLogger({ level: 'silent' });
  const guarded = guardedFetch({ timeoutMs: 300, maxBytes: 100, lookup: server.lookup, log });

  const failed = await guarded.fetch({ url: 'https://files.test/' }).catch((error: unknown) => error);

  expect(failed instanceof FetchFailure && failed.kind).toBe('timeout');
  await guarded.close();
});

test('the system resolves localhost', async () => {
  const found = await systemLookup('localhost');

  expect(found.length).toBeGreaterThan(0);
  expect(found.every(({ address }) => ['127.0.0.1', '::1'].includes(address))).toBe(true);
});
