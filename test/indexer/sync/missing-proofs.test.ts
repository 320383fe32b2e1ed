import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { isObject } from '#lib/json.ts';
import { createChainClient } from '#node/client.ts';
import { sqliteDatabase } from '#test/support/databases.ts';
import { manualClock } from '#test/support/manual-clock.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { startNodeProxy } from '../node-proxy.ts';
import { CHAIN_ID, log, openTestIndex, startTestChain, type TestChain } from '../support.ts';

type Header = Readonly<Record<string, unknown>>;

/** Blocks of the chain without the first one. */
const BLOCKS = 14;
/** First block of a fork that adds a field. */
const FORK = 4;
const WORD = `0x${'07'.repeat(32)}`;
const FIVE_MINUTES_MS = 5 * 60_000;

let chain: TestChain;
let clock: ReturnType<typeof manualClock>;

beforeAll(async () => {
  chain = await startTestChain();
  for (let number = 1; number <= BLOCKS; number += 1) {
    await chain.send(1, { to: chain.accounts.signer(2).address, value: BigInt(number) });
    await chain.mine();
  }
});

beforeEach(() => {
  clock = manualClock();
});

afterAll(() => chain.stop());

async function openOver(...rpcUrls: string[]) {
  const client = createChainClient({ id: CHAIN_ID, rpcUrls, timeoutMs: PATIENCE_MS, clock, log });
  const { options: database, remove } = await sqliteDatabase('index');
  const index = await openTestIndex({ database, client, clock });
  onTestFinished(async () => {
    await index.stop();
    await remove();
  });
  const isProven = async (number: number) => (await index.reader.blockByNumberOrHash(number))?.isProven;
  return { index, isProven };
}

/** A node that changes the headers from block `from` on, while `isChanging` is true. */
async function startNode(
  change: (header: Header) => Header,
  { from = 0, isChanging = () => true }: { from?: number; isChanging?: () => boolean } = {},
) {
  const proxy = await startNodeProxy(chain.rpcUrl, {
    change: (method, result) =>
      method === 'eth_getBlockByNumber' && isObject(result) && Number(result.number) >= from && isChanging()
        ? change(result)
        : result,
  });
  onTestFinished(() => proxy.stop());
  return proxy;
}

/** Headers of a fork with an unknown field, which the hash of the block is over. */
const withUnknownField = (header: Header) => ({ ...header, stateRoot: WORD, futureRoot: WORD });
/** Headers of a chain that hashes them otherwise. */
const withOtherHash = (header: Header) => ({ ...header, stateRoot: WORD });

test.each([1, 2])('a header field that is unknown here stops no chain of %i nodes', async count => {
  const nodes = await Promise.all(
    Array.from({ length: count }, () => startNode(withUnknownField, { from: FORK })),
  );
  const { index, isProven } = await openOver(...nodes.map(({ rpcUrl }) => rpcUrl));

  await index.runOnce();

  expect([await isProven(FORK - 1), await isProven(FORK)]).toEqual([true, false]);
  expect(index.status().head).toBe(BLOCKS);
  expect(index.warning()).toBeUndefined();
  expect(index.proofs.status()).toMatchObject({
    contradicting: [],
    unprovable: 'the header has unknown fields: futureRoot',
  });
});

test('headers that all nodes give with another hash are indexed, and after eight the others are not asked', async () => {
  const first = await startNode(withOtherHash);
  const second = await startNode(withOtherHash);
  const { index, isProven } = await openOver(first.rpcUrl, second.rpcUrl);

  await index.runOnce();

  const { contradicting, unprovable, provenShare } = index.proofs.status();
  expect([index.status().head, await isProven(BLOCKS), provenShare]).toEqual([BLOCKS, false, 0]);
  expect([contradicting, unprovable]).toEqual([
    [],
    'the fields of the header do not have the hash of the block',
  ]);
  const wholeBlocks = second.calls.filter(
    ({ method, params }) => method === 'eth_getBlockByNumber' && params?.[1] === true,
  );
  expect(wholeBlocks.length).toBeLessThanOrEqual(9);
});

