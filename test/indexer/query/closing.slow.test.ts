import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSqliteEngine } from '#indexer/query/sqlite/sqlite-engine.ts';
import type { Filter } from '#query-model/row-selection.ts';
import { CHAIN_ID, temporaryFolder } from '../support.ts';
import { blocks, groups, newest } from './pool-fixture.ts';
import { writeIndex } from './random-blocks.ts';

const execute = promisify(execFile);
const PROGRAM = join(import.meta.dirname, 'closing-process.ts');
const ENOUGH_MEMORY = 2 ** 29;
/** A thread has grown beyond its share of this before its first query. */
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

/** Output of the program; rejects unless its exit code is 0. */
async function closingProcess(memoryBytes: number): Promise<unknown> {
  const { stdout } = await execute(process.execPath, [PROGRAM, file, String(memoryBytes)]);
  return JSON.parse(stdout);
}

/** Creates an index whose blocks take SQLite minutes to find, without a row at which a query could be aborted. */
function writeEndlessIndex(): void {
  const db = new Database(file);
  db.exec(
    `create view blocks as with recursive n(x) as (select 1 union all select x + 1 from n where x < 1e10)
     select count(*) as number from n`,
  );
  db.close();
}

test('a process that only waits for its query threads to close ends after them', async () => {
  await writeIndex({ file }, { chainId: CHAIN_ID, blocks: blocks });

  expect(await closingProcess(ENOUGH_MEMORY)).toEqual({ started: 2, ended: 2 });
});

test('a thread that has grown is not replaced once the pool closes', async () => {
  await writeIndex({ file }, { chainId: CHAIN_ID, blocks: blocks });

  expect(await closingProcess(LITTLE_MEMORY)).toEqual({ started: 2, ended: 2 });
});

test('a statement that SQLite cannot interrupt delays neither the pool nor the end of the process', async () => {
  writeEndlessIndex();

  await expect(closingProcess(ENOUGH_MEMORY)).rejects.toMatchObject({
    code: null,
    signal: 'SIGTERM',
    stdout: expect.stringMatching(/^\{"started":2,"ended":1\}\n.*something is still running/),
  });
});

test('a query that the clock or the caller aborts stops within a few thousand rows', async () => {
  await writeIndex({ file }, { chainId: CHAIN_ID, blocks });
  const ended = new Error('time is up');
  const engine = openSqliteEngine({
    file,
    tick() {
      throw ended;
    },
  });

  for (const entity of ['blocks', 'transactions', 'events'] as const)
    for (const order of ['asc', 'desc'] as const) {
      const everything = { ...newest, entity, sort: { field: 'data', order }, limit: 1000 };
      const sorted = entity === 'blocks' ? { ...everything, sort: { field: 'size', order } } : everything;
      await expect(engine.run(sorted)).rejects.toThrow(ended);
    }
  await expect(engine.run(groups)).rejects.toThrow(ended);
  const range: Filter[] = [{ field: 'block_number', operator: 'gte', value: 1n }];
  await expect(engine.run({ ...groups, filters: range })).rejects.toThrow(ended);
  await engine.close();
});
