import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { indexBackend } from '#data/backends/own-index/own-index-backend.ts';
import { openDatabase } from '#db/open.ts';
import { knownAbis } from '#evm/abi/abi.ts';
import { lowerCase } from '#evm/address.ts';
import { indexProgress } from '#indexer/index-progress.ts';
import { createReader } from '#indexer/index-reader.ts';
import { indexOptions } from '#indexer/schema/migrations/index-migrations.ts';
import { systemClock } from '#lib/clock.ts';
import { CHAIN_ID, openTestIndex, startTestChain, type TestChain } from '../indexer/support.ts';
import { PATIENCE_MS } from '../lab/until.ts';
import { postgresDatabase } from '../support/databases.ts';

let chain: TestChain;

beforeAll(async () => {
  chain = await startTestChain();
});

afterAll(() => chain.stop());

async function database() {
  const { options, remove } = await postgresDatabase();
  onTestFinished(remove);
  return options;
}

test('a process that follows an index counts confirmations up to the published head', async () => {
  const options = { database: await database(), client: chain.client };
  const [writer, follower] = [await openTestIndex(options), await openTestIndex(options)];
  onTestFinished(() => writer.stop());
  onTestFinished(() => follower.stop());
  const { hash } = await chain.send(0, { to: chain.accounts.signer(1).address, value: 1n });
  await chain.mine();
  await writer.runOnce();
  await follower.runOnce();
  const { answers } = indexBackend({ name: 'own', chainId: CHAIN_ID, index: follower });
  const asked = () =>
    Promise.all([
      answers.getTransaction?.(
        { path: { transaction_hash: hash }, query: {} },
        { signal: AbortSignal.timeout(PATIENCE_MS) },
      ),
      answers.getBlock?.(
        { path: { block_number_or_hash: String(follower.status().head) }, query: {} },
        { signal: AbortSignal.timeout(PATIENCE_MS) },
      ),
    ]);

  for (const _ of Array(3)) await chain.mine();
  await writer.runOnce();
  const before = await asked();
  await follower.runOnce();
  const after = await asked();

  expect(before).toMatchObject([{ confirmations: 0, body: { confirmations: 0 } }, { confirmations: 0 }]);
  expect(after[0]).toMatchObject({ confirmations: 3, body: { confirmations: 3 } });
});

test('an index publishes its state consistently: one statement reads it', async () => {
  const options = await database();
  const writer = await openTestIndex({ database: options, client: chain.client });
  onTestFinished(() => writer.stop());
  await writer.runOnce();
  const db = openDatabase(indexOptions(options, CHAIN_ID));
  onTestFinished(() => db.destroy());
  const progress = await indexProgress(db, { clock: systemClock, nodeHeadLastsMs: 1_000, fromBlock: 0 });
  const statements: unknown[] = [];
  db.on('query', statement => statements.push(statement));

  await progress.publish();

  expect(statements).toHaveLength(1);
  expect(progress.revision()).toBe(writer.revision());
});

test('a page of several branches is read in one statement, so that no reorganisation comes between keys and rows', async () => {
  const options = await database();
  const writer = await openTestIndex({ database: options, client: chain.client });
  onTestFinished(() => writer.stop());
  const sender = chain.accounts.signer(0).address;
  await chain.send(0, { to: chain.accounts.signer(1).address, value: 1n });
  await chain.mine();
  await writer.runOnce();
  const db = openDatabase(indexOptions(options, CHAIN_ID));
  onTestFinished(() => db.destroy());
  const reader = createReader({ db, abis: knownAbis([]), client: chain.client });
  const statements: unknown[] = [];
  db.on('query', statement => statements.push(statement));

  const { items } = await reader.transactions({ ofAddress: { address: lowerCase(sender) }, limit: 50 });

  expect(items.map(({ from }) => from)).toContain(lowerCase(sender));
  expect(statements).toHaveLength(1);
});
