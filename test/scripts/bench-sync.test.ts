import { expect, onTestFinished, test } from 'vitest';
import { benchSync } from '../../scripts/bench/sync.ts';
import { startTestChain } from '../indexer/support.ts';
import { sqliteDatabase } from '../support/databases.ts';

test('the sync bench measures both rates', async () => {
  const chain = await startTestChain();
  onTestFinished(chain.stop);
  for (let block = 0; block < 3; block++) await chain.mine();
  const { options: database, remove } = await sqliteDatabase();
  onTestFinished(remove);

  const { fetchOnlyBlocksPerSecond, syncBlocksPerSecond } = await benchSync({
    rpcUrl: chain.rpcUrl,
    blocks: 3,
    database,
  });

  expect(fetchOnlyBlocksPerSecond).toBeGreaterThan(0);
  expect(syncBlocksPerSecond).toBeGreaterThan(0);
});
