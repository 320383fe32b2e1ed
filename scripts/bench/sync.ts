import type { DatabaseOptions } from '#db/open.ts';
import { chainProofs } from '#indexer/fetch/chain-proofs.ts';
import { blockFetcher } from '#indexer/fetch/fetch-blocks.ts';
import { fetchInOrder } from '#indexer/fetch/fetch-window.ts';
import { receiverCode } from '../../src/indexer/fetch/receiver-code.ts';
import { openIndex } from '../../src/indexer/index-service.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { createChainClient } from '../../src/node/client.ts';

export interface SyncBench {
  fetchOnlyBlocksPerSecond: number;
  syncBlocksPerSecond: number;
}

/**
 * Compares indexing the newest `blocks` blocks of a node, including the state refresh, with only fetching the same
 * blocks, receipts and traces in the same windows. A first fetch warms the node's caches.
 */
export async function benchSync({
  rpcUrl,
  blocks,
  database,
}: {
  rpcUrl: string;
  blocks: number;
  /** An empty database. */
  database: DatabaseOptions;
}): Promise<SyncBench> {
  const log = createLogger({ level: 'silent' });
  const id = await chainIdOf(rpcUrl);
  const client = createChainClient({ id, rpcUrls: [rpcUrl], timeoutMs: 30_000, log });
  const proofs = chainProofs({ chainId: id, clock: systemClock, log });
  const fetcher = blockFetcher({ client, code: receiverCode(client), proofs, log });
  const head = await fetcher.header('latest');
  if (head === null) throw new Error('The node has no blocks.');
  const from = Math.max(0, head.number - blocks + 1);
  const count = head.number - from + 1;
  const fetchAll = async () => {
    let fetched = 0;
    for await (const chunk of fetchInOrder(fetcher, { from, to: head.number })) fetched += chunk.length;
    return fetched;
  };
  await fetchAll();

  const fetchMs = await timed(fetchAll);
  const index = await openIndex({
    database,
    chain: { id, confirmations: 12 },
    client,
    abis: [],
    clock: systemClock,
    log,
    fromBlock: from,
  });
  try {
    let written = 0;
    const syncMs = await timed(async () => {
      written = await index.runOnce();
    });
    if (written !== count) throw new Error(`${written} blocks of ${count} were indexed`);
    return {
      fetchOnlyBlocksPerSecond: perSecond(count, fetchMs),
      syncBlocksPerSecond: perSecond(count, syncMs),
    };
  } finally {
    await index.stop();
  }
}

async function chainIdOf(rpcUrl: string): Promise<number> {
  const log = createLogger({ level: 'silent' });
  return createChainClient({ id: 0, rpcUrls: [rpcUrl], timeoutMs: 30_000, log }).public.getChainId();
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function perSecond(count: number, ms: number): number {
  return Math.round((count / ms) * 1_000_000) / 1000;
}
