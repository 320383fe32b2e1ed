import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CHAIN_ID, temporaryFolder } from '../support.ts';
import { randomBlocks, writeIndex } from './random-blocks.ts';

const PROGRAM = join(import.meta.dirname, 'closing-process.ts');
const ENOUGH_MEMORY = 2 ** 29;
/** A thread has grown beyond its part of this before its first query. */
const LITTLE_MEMORY = 2 ** 20;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let file: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  file = join(folder.folder, 'index.sqlite');
});

afterEach(async () => {
  await folder.remove();
});

/** Output of the program; rejects when its exit code is another than 0. */
async function closingProcess(memoryBytes: number): Promise<unknown> {
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, [PROGRAM, file, String(memoryBytes)]);
  return JSON.parse(stdout);
}

test('a process that only waits for its query threads to close goes on after them', async () => {
  await writeIndex(file, { chainId: CHAIN_ID, blocks: randomBlocks({ seed: 3, count: 30 }) });

  expect(await closingProcess(ENOUGH_MEMORY)).toEqual({ started: 2, ended: 2 });
});

test('a thread that has grown is not replaced once the pool closes', async () => {
  await writeIndex(file, { chainId: CHAIN_ID, blocks: randomBlocks({ seed: 3, count: 30 }) });

  expect(await closingProcess(LITTLE_MEMORY)).toEqual({ started: 2, ended: 2 });
});
