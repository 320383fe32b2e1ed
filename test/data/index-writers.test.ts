import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ServedChain } from '#data/open-chain.ts';
import { startIndexWriters } from '#data/running-indexes.ts';
import type { DatabaseOptions } from '#db/open.ts';
import { createMetrics } from '#http/metrics.ts';
import { systemClock } from '#lib/clock.ts';
import { CHAIN_ID, log, startTestChain, type TestChain } from '../indexer/support.ts';
import { startTestDataService } from '../lab/data-service.ts';
import { list, record } from '../lab/json.ts';
import { until } from '../lab/until.ts';
import { client } from '../support/contract-client.ts';
import { eachDatabase } from '../support/databases.ts';

let chain: TestChain;

beforeAll(async () => {
  chain = await startTestChain();
  await chain.mine();
});

afterAll(() => chain.stop());

function served(database: DatabaseOptions, isReadOnly: boolean): ServedChain {
  return {
    id: CHAIN_ID,
    name: 'Chain',
    native: { symbol: 'ETH', decimals: 18 },
    confirmations: 12,
    rpcUrls: [chain.rpcUrl],
    abis: [],
    backends: [{ kind: 'index', database, fromBlock: 0, pollMs: 50, isReadOnly }],
  };
}

async function writing(database: DatabaseOptions) {
  const metrics = createMetrics();
  const chains = [served(database, false)];
  const writers = await startIndexWriters({
    chains,
    fallback: { timeoutMs: 10_000 },
    metrics,
    clock: systemClock,
    log,
  });
  return { ...writers, metrics, [Symbol.asyncDispose]: writers.close };
}

const reading = (database: DatabaseOptions) =>
  startTestDataService([], { chains: [served(database, true)], log }, async () => undefined);

eachDatabase('an index that one process writes and another one serves', databases => {
  test('is served block by block by the reading process, which never writes it', async () => {
    const database = await databases.create();
    await using reader = await reading(database);
    const api = client(reader.url);
    const indexNow = async () =>
      record(list(record(list(record(await reader.status()).chains)[0]).backends)[0]);

    await reader.catchUp();
    const unwritten = await api.get(`/explorer/blocks/0?chain_id=${CHAIN_ID}`);
    const writers = await writing(database);
    await writers.whenComplete();
    await reader.whenComplete();
    const { hash } = await chain.send(0, { to: chain.accounts.signer(1).address, value: 1n });
    await chain.mine();
    const found = await until(
      () => api.get(`/explorer/transactions/${hash}?chain_id=${CHAIN_ID}`),
      ({ status }) => status === 200,
    );
    await writers.close();
    const before = await until(indexNow, ({ lag_blocks }) => lag_blocks === 0);
    await chain.mine();
    await until(indexNow, ({ lag_blocks }) => lag_blocks === 1);
    await reader.catchUp();
    const after = await indexNow();

    expect(unwritten.status).not.toBe(200);
    expect(found.body).toMatchObject({ hash });
    expect(before).toMatchObject({ head_block: expect.any(Number), lag_blocks: 0 });
    expect(after).toMatchObject({ head_block: before.head_block, lag_blocks: 1 });
  });

  test('reports its progress in the state, readiness and metrics of the writing process', async () => {
    await using writers = await writing(await databases.create());
    await writers.whenComplete();

    const [check] = Object.values(writers.checks);
    const { chains } = record(await writers.status());

    expect(await check?.()).toMatchObject({ ok: true });
    expect(chains).toMatchObject([
      { id: CHAIN_ID, name: 'Chain', writing: true, ready: true, lag_blocks: 0 },
    ]);
    expect(await writers.metrics.registry.metrics()).toMatch(/tollgate_index_head_block\{chain="31337"\} \d/);
  });
});
