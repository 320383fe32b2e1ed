import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { loopbackPort } from '../lab/loopback-server.ts';
import { ETHEREUM, programs } from './programs.ts';

const { start } = programs();

const configOf = (database: string, more = '') => `
${more}
data: { listen: "127.0.0.1:0" }
payments: { listen: "127.0.0.1:0", database: "${database}" }
admin: { listen: "127.0.0.1:0" }
${ETHEREUM}
    rpc: ["http://127.0.0.1:9"]
    backends: [{ kind: blockscout, url: "http://127.0.0.1:9/api/v2" }]
`;

/** URL of a database that another process has locked. */
async function lockedDatabase(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-locked-'));
  const file = join(folder, 'payments.db');
  const other = new Database(file);
  other.exec('pragma journal_mode = wal; begin immediate');
  onTestFinished(async () => {
    other.close();
    await rm(folder, { recursive: true });
  });
  return `sqlite:${file}`;
}

/** URL of a silent PostgreSQL that accepts connections. `reached` resolves with the first one. */
async function silentPostgres() {
  const reached = Promise.withResolvers<void>();
  const server = createServer(socket => {
    socket.on('error', () => undefined);
    socket.resume();
    reached.resolve();
    onTestFinished(() => void socket.destroy());
  });
  onTestFinished(() => void server.close());
  const port = await loopbackPort(server);
  return { address: `postgres://127.0.0.1:${port}/tollgate`, reached: reached.promise };
}

test('a program that waits for a locked database stops with 0', async () => {
  const program = await start(configOf(await lockedDatabase()));
  await program.listening();

  program.child.kill('SIGTERM');

  expect([await program.exited, program.errors()]).toEqual([0, '']);
  expect(program.log).toContainEqual(expect.objectContaining({ msg: 'stopping' }));
});

test.each([
  ['one process', ''],
  ['workers', 'workers: 2'],
])('%s stops with 0 while a database does not answer', async (_, setting) => {
  const { address, reached } = await silentPostgres();
  const program = await start(configOf(address, setting));
  await reached;

  program.child.kill('SIGTERM');

  expect([await program.exited, program.errors()]).toEqual([0, '']);
  expect(program.log.filter(({ level = 0 }) => level >= 40)).toEqual([]);
});

test('Ctrl+C under a launcher, which adds a SIGTERM, lets workers end by themselves', async () => {
  const { address, reached } = await silentPostgres();
  const program = await start(configOf(address, 'workers: 2'));
  await reached;

  program.child.kill('SIGINT');
  await program.entry(({ msg }) => msg === 'stopping the workers');
  program.child.kill('SIGTERM');

  expect(await program.exited).toBe(0);
});
