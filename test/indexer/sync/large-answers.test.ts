import { join } from 'node:path';
import type { Hash } from 'viem';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { ChainIndex } from '#indexer/index-service.ts';
import { eachDatabase } from '../../support/databases.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { CALLED, callsInLoop, deployCode, LOGS_IN_LOOP, times } from '../hostile-contracts.ts';
import {
  CHAIN_ID,
  canonicalContent,
  clientOf,
  openTestIndex,
  startTestChain,
  type TestChain,
} from '../support.ts';

/** Stands for the 64 MiB of a real client: a bomb exceeds it, and everything else does not. */
const LIMIT = 256 * 2 ** 10;
/** An input of this many bytes takes twice as many characters in a trace. */
const BOMB_BYTES = 50_000;
const GAS = 20_000_000n;
const CALLS = 6_000;

let chain: TestChain;
/** A transaction with a trace of about 1 MB, one with a receipt of about 1 MB, and one behind each in its block. */
let bomb: Hash;
let flood: Hash;
/** A transaction with this many calls. */
let loop: Hash;
let behind: readonly Hash[];

beforeAll(async () => {
  chain = await startTestChain();
  const bombs = await deployCode(chain, callsInLoop({ bytes: BOMB_BYTES, wei: 1 }));
  const loops = await deployCode(chain, callsInLoop({}));
  const logs = await deployCode(chain, LOGS_IN_LOOP);
  const splitter = await chain.deploy('PaymentSplitter', []);
  const split = { ...splitter.call('split', [[chain.accounts.signer(5).address]]), value: 9n };
  await chain.mine();
  bomb = (await chain.send(1, { to: bombs, data: times(10), value: 10n, gas: GAS })).hash;
  const afterBomb = await chain.send(2, split);
  await chain.mine();
  loop = (await chain.send(1, { to: loops, data: times(CALLS), gas: GAS })).hash;
  await chain.mine();
  flood = (await chain.send(1, { to: logs, data: times(3_000), gas: GAS })).hash;
  const afterFlood = await chain.send(2, split);
  await chain.mine();
  behind = [afterBomb.hash, afterFlood.hash];
  for (let count = 0; count < 5; count += 1) await chain.mine();
});

afterAll(() => chain.stop());

const transactionOf = async ({ reader }: ChainIndex, hash: Hash) => {
  const row = await reader.transactionByHash(hash);
  const { items } = await reader.internalTransactionsOf({ transactionHash: hash, limit: 50 });
  return { gasUsed: row?.gasUsed, hasInternalError: row?.hasInternalError, calls: items.length };
};

eachDatabase('an index behind a client that reads no large answers', databases => {
  test('lacks only the trace and the receipt that are too large, and gets them from a client that reads them', async () => {
    const database = await databases.create('index');
    const clock = manualClock();
    const cautious = await openTestIndex({
      database,
      clock,
      client: clientOf(chain.rpcUrl, CHAIN_ID, LIMIT),
    });

    const written = await cautious.runOnce();
    const { lag, complete, unreadBlocks } = cautious.status();
    const [exploded, flooded, ...others] = await Promise.all(
      [bomb, flood, ...behind].map(hash => transactionOf(cautious, hash)),
    );
    const parts = await Promise.all([2, 3, 4].map(number => cautious.reader.unreadBlock(number)));
    const paid = await cautious.reader.coinBalance(CALLED);
    clock.advance(60_000);
    const inVain = await cautious.refillOnce();
    await cautious.stop();

    expect({ written, lag, complete, unreadBlocks }).toEqual({
      written: 10,
      lag: 0,
      complete: true,
      unreadBlocks: 3,
    });
    expect(paid).toBe(10n);
    expect(exploded).toMatchObject({ gasUsed: expect.any(BigInt), hasInternalError: null, calls: 0 });
    expect(flooded).toMatchObject({ gasUsed: null, hasInternalError: false });
    for (const other of others)
      expect(other).toMatchObject({ gasUsed: expect.any(BigInt), hasInternalError: false, calls: 1 });
    expect(parts).toMatchObject([
      { receipts: 0, traces: 1, reason: expect.any(String) },
      { receipts: 0, traces: 1, reason: expect.stringContaining('exceeds 262144 bytes') },
      { receipts: 1, traces: 0, reason: expect.stringContaining('exceeds 262144 bytes') },
    ]);
    expect(inVain).toBe(0);

    let hasRoom = false;
    const patient = await openTestIndex({ database, clock, client: chain.client, hasRoom: () => hasRoom });
    clock.advance(120_000);
    await patient.runOnce();
    const paused = await patient.refillOnce().catch(String);
    const { unreadBlocks: meanwhile } = patient.status();
    hasRoom = true;
    await patient.runOnce();
    const filled: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) filled.push(await patient.refillOnce());
    await patient.runOnce();
    const after = await transactionOf(patient, bomb);
    await patient.stop();

    expect([paused, meanwhile]).toEqual([expect.stringContaining('too little space'), 3]);
    expect(filled).toEqual([1, 1, 1, 0]);
    expect(after).toMatchObject({ hasInternalError: false, calls: 10 });
    const fresh = join(chain.folder, `fresh-${databases.kind}.sqlite`);
    const other = await openTestIndex({ file: fresh, client: chain.client });
    await other.runOnce();
    await other.stop();
    expect(await canonicalContent(database)).toEqual(await canonicalContent(fresh));
  });

  test('reads 6,000 calls of a transaction within the usual limit', async () => {
    const index = await openTestIndex({ database: await databases.create('index'), client: chain.client });
    onTestFinished(() => index.stop());

    await index.runOnce();

    const { items } = await index.reader.internalTransactionsOf({
      transactionHash: loop,
      limit: 50,
      afterIndex: CALLS - 10,
    });
    expect(items.map(({ traceIndex }) => traceIndex).at(-1)).toBe(CALLS);
    expect(index.status()).toMatchObject({ lag: 0, unreadBlocks: 0 });
  });
});
