import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { knownContracts } from '../../src/devnet/activity/artifacts.ts';
import { canonicalContent, clientOf, openTestIndex, temporaryFolder } from '../indexer/support.ts';
import { servedChain, startTestDataService } from '../lab/data-service.ts';
import { list, number, record } from '../lab/json.ts';
import { client } from '../support/contract-client.ts';
import type { RecordedChain } from '../support/recorded-chain.ts';
import { restoreIndex, startUpgradeChain, upgradeIndexedChain } from '../support/upgrade-fixtures.ts';

let chain: RecordedChain;
let folder: string;
let remove: () => Promise<void>;
beforeAll(async () => {
  chain = await startUpgradeChain();
  ({ folder, remove } = await temporaryFolder());
});
afterAll(async () => {
  await chain?.[Symbol.asyncDispose]();
  await remove?.();
});

const PAGES = ['blocks', 'transactions', 'token-transfers', 'internal-transactions', 'withdrawals'];

test('an index written by an earlier version is served, follows the chain and matches a new one in the end', async () => {
  const indexed = upgradeIndexedChain(chain);
  const older = join(folder, `index-${chain.chainId}.db`);
  await restoreIndex(older);
  const service = await startTestDataService([indexed], { chains: [servedChain(indexed, folder)] });
  const { get } = client(service.url);
  const headOf = async () => {
    const { body } = await get('/explorer/blocks');
    return number(record(list(record(body).items)[0]).height);
  };

  const before = await headOf();
  const answers = await Promise.all(PAGES.map(page => get(`/explorer/${page}`)));
  await chain.rpc.call('evm_mine');
  await service.catchUp();
  const after = await headOf();
  await service.close();

  expect(answers.map(({ status }) => status)).toEqual(PAGES.map(() => 200));
  expect(after).toBe(before + 1);
  const fresh = join(folder, 'fresh.db');
  const index = await openTestIndex({
    file: fresh,
    client: clientOf(chain.rpcUrl),
    abis: knownContracts(indexed.contracts),
  });
  await index.runOnce();
  await index.stop();
  expect(await canonicalContent(older)).toEqual(await canonicalContent(fresh));
});
