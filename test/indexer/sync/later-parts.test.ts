import { join } from 'node:path';
import { type Address, type Hash, numberToHex } from 'viem';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { isObject } from '#lib/json.ts';
import { postgresDatabase } from '../../support/databases.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { startNodeProxy, TRACING } from '../node-proxy.ts';
import { canonicalContent, clientOf, openTestIndex, startTestChain, type TestChain } from '../support.ts';

const DAY_MS = 86_400_000;

let chain: TestChain;
/** Mints of a known token that are in one block, and of a token that was never seen before. */
let known: readonly [Hash, Hash];
let unseen: Hash;
/** A payment that a contract splits. */
let split: Hash;
let splitBlock: Hash;
let expected: Record<string, unknown[]>;

beforeAll(async () => {
  chain = await startTestChain();
  const [dollar, other] = [
    await chain.deploy('StableToken', ['Dollar', 'USD']),
    await chain.deploy('StableToken', ['Other', 'OTH']),
  ];
  const splitter = await chain.deploy('PaymentSplitter', []);
  await chain.mine();
  known = [
    await sent(0, dollar.call('mint', [addressOf(1), 10n])),
    await sent(0, dollar.call('mint', [addressOf(2), 20n])),
  ];
  await chain.mine();
  unseen = await sent(0, other.call('mint', [addressOf(1), 30n]));
  await chain.mine();
  split = await sent(1, { ...splitter.call('split', [[addressOf(5)]]), value: 9n });
  await chain.mine();
  splitBlock = (await chain.client.public.getBlock({ blockNumber: 4n })).hash;
  const file = join(chain.folder, 'whole.sqlite');
  const whole = await openTestIndex({ file, client: chain.client });
  await whole.runOnce();
  await whole.stop();
  expected = await canonicalContent(file);
});

afterAll(() => chain.stop());

const addressOf = (account: number): Address => chain.accounts.signer(account).address;
const sent = async (...call: Parameters<TestChain['send']>) => (await chain.send(...call)).hash;

/**
 * An index whose node refuses these calls until `refused` is emptied, each as a method and its first argument. While
 * `isUntraced` is set, the node gives no trace of the last transaction of a block with two.
 */
async function indexWithout(name: string, calls: readonly string[], missing: readonly string[] = []) {
  const refused = new Set(calls);
  const state = { isUntraced: false, isDoctored: false };
  const proxy = await startNodeProxy(chain.rpcUrl, {
    missing,
    refuses: ({ method, params }) => refused.has(`${method} ${params?.[0]}`),
    change: (method, result) =>
      state.isDoctored && isObject(result) && Array.isArray(result.transactions)
        ? { ...result, extraData: '0x07' }
        : state.isUntraced && /^debug_traceBlock/.test(method) && Array.isArray(result) && result.length === 2
          ? [result[0], { ...result[1], result: null, error: 'no state' }]
          : result,
  });
  onTestFinished(() => proxy.stop());
  const file = join(chain.folder, `${name}.sqlite`);
  const clock = manualClock();
  const index = await openTestIndex({ file, client: clientOf(proxy.rpcUrl), clock });
  onTestFinished(() => index.stop());
  await index.runOnce();
  return {
    refused,
    state,
    unreadBlocks: () => index.status().unreadBlocks,
    /** Asks a day later, and then reads the state that is due. Returns the number of blocks that gained parts. */
    async later() {
      clock.advance(DAY_MS);
      const gained = await index.refillOnce();
      await index.runOnce();
      return gained;
    },
    content: () => canonicalContent(file),
  };
}

const receiptsOf = (block: number, hash: Hash) => [
  `eth_getBlockReceipts ${numberToHex(block)}`,
  `eth_getTransactionReceipt ${hash}`,
];
const tracesOfSplit = () =>
  [...TRACING, 'trace_transaction'].flatMap(method =>
    [numberToHex(4), splitBlock, split].map(about => `${method} ${about}`),
  );

test.each([
  ['a receipt of a block whose other receipts were there', () => receiptsOf(2, known[1])],
  ['the receipt that shows a token', () => receiptsOf(3, unseen)],
  ['a trace', tracesOfSplit],
])('%s that arrives later makes the index like any other', async (name, missing) => {
  const index = await indexWithout(name, missing());
  const before = [index.unreadBlocks(), await index.later()];
  index.refused.clear();

  const after = [await index.later(), index.unreadBlocks()];

  expect([before, after]).toEqual([
    [1, 0],
    [1, 0],
  ]);
  expect(await index.content()).toEqual(expected);
});

test('a part that arrives while the node has ceased to trace the block is not taken', async () => {
  const index = await indexWithout('untraced', receiptsOf(4, split));
  index.refused.clear();
  for (const call of tracesOfSplit()) index.refused.add(call);

  const exchanged = [await index.later(), index.unreadBlocks()];
  index.refused.clear();
  const whole = [await index.later(), index.unreadBlocks()];

  expect([exchanged, whole]).toEqual([
    [0, 1],
    [1, 0],
  ]);
  expect(await index.content()).toEqual(expected);
});

test('a part that arrives with a block that has lost its proof is not taken', async () => {
  const index = await indexWithout('doctored', tracesOfSplit());
  index.refused.clear();
  index.state.isDoctored = true;

  const doctored = [await index.later(), index.unreadBlocks()];
  index.state.isDoctored = false;
  const whole = [await index.later(), index.unreadBlocks()];

  expect([doctored, whole]).toEqual([
    [0, 1],
    [1, 0],
  ]);
  expect(await index.content()).toEqual(expected);
});

test('a part that arrives while another one has become missing is not taken', async () => {
  const index = await indexWithout('exchanged', receiptsOf(2, known[1]), ['trace_block']);
  index.refused.clear();
  index.refused.add(`debug_traceTransaction ${known[1]}`);
  index.state.isUntraced = true;

  const exchanged = [await index.later(), index.unreadBlocks()];
  index.refused.clear();
  index.state.isUntraced = false;
  const whole = [await index.later(), index.unreadBlocks()];

  expect([exchanged, whole]).toEqual([
    [0, 1],
    [1, 0],
  ]);
  expect(await index.content()).toEqual(expected);
});

test('a process that only reads the index asks for no missing parts', async () => {
  const { options: database, remove } = await postgresDatabase();
  onTestFinished(remove);
  const refused = new Set(receiptsOf(4, split));
  const refusing = await startNodeProxy(chain.rpcUrl, {
    refuses: ({ method, params }) => refused.has(`${method} ${params?.[0]}`),
  });
  onTestFinished(() => refusing.stop());
  const clock = manualClock();
  const writer = await openTestIndex({ database, client: clientOf(refusing.rpcUrl), clock });
  await writer.runOnce();
  await writer.stop();
  clock.advance(DAY_MS);
  const node = await startNodeProxy(chain.rpcUrl, {});
  onTestFinished(() => node.stop());

  const reader = await openTestIndex({ database, client: clientOf(node.rpcUrl), clock, isReadOnly: true });
  onTestFinished(() => reader.stop());
  reader.start();
  for (let poll = 0; poll < 3; poll += 1) {
    const before = node.calls.length;
    const lookLater = () => {
      clock.advance(5_000);
      return node.calls.length;
    };
    await expect.poll(lookLater).toBeGreaterThan(before);
  }

  expect(reader.status().unreadBlocks).toBe(1);
  expect(node.counts.get('eth_getBlockReceipts')).toBeUndefined();
});
