import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { ChainIndex, IndexOptions } from '#indexer/index-service.ts';
import { postgresDatabase } from '../support/databases.ts';
import { faultyNode } from '../support/faulty-node.ts';
import { until } from '../support/until.ts';
import { clientOf, openTestIndex, startTestChain, type TestChain, temporaryFolder } from './support.ts';

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

test('an index that stops makes no further look-up for a request that waits for a block', async () => {
  const { folder, remove } = await temporaryFolder();
  onTestFinished(remove);
  const index = await opened({ database: { file: join(folder, 'index.db') } });
  await index.runOnce();
  let lookUps = 0;
  const found = index.untilFound(async () => {
    lookUps += 1;
    return lookUps > 1 ? index.reader.head() : null;
  });
  await setImmediate(); // the first look-up is over

  await index.stop();

  expect(await found).toBeNull();
  expect(lookUps).toBe(1);
});
