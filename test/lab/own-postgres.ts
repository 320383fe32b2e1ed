import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { record, text } from './json.ts';

/** A PostgreSQL server that a test can stop. */
export interface OwnPostgres extends AsyncDisposable {
  /** URL of its empty database. */
  readonly url: string;
  /** Ends every connection, and resolves when nothing listens any more. */
  stop(): Promise<void>;
  /** Resolves when it accepts connections again. */
  start(): Promise<void>;
  /** Restarts the server and adds a hot standby that follows it. Returns the URL of the standby. Only once. */
  addStandby(): Promise<string>;
}

/** Starts a server next to the run's. */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  const program = fileURLToPath(new URL('./postgres-process.ts', import.meta.url));
  const server = fork(program, { stdio: 'inherit', detached: true, execArgv: [] });
  const told = record(await nextMessage(server));
  if ('failure' in told) throw new Error(text(told.failure));
  const command = async (name: 'stop' | 'start' | 'standby') => {
    const done = nextMessage(server);
    server.send(name);
    return record(await done);
  };
  return {
    url: urlOf(told),
    stop: async () => void (await command('stop')),
    start: async () => void (await command('start')),
    addStandby: async () => urlOf(await command('standby')),
    async [Symbol.asyncDispose]() {
      const ended = once(server, 'exit');
      server.disconnect();
      await ended;
    },
  };
}

function urlOf({ socketFolder }: Record<string, unknown>): string {
  return `postgres://postgres@localhost/postgres?host=${encodeURIComponent(text(socketFolder))}`;
}

async function nextMessage(server: ChildProcess): Promise<unknown> {
  const [message] = await once(server, 'message');
  return message;
}
