import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

test.each([['server.ts', 'node'], ['deliveries/receiver-process.ts']])(
  'the process of a measurement, %s, ends with its parent',
  async (program, ...args) => {
    const child = fork(fileURLToPath(new URL(`../../scripts/bench/${program}`, import.meta.url)), args);
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child, 'message');

    const ended = once(child, 'exit');
    child.disconnect();

    expect(await ended).toEqual([0, null]);
  },
);
