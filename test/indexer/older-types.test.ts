import { join } from 'node:path';
import type { Address, Hex } from 'viem';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { canonicalContent, openTestIndex, startTestChain, type TestChain } from './support.ts';

const NOBODY: Address = '0x00000000000000000000000000000000000000aa';
const DATA = '0x12345678';
/** More than a run judges at once. */
const QUIET_BLOCKS = 230;

let chain: TestChain;
let file: string;
let plain: Hex;
let early: Hex;
let late: Hex;

beforeEach(async () => {
  chain = await startTestChain();
  file = join(chain.folder, 'older.sqlite');
  ({ hash: plain } = await chain.send(1, { to: NOBODY, data: DATA }));
  const splitter = await chain.deploy('PaymentSplitter', []);
  await chain.mine();
  ({ hash: early } = await chain.send(1, { to: splitter.address }));
  await chain.rpc.call('anvil_mine', QUIET_BLOCKS);
  ({ hash: late } = await chain.send(1, { to: splitter.address }));
  await chain.mine();
  await indexed(file);
});

afterEach(async () => {
  await chain.stop();
});

async function indexed(path: string): Promise<void> {
  const index = await openTestIndex({ file: path, client: chain.client });
  await index.runOnce();
  await index.stop();
}

/** Makes the index what a version left that judged by the data of a transaction. */
async function makeOlder(): Promise<void> {
  const db = openDatabase({ file });
  try {
    await db.raw('drop table retyping');
    await db.raw(`delete from schema_migrations where name = 'types-by-receiver-code'`);
    await db.raw(
      `update transactions set facts = facts & ~1 | (to_address is not null and length(input) > 0)`,
    );
  } finally {
    await db.destroy();
  }
}

test('transactions of an earlier version are judged run by run, while new blocks are read', async () => {
  await makeOlder();
  const index = await openTestIndex({ file, client: chain.client });
  const types = async () =>
    Promise.all([plain, early, late].map(async hash => (await index.reader.transactionByHash(hash))?.types));

  const before = await types();
  await chain.mine();
  await index.runOnce();
  const [between, head, epoch] = [await types(), index.status().head, index.epoch()];
  await index.runOnce();
  const after = await types();
  await index.stop();

  expect(before).toEqual([['contract_call'], [], []]);
  expect(between).toEqual([[], ['contract_call'], []]);
  expect(after).toEqual([[], ['contract_call'], ['contract_call']]);
  expect(head).toBe(QUIET_BLOCKS + 3);
  expect(epoch).toBe(0);
  expect(index.epoch()).toBe(1);
  const fresh = join(chain.folder, 'fresh.sqlite');
  await indexed(fresh);
  expect(await canonicalContent(file)).toEqual(await canonicalContent(fresh));
});

test('an index of this version has nothing to judge again', async () => {
  const index = await openTestIndex({ file, client: chain.client });
  await index.runOnce();
  await index.stop();

  expect(index.epoch()).toBe(0);
});

test('a reorganisation while older transactions are judged leaves what a new index has', async () => {
  await makeOlder();
  const index = await openTestIndex({ file, client: chain.client });
  await index.runOnce();

  await chain.reorg(5);
  for (let run = 0; run < 3; run += 1) await index.runOnce();
  await index.stop();

  const fresh = join(chain.folder, 'fresh.sqlite');
  await indexed(fresh);
  const [ours, theirs] = await Promise.all([file, fresh].map(path => canonicalContent(path)));
  expect(ours?.transactions).toEqual(theirs?.transactions);
});
