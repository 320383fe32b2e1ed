import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from './loopback-server.ts';

/** A PgBouncer in front of a PostgreSQL server. */
export interface PgBouncer extends AsyncDisposable {
  /** The same database through the pooler. */
  readonly url: string;
}

/**
 * Starts a PgBouncer with few connections of the server, so that its clients share them. `url` is a database on a Unix
 * socket.
 */
export async function startPgBouncer(
  url: string,
  { mode = 'transaction' }: { mode?: 'transaction' | 'session' | 'statement' } = {},
): Promise<PgBouncer> {
  const { pathname, searchParams, username } = new URL(url);
  const name = pathname.slice(1);
  const folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', removeFolder);
  await chmod(folder, 0o711);
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(
    file,
    `[databases]
${name} = host=${searchParams.get('host')} user=${username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 3
query_wait_timeout = 30
`,
  );
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'postgres'] : [];
  const child = spawn('pgbouncer', [...user, file], { stdio: ['ignore', 'ignore', 'pipe'] });
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  const { promise: isUp, resolve, reject } = Promise.withResolvers<void>();
  const said: string[] = [];
  child.once('error', error => reject(new Error(`pgbouncer does not start: ${error.message}`)));
  child.once('exit', () => reject(new Error(`pgbouncer ended: ${said.join('\n')}`)));
  createInterface({ input: child.stderr }).on('line', line => {
    said.push(line);
    if (line.includes('process up')) resolve();
  });
  await isUp;
  return {
    url: `postgres://${username}@127.0.0.1:${port}/${name}`,
    async [Symbol.asyncDispose]() {
      process.off('exit', end);
      process.off('exit', removeFolder);
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      removeFolder();
    },
  };
}
