import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const execute = promisify(execFile);

test('a process that has to be killed logs it first, however busy it is', async () => {
  const ended = execute(process.execPath, [join(import.meta.dirname, 'busy-ending.ts')]);

  await expect(ended).rejects.toMatchObject({
    signal: 'SIGTERM',
    stdout: expect.stringContaining('something is still running'),
  });
}, 20_000);
