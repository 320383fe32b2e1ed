import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import base from '../../vitest.config.ts';
import type { InstrumentedFiles, RunRequest, TestFileResult } from './session.ts';

/** Runs tests with one mutant after another. */
export interface TestSession extends AsyncDisposable {
  /** Undefined when the tests did not end in time. What they started is ended then. */
  run(request: RunRequest, limitMs: number): Promise<readonly TestFileResult[] | undefined>;
}

/** Creates a session, whose process is started by a run that finds none. */
export function testSession(files: InstrumentedFiles, isVerbose: boolean): TestSession {
  let current: Promise<Running> | undefined;

  return {
    async run(request, limitMs) {
      current ??= start(files, isVerbose);
      const running = await current;
      const results = await running.ask(request, limitMs);
      if (results === undefined) {
        current = undefined;
        await running.close();
      }
      return results;
    },
    async [Symbol.asyncDispose]() {
      const running = await current;
      await running?.close();
    },
  };
}

interface Running {
  ask(request: RunRequest, limitMs: number): Promise<readonly TestFileResult[] | undefined>;
  close(): Promise<void>;
}

async function start(files: InstrumentedFiles, isVerbose: boolean): Promise<Running> {
  const { test } = base({ mode: 'test', command: 'serve' });
  // Holds what tests leave when they are ended. PostgreSQL, which may have a user of its own, must be able to enter it.
  const folder = mkdtempSync(join(test?.env?.TMPDIR ?? tmpdir(), 'mutants-'));
  chmodSync(folder, 0o711);
  const child = fork(join(import.meta.dirname, 'session.ts'), isVerbose ? ['--verbose'] : [], {
    // A process group of its own, so that its workers end with it. PostgreSQL ends when its parent has.
    detached: true,
    env: { ...process.env, TMPDIR: folder },
    stdio: [
      'ignore',
      ...(isVerbose ? (['inherit', 'inherit'] as const) : (['ignore', 'ignore'] as const)),
      'ipc',
    ],
  });
  const ended = once(child, 'exit');
  // An end that is no answer says nothing about a mutant.
  const crash = ended.then(() => Promise.reject(new Error('vitest has ended; --verbose shows why')));
  crash.catch(() => {});
  const next = () => Promise.race([once(child, 'message').then(([message]) => message), crash]);
  child.send(files);
  await next();

  return {
    async ask(request, limitMs) {
      const limit = Promise.withResolvers<undefined>();
      const timer = setTimeout(() => limit.resolve(undefined), limitMs);
      child.send(request);
      try {
        return await Promise.race([next(), limit.promise]);
      } finally {
        clearTimeout(timer);
      }
    },
    async close() {
      // It ends its process group, even while a test never returns to its event loop.
      if (child.connected) child.disconnect();
      await ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
