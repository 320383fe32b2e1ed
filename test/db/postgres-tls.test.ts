import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { openMigrated, readSchema } from '../../src/db/migrate.ts';
import { openDatabase } from '../../src/db/open.ts';
import type { Tls } from '../../src/db/postgres/options.ts';
import { CannotStart } from '../../src/lib/startup-error.ts';
import { loopbackPort } from '../lab/loopback-server.ts';

const file = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8');
const CA = file('postgres-certificate.pem');
const STRANGER = file('certificate.pem');
/** Code of an SSLRequest. Source: PostgreSQL, "Message Formats". */
const SSL_REQUEST = 80_877_103;

/** A TLS server that reports to a client with a start-up message that it was reached. */
async function startTlsServer() {
  const sockets = new Set<Socket>();
  const server = createServer(socket => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    void greet(socket);
  });
  const port = await loopbackPort(server);
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

async function greet(socket: Socket): Promise<void> {
  const [request]: Buffer[] = await once(socket, 'data');
  if (request?.readInt32BE(4) !== SSL_REQUEST) return void socket.destroy();
  socket.write('S');
  const options = { isServer: true, key: file('postgres-key.pem'), cert: CA };
  const secure = new TLSSocket(socket, options);
  secure.on('error', () => undefined);
  secure.once('data', () => secure.end(errorMessage('reached')));
}

/** An ErrorResponse. */
function errorMessage(text: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C28000\0M${text}\0\0`);
  const head = Buffer.alloc(5, 'E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

/** Outcome of a first statement at an address with these certificates. */
async function firstError(port: number, { query = '', tls }: { query?: string; tls?: Tls }): Promise<string> {
  const url = `postgres://me:secret@127.0.0.1:${port}/shop${query}`;
  const db = openDatabase({ kind: 'postgres', url, ...(tls === undefined ? {} : { tls }) });
  try {
    await db.raw('select 1');
    return 'connected';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await db.destroy();
  }
}

test('a server is reached through TLS when its certificate is signed by the configured authority', async () => {
  await using server = await startTlsServer();

  expect(await firstError(server.port, { tls: { ca: CA } })).toBe('reached');
  expect(await firstError(server.port, { query: '?sslmode=disable', tls: { ca: CA } })).toBe('reached');
});

test.each([{}, { tls: { ca: CA } }])(
  'an invalid address is reported in a sentence without the password, with %s',
  async tls => {
    const schema = { title: 'database', setting: 'a.setting', migrations: [] };
    const url = 'postgres://me:hunter2@db:99999/shop';

    const failures = await Promise.all(
      [openMigrated, readSchema].map(open =>
        open({ kind: 'postgres', url, ...tls }, schema).catch((error: unknown) => error),
      ),
    );

    for (const failure of failures) {
      expect(failure).toBeInstanceOf(CannotStart);
      expect(failure).toMatchObject({
        message: 'The database cannot be used: Its address is not a valid URL.',
      });
      expect(inspect(failure)).not.toContain('hunter2');
    }
  },
);

test('an address without a host means the server on this machine', async () => {
  await using server = await startTlsServer();
  const url = `postgres://me@/shop?port=${server.port}&host=127.0.0.1`;
  const db = openDatabase({ kind: 'postgres', url, tls: { ca: CA } });

  const failure = await db.raw('select 1').catch((error: unknown) => error);
  await db.destroy();

  expect(failure).toMatchObject({ message: 'reached' });
});

test('a certificate of another authority is refused, even where the address would accept any', async () => {
  await using server = await startTlsServer();

  for (const query of ['', '?sslmode=no-verify'])
    expect(await firstError(server.port, { query, tls: { ca: STRANGER } })).toMatch(
      /self-signed certificate/,
    );
});
