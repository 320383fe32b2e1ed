import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from './loopback-server.ts';

/** A Redis server on the loopback interface that a test can stop. */
export interface OwnRedis extends AsyncDisposable {
  /** Its URL, with the password if it requires one. */
  readonly url: string;
  readonly port: number;
  /** Stops the server, which loses its data. Resolves when nothing listens any more. */
  stop(): Promise<void>;
  /** Starts an empty server on the same port. Resolves when it accepts connections. */
  start(): Promise<void>;
  /** Makes the server stop answering; its connections stay open. */
  hang(): void;
  /** Makes the server answer again after `hang`. */
  goOn(): void;
}

/** Starts a server on a free port that writes nothing to disk. It requires a password if one is given. */
export async function startOwnRedis({ password }: { password?: string } = {}): Promise<OwnRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-redis-'));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', removeFolder);
  const port = await freePort();
  let server = await run();
  const stop = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill('SIGKILL'); // also ends a hanging server
    await ended;
  };
  return {
    url: `redis://${password === undefined ? '' : `:${password}@`}127.0.0.1:${port}`,
    port,
    stop,
    async start() {
      await stop();
      server = await run();
    },
    hang: () => void server.kill('SIGSTOP'),
    goOn: () => void server.kill('SIGCONT'),
    async [Symbol.asyncDispose]() {
      await stop();
      process.off('exit', removeFolder);
      removeFolder();
    },
  };

  async function run(): Promise<ChildProcess> {
    const settings = { port, bind: '127.0.0.1', dir: folder, save: '', appendonly: 'no' };
    const flags = Object.entries({ ...settings, ...(password && { requirepass: password }) });
    const child = spawn(
      'redis-server',
      flags.flatMap(([name, value]) => [`--${name}`, String(value)]),
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const endWithTests = () => child.kill('SIGKILL');
    process.once('exit', endWithTests);
    child.once('exit', () => process.off('exit', endWithTests));
    await listening(child);
    return child;
  }
}

/** Rejects with the server's output when it exits instead. */
async function listening(server: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const said: string[] = [];
  server.once('error', error => reject(new Error(`redis-server does not start: ${error.message}`)));
  server.once('exit', () => reject(new Error(`redis-server ended: ${said.join('\n')}`)));
  if (server.stdout === null) throw new Error('redis-server has no output');
  createInterface({ input: server.stdout }).on('line', line => {
    said.push(line);
    if (line.includes('Ready to accept connections')) resolve();
  });
  await promise;
}
