import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { manualClock } from '../../support/manual-clock.ts';
import { canonicalContent, openTestIndex, startTestChain, type TestChain } from '../support.ts';

let chain: TestChain;

beforeAll(async () => {
  chain = await startTestChain();
  const token = await chain.deploy('StableToken', ['Sample', 'SMP']);
  await chain.mine();
  for (let block = 0; block < 40; block += 1) {
    const holder = chain.accounts.signer(1 + (block % 5)).address;
    await chain.send(0, token.call('mint', [holder, 1n + BigInt(block)]));
    await chain.send(1, { to: holder, value: 1n });
    await chain.mine();
  }
});

afterAll(() => chain.stop());

/** An index in a file of its own. It has room for so many writes, until `room` gives it room for others. */
async function indexWithRoom(name: string, writes = Number.POSITIVE_INFINITY) {
  const file = join(chain.folder, `${name}.db`);
  let left = writes;
  const index = await openTestIndex({
    file,
    client: chain.client,
    hasRoom() {
      left -= 1;
      return left >= 0;
    },
  });
  return {
    ...index,
    used: () => writes - left,
    room(more: number) {
      left = more;
    },
    content: () => canonicalContent(file),
  };
}

async function freshContent(name: string) {
  const fresh = await indexWithRoom(name);
  await fresh.runOnce();
  await fresh.stop();
  return fresh.content();
}

/** Checks for room that a whole sync makes: at least two, one before it and one for a write. */
async function checksOfSync(): Promise<number> {
  const counted = await indexWithRoom('counted', 1_000);
  await counted.runOnce();
  await counted.stop();
  return counted.used();
}

test('an index that runs out of room before any of its writes goes on from there, and misses nothing', async () => {
  const expected = await freshContent('whole');
  const checks = await checksOfSync();
  const heads: (number | null)[] = [];

  for (let writes = 0; writes < checks; writes += 1) {
    const index = await indexWithRoom(`paused-${writes}`, writes);
    const written = await index.runOnce();
    await index.runOnce();
    const { head, lag, nodeHead, complete } = index.status();
    const before = await index.content();
    index.room(Number.POSITIVE_INFINITY);
    await index.runOnce();
    await index.stop();

    // After the blocks, a run may have room for state.
    expect([written, nodeHead]).toEqual([head === 41 ? 42 : 0, 41]);
    expect(complete).toBe(head === 41 && before.dirty?.length === 0);
    expect(lag).toBe(head === null ? null : 41 - head);
    expect(before.blocks).toHaveLength(head === null ? 0 : head + 1);
    expect(await index.content()).toEqual(expected);
    heads.push(head);
  }

  expect(checks).toBeGreaterThan(3);
  expect(new Set(heads).size).toBeGreaterThan(2);
});

test('an index without room keeps the branch that it has, and then follows the other one', async () => {
  const index = await indexWithRoom('branches');
  await index.runOnce();
  const { head } = index.status();
  const before = await index.content();

  index.room(0);
  await chain.reorg(3);
  await chain.mine();
  await index.runOnce();
  const [during, paused] = [await index.content(), index.status()];
  index.room(Number.POSITIVE_INFINITY);
  await index.runOnce();
  await index.stop();

  expect(during).toEqual(before);
  expect(paused).toMatchObject({ head, lag: 1, nodeHead: Number(head) + 1 });
  expect(await index.content()).not.toEqual(before);
  expect(await index.content()).toEqual(await freshContent('of the other branch'));
});

test('an index without room is stalled after a minute, and no process that reads it misses a writer', async () => {
  const file = join(chain.folder, 'stalled.db');
  const clock = manualClock();
  const shared = { file, client: chain.client, clock };
  let hasRoom = true;
  const writer = await openTestIndex({ ...shared, hasRoom: () => hasRoom });
  const reader = await openTestIndex({ ...shared, hasRoom: () => hasRoom, isReadOnly: true });
  const unaware = await openTestIndex({ ...shared, isReadOnly: true });
  const all = [writer, reader, unaware];
  const run = async () => {
    for (const index of all) await index.runOnce();
    return all.map(index => ({ ...index.status(), warning: index.warning() }));
  };
  await run();

  hasRoom = false;
  await chain.mine();
  const soon = await run();
  clock.advance(61_000);
  const late = await run();
  hasRoom = true;
  const after = await run();
  for (const index of all) await index.stop();

  expect(soon.map(({ stalled }) => stalled)).toEqual([false, false, false]);
  expect(late).toMatchObject([
    { stalled: true, lag: 1, warning: undefined },
    { stalled: true, lag: 1, warning: undefined },
    { stalled: true, lag: 1, warning: expect.stringContaining('the role indexer') },
  ]);
  expect(after).toMatchObject(Array(3).fill({ stalled: false, lag: 0, warning: undefined }));
});
