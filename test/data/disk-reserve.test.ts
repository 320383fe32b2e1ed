import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ServedChain } from '../../src/data/open-chain.ts';
import { startIndexWriters } from '../../src/data/running-indexes.ts';
import { openDatabase } from '../../src/db/open.ts';
import { rowsOf } from '../../src/db/query.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';
import {
  CHAIN_ID,
  canonicalContent,
  log,
  openTestIndex,
  startTestChain,
  type TestChain,
} from '../indexer/support.ts';
import { indexIn, startTestDataService } from '../lab/data-service.ts';
import { list, record } from '../lab/json.ts';
import { until } from '../lab/until.ts';
import { client } from '../support/contract-client.ts';
import { LIFETIMES } from './answer-support.ts';

const RESERVED = 1_000_000_000;
const TOTAL = 100 * RESERVED;
const reserve = { share: 1, mostBytes: RESERVED };

let chain: TestChain;

beforeAll(async () => {
  chain = await startTestChain();
  await chain.mine();
});

afterAll(() => chain.stop());

function served(file: string, isDisposable = false): ServedChain {
  return {
    id: CHAIN_ID,
    name: 'Chain',
    native: { symbol: 'ETH', decimals: 18 },
    confirmations: 12,
    rpcUrls: [chain.rpcUrl],
    abis: [],
    backends: [{ ...indexIn({ file }), isDisposable }],
  };
}

/** A disk with room, until the test takes it. */
function testDisk() {
  const state = { freeBytes: TOTAL };
  return { state, diskSpace: { reserve, read: () => ({ freeBytes: state.freeBytes, totalBytes: TOTAL }) } };
}

async function mineBlocks(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    await chain.send(0, { to: chain.accounts.signer(1).address, value: 1n });
    await chain.mine();
  }
}

test('with too little space the index and the cache of a data service pause, say so, and go on by themselves', async () => {
  const [indexFile, cacheFile] = [join(chain.folder, 'index.db'), join(chain.folder, 'cache.db')];
  const { state, diskSpace } = testDisk();
  const lines: string[] = [];
  const metrics = createMetrics();
  await using service = await startTestDataService([], {
    chains: [served(indexFile)],
    cache: {
      maxBytes: 2 ** 24,
      lifetimes: LIFETIMES,
      store: { kind: 'sqlite', file: cacheFile, sizeBytes: 64_000_000 },
    },
    diskSpace,
    metrics,
    log: createLogger({ level: 'info', destination: { write: line => void lines.push(line) } }),
  });
  const api = client(service.url);
  const disks = async () => record(await service.status()).disks;
  const head = async () => record(list(record(list(record(await service.status()).chains)[0]).backends)[0]);
  const cacheDb = openDatabase({ file: cacheFile, readonly: true });
  const stored = async () => (await rowsOf(cacheDb, 'select key from entries')).length;
  const said = () => lines.map(line => JSON.parse(line).msg).filter(text => /^(index|cache)/.test(text));
  await api.get('/explorer/blocks/1');
  const kept = await until(stored, count => count > 0);
  const from = Number((await head()).head_block);

  state.freeBytes = RESERVED - 1;
  await mineBlocks(30);
  const paused = await until(head, ({ lag_blocks }) => lag_blocks === 30);
  const during = [
    await api.get('/explorer/blocks/1'),
    await api.get('/explorer/blocks/0'),
    await api.get('/explorer/blocks/0'),
    await api.get('/explorer/transactions'),
    await api.get(`/insights/v1/blocks?chain_id=${CHAIN_ID}`),
  ];
  const newBlock = await api.get(`/explorer/blocks/${from + 30}`);
  const { warnings } = record(await service.status());
  const scraped = await metrics.registry.metrics();
  const [disksPaused, keptDuring] = [await disks(), await stored()];
  state.freeBytes = TOTAL;
  const caughtUp = await until(head, ({ lag_blocks }) => lag_blocks === 0);
  const found = await until(
    () => api.get(`/explorer/blocks/${from + 30}`),
    ({ status }) => status === 200,
  );
  const keptAfter = await until(stored, count => count > kept);
  const indexDb = openDatabase({ file: indexFile, readonly: true });
  await until(
    () => rowsOf(indexDb, 'select * from dirty'),
    unread => unread.length === 0,
  );
  await indexDb.destroy();
  await cacheDb.destroy();
  await service.close();

  expect(paused).toMatchObject({ head_block: from, lag_blocks: 30 });
  expect(during.map(({ status, headers }) => [status, headers.get('x-cache')])).toEqual([
    [200, 'HIT'],
    [200, 'MISS'],
    [200, 'HIT'],
    [200, 'MISS'],
    [200, 'MISS'],
  ]);
  expect([newBlock.status, newBlock.headers.get('retry-after')]).toEqual([503, '1']);
  expect(disksPaused).toEqual(
    ['index-31337', 'cache'].map(writer => ({
      writer,
      paused: true,
      free_bytes: RESERVED - 1,
      reserved_bytes: RESERVED,
    })),
  );
  expect(warnings).toEqual([
    'index-31337 does not write: its disk has 999 MB free, and diskReserve keeps 1000 MB for payments',
    'cache does not write: its disk has 999 MB free, and diskReserve keeps 1000 MB for payments',
  ]);
  expect(scraped).toContain('tollgate_disk_writes_paused{writer="index-31337"} 1');
  expect(scraped).toContain('tollgate_disk_writes_paused{writer="cache"} 1');
  expect(keptDuring).toBe(kept);
  expect([caughtUp.head_block, found.status]).toEqual([from + 30, 200]);
  expect(keptAfter).toBeGreaterThan(kept);
  expect(said().toSorted()).toEqual([
    expect.stringMatching(/^cache does not write/),
    expect.stringMatching(/^cache writes again/),
    'index writer started',
    'index writer stopped',
    expect.stringMatching(/^index-31337 does not write/),
    expect.stringMatching(/^index-31337 writes again/),
  ]);
  expect(await canonicalContent(indexFile)).toEqual(await freshContent());
});

test('a process that only writes indexes reports their disks, too', async () => {
  const { state, diskSpace } = testDisk();
  state.freeBytes = 0;
  const options = { fallback: { timeoutMs: 10_000 }, metrics: createMetrics(), clock: systemClock, log };
  const writers = await startIndexWriters({
    ...options,
    chains: [served(join(chain.folder, 'written.db'))],
    diskSpace,
  });

  const paused = record(await writers.status());
  state.freeBytes = TOTAL;
  await writers.whenComplete();
  const after = record(await writers.status());
  await writers.close();

  expect(paused).toMatchObject({
    chains: [{ head_block: null }],
    disks: [{ writer: 'index-31337', paused: true }],
    warnings: [expect.stringContaining('index-31337 does not write')],
  });
  expect(after).toMatchObject({ disks: [{ writer: 'index-31337', paused: false }], warnings: [] });
});

test('the index of a run that removes it fills itself below the reserve', async () => {
  const { state, diskSpace } = testDisk();
  state.freeBytes = 0;
  const chains = [served(join(chain.folder, 'disposable.db'), true)];

  await using service = await startTestDataService([], { chains, diskSpace });

  expect(await service.status()).toMatchObject({
    chains: [{ backends: [{ ready: true, lag_blocks: 0 }] }],
    disks: [],
    warnings: [],
  });
});

async function freshContent() {
  const file = join(chain.folder, 'fresh.db');
  const fresh = await openTestIndex({ file, client: chain.client });
  await fresh.runOnce();
  await fresh.stop();
  return canonicalContent(file);
}
