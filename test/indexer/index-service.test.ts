import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { ChainIndex, IndexOptions } from '#indexer/index-service.ts';
import { createChainClient } from '#node/client.ts';
import { faultyNode } from '../lab/faulty-node.ts';
import { PATIENCE_MS, until } from '../lab/until.ts';
import { postgresDatabase } from '../support/databases.ts';
import { manualClock } from '../support/manual-clock.ts';
import {
  CHAIN_ID,
  clientOf,
  log,
  openTestIndex,
  startTestChain,
  type TestChain,
  temporaryFolder,
} from './support.ts';

let chain: TestChain;

beforeAll(async () => {
  chain = await startTestChain();
});

afterAll(() => chain.stop());

async function opened(options: Partial<IndexOptions> & Pick<IndexOptions, 'database'>): Promise<ChainIndex> {
  const index = await openTestIndex({ client: chain.client, ...options });
  onTestFinished(() => index.stop());
  return index;
}

test('an index that another process writes is served as it grows, although the node hangs', async () => {
  await using node = await faultyNode(chain.rpcUrl);
  const client = clientOf(node.url);
  const { options: database, remove } = await postgresDatabase();
  onTestFinished(remove);
  const writer = await opened({ database });
  const reader = await opened({ database, client, isReadOnly: true, pollMs: 50 });
  await writer.runOnce();
  reader.start();
  await until(
    async () => reader.revision(),
    revision => revision === writer.revision(),
  );
  node.slow(Number.POSITIVE_INFINITY);
  const { requests } = node;
  await chain.mine();
  await writer.runOnce();
  await until(
    async () => node.requests,
    count => count > requests,
  );

  await chain.mine();
  await writer.runOnce();

  const shown = await until(
    async () => reader.revision(),
    revision => revision === writer.revision(),
  );
  expect(shown).toBe(writer.revision());
});

test('a process that follows an index asks its node once per poll, however often blocks are announced', async () => {
  await using node = await faultyNode(chain.rpcUrl);
  const { options: database, remove } = await postgresDatabase();
  onTestFinished(remove);
  const writer = await opened({ database });
  const options = { database, client: clientOf(node.url), isReadOnly: true, pollMs: 600_000 };
  const reader = await opened(options);
  const follow = () =>
    until(
      async () => reader.revision(),
      revision => revision === writer.revision(),
    );
  await writer.runOnce();
  reader.start();
  await follow();

  const shown: boolean[] = [];
  for (let count = 0; count < 5; count += 1) {
    await chain.mine();
    await writer.runOnce();
    shown.push((await follow()) === writer.revision());
  }

  expect(shown).toEqual(Array(5).fill(true));
  expect(node.calls).toEqual(['eth_getBlockByNumber']);
});

test('an index that stops makes no further look-up for a request that waits for a block', async () => {
  const { folder, remove } = await temporaryFolder();
  onTestFinished(remove);
  const clock = manualClock();
  const index = await opened({ database: { file: join(folder, 'index.db') }, clock });
  await index.runOnce();
  let lookUps = 0;
  const found = index.untilFound(async () => {
    lookUps += 1;
    return lookUps > 1 ? index.reader.head() : null;
  });
  await setImmediate(); // the first look-up is over

  await index.stop();
  clock.advance(500);

  expect(await found).toBeNull();
  expect(lookUps).toBe(1);
});

test('an index that a new chain emptied is in a new epoch before it has read the first block', async () => {
  const other = await startTestChain({ genesisTime: 1_600_000_000 });
  onTestFinished(() => other.stop());
  const { folder, remove } = await temporaryFolder();
  onTestFinished(remove);
  await using node = await faultyNode(chain.rpcUrl);
  const database = { file: join(folder, 'index.db') };
  const index = await opened({ client: clientOf(node.url), database });
  for (let count = 0; count < 15; count += 1) await chain.mine();
  await index.runOnce();
  const before = index.epoch();
  node.pointAt(other.rpcUrl);
  const isOfBody = (method: string, params: readonly unknown[] = []) =>
    method === 'eth_getBlockByNumber' && params[1] === true;
  node.tell(({ method, params }) => (isOfBody(method, params) ? null : undefined));

  await index.runOnce();

  expect([before, index.revision(), index.epoch()]).toEqual([0, 'empty', 1]);
});

test('while the first node is out, a fallback node of another chain is refused and changes nothing', async () => {
  const other = await startTestChain({ chainId: 31_338, genesisTime: 1_600_000_000 });
  onTestFinished(() => other.stop());
  const { folder, remove } = await temporaryFolder();
  onTestFinished(remove);
  const first = await faultyNode(chain.rpcUrl);
  const rpcUrls = [first.url, other.rpcUrl];
  const client = createChainClient({ id: CHAIN_ID, rpcUrls, timeoutMs: PATIENCE_MS, log });
  const index = await opened({ client, database: { file: join(folder, 'index.db') } });
  await index.runOnce();
  const indexed = index.revision();
  const height = index.status().head ?? 0;
  for (let count = 0; count < height + 2; count += 1) await other.mine();

  await first[Symbol.asyncDispose]();

  await expect(index.runOnce()).rejects.toThrow('serves chain 31338, but chain 31337 is configured');
  expect(index.revision()).toBe(indexed);
});