test('one node whose headers have another hash is believed, and its blocks are not proven', async () => {
  const { rpcUrl } = await startNode(withOtherHash, { from: FORK });
  const { index, isProven } = await openOver(rpcUrl);

  await index.runOnce();

  expect([index.status().head, await isProven(FORK)]).toEqual([BLOCKS, false]);
  expect(index.proofs.status().contradicting).toEqual([]);
});

test('a node that contradicted a hash is asked again after five minutes', async () => {
  let isChanging = true;
  const liar = await startNode(withOtherHash, { from: FORK, isChanging: () => isChanging });
  const { index, isProven } = await openOver(liar.rpcUrl, chain.rpcUrl);
  await index.runOnce();
  const before = index.proofs.status().contradicting;
  isChanging = false;
  liar.calls.length = 0;

  await index.runOnce();
  const whileLeftOut = liar.calls.length;
  clock.advance(FIVE_MINUTES_MS);
  await index.runOnce();

  expect(before).toMatchObject([{ node: '127.0.0.1', until: clock.now() }]);
  expect(whileLeftOut).toBe(0);
  expect(liar.calls.length).toBeGreaterThan(0);
  expect(index.proofs.status().contradicting).toEqual([]);
  expect([await isProven(FORK), index.proofs.status().provenShare]).toEqual([true, 1]);
});

test('a chain that waited goes on when its only node is honest again', async () => {
  let isLying = true;
  const proxy = await startNodeProxy(chain.rpcUrl, {
    change: (method, result) =>
      isLying && method === 'eth_getBlockReceipts' && Array.isArray(result)
        ? result.map(one =>
            isObject(one) && Number(one.blockNumber) === FORK ? { ...one, status: '0x0' } : one,
          )
        : result,
  });
  onTestFinished(() => proxy.stop());
  const { index, isProven } = await openOver(proxy.rpcUrl);
  await expect(index.runOnce()).rejects.toThrow('The node contradicts itself about block 4');
  const waiting = index.warning();
  isLying = false;

  await index.runOnce();

  expect(waiting).toMatch(/^the index of chain 31337 waits at block 4: .*\(127\.0\.0\.1\)\.$/);
  expect([index.warning(), index.status().head, await isProven(FORK)]).toEqual([undefined, BLOCKS, true]);
});

test('hosts that name the block at the depth of finality are counted once', async () => {
  const other = await startTestChain({ genesisTime: 1_600_000_000 });
  onTestFinished(() => other.stop());
  const sameHost = await startNode(header => header);
  const local = chain.rpcUrl.replace('127.0.0.1', 'localhost');
  const { index } = await openOver(chain.rpcUrl, sameHost.rpcUrl, local, other.rpcUrl);
  await index.runOnce();
  const unasked = index.proofs.status().headAgreedBy;

  await index.proofs.askNodes();

  expect([unasked, index.proofs.status().headAgreedBy]).toEqual([undefined, 2]);
});

test('a chain whose blocks fit no rule that is known is indexed, and its nodes are not left out', async () => {
  const proxies = await Promise.all(
    [1, 2].map(() =>
      startNodeProxy(chain.rpcUrl, {
        change: (method, result) =>
          method === 'eth_getBlockReceipts' && Array.isArray(result)
            ? result.map(receipt => ({ ...receipt, cumulativeGasUsed: '0x1' }))
            : result,
      }),
    ),
  );
  onTestFinished(async () => void (await Promise.all(proxies.map(one => one.stop()))));
  const { index } = await openOver(...proxies.map(({ rpcUrl }) => rpcUrl));

  await index.runOnce();

  expect(index.status().head).toBe(BLOCKS);
  expect(index.warning()).toBeUndefined();
  expect(index.proofs.status()).toMatchObject({
    provenShare: expect.closeTo(1 / (BLOCKS + 1)),
    contradicting: [],
    unprovable: expect.stringContaining('receipts'),
  });
});
