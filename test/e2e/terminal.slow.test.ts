import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ANY_PORTS } from './programs.ts';

test('on a terminal the program says in a few lines what to open and to copy', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-terminal-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'tollgate.yaml');
  await writeFile(file, `${ANY_PORTS}\ndevnet: { chains: 1, blocks: 5 }\n`);
  const start = `"${process.execPath}" src/tollgate.js start --config "${file}"`;
  // `script` runs a program on a terminal of its own.
  const terminal = spawn('script', ['-qefc', start, '/dev/null'], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void terminal.kill());
  let soFar = '';
  for await (const chunk of terminal.stdout) {
    soFar += String(chunk);
    if (/Node of 31337 +\S+\s/.test(soFar)) break;
  }
  const lines = soFar.split(/\r?\n/);
  const begin = lines.indexOf('tollgate is ready. Ctrl+C stops it.');

  expect(lines.slice(begin, begin + 8)).toEqual([
    'tollgate is ready. Ctrl+C stops it.',
    expect.stringMatching(/^ {2}Explorer {7}http:\/\/127\.0\.0\.1:\d+\/$/),
    expect.stringMatching(/^ {2}Data API {7}http:\/\/127\.0\.0\.1:\d+\/docs$/),
    expect.stringMatching(/^ {2}Payments API {3}http:\/\/127\.0\.0\.1:\d+\/docs$/),
    expect.stringMatching(/^ {2}Dashboard {6}http:\/\/127\.0\.0\.1:\d+\/dashboard#token=\S+$/),
    expect.stringMatching(/^ {2}API key {8}tg_test_\w+$/),
    expect.stringMatching(/^ {2}First link {5}TOLLGATE_KEY=tg_test_\w+ npm run -s links -- create /),
    expect.stringMatching(/^ {2}Node of 31337 {2}http:\/\/127\.0\.0\.1:\d+$/),
  ]);
  expect(soFar).not.toContain('"msg":"ready');
});
