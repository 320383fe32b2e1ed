import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const execute = promisify(execFile);

test('a process that has to be killed logs it first, however busy it is', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-ending-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const fifo = join(folder, 'fifo');
  await execute('mkfifo', [fifo]);

  const ended = execute(process.execPath, [join(import.meta.dirname, 'busy-ending.ts'), fifo]);

  await expect(ended).rejects.toMatchObject({
    signal: 'SIGTERM',
    stdout: expect.stringContaining('something is still running'),
  });
});
