import { explorerContract } from '#contract/contracts/explorer.ts';
import { insightsContract } from '#contract/contracts/insights.ts';
import { mount } from '#contract/mount/mount.ts';
import { indexBackend } from '#data/backends/own-index/own-index-backend.ts';
import { responseCache } from '#data/cache/response-cache.ts';
import { explorer } from '#data/explorer/operations.ts';
import { dataHandlers } from '#data/handlers.ts';
import { type DatabaseOptions, openDatabase } from '#db/open.ts';
import { knownContracts } from '#devnet/activity/artifacts.ts';
import { knownAbis } from '#evm/abi/abi.ts';
import { createApp } from '#http/app/app.ts';
import { createMetrics } from '#http/metrics.ts';
import { listen } from '#http/server/server.ts';
import { createReader } from '#indexer/index-reader.ts';
import { openQueryPool } from '#indexer/query/threads/pool.ts';
import { indexOptions } from '#indexer/schema/migrations/index-migrations.ts';
import { systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { createChainClient } from '#node/client.ts';
import { NFT, tokenAt } from './synthetic-block.ts';

export interface ServedIndex extends AsyncDisposable {
  readonly url: string;
}

/** Contracts with sources. All of them must exist on the shorter chain, so they fill less than a page. */
const VERIFIED = [NFT, ...Array.from({ length: 45 }, (_, place) => tokenAt(place * 21))].map(
  (address, place) => ({ name: `Verified ${place}`, address, artifactName: 'StableToken' }),
);

/** Clients with an address in `X-Forwarded-For` are counted, but never refused. */
const NO_LIMIT = 1e9;

/** Serves an index without a writer. Without `cacheBytes` its cache is too small to keep any answer. */
export async function serveIndex(options: {
  database: DatabaseOptions;
  chainId: number;
  nodeUrl: string;
  blocks: number;
  cacheBytes?: number;
}): Promise<ServedIndex> {
  const { chainId, nodeUrl, blocks, cacheBytes = 1 } = options;
  const log = createLogger({ level: 'error' });
  const metrics = createMetrics();
  const database = indexOptions(options.database, chainId);
  const db = openDatabase(database.kind === 'postgres' ? database : { ...database, readonly: true });
  const client = createChainClient({ id: chainId, rpcUrls: [nodeUrl], timeoutMs: 10_000, log });
  const pool = openQueryPool({ clock: systemClock });
  const abis = knownContracts(VERIFIED);
  const queries = pool.engine(database, abis);
  const reader = createReader({ db, abis: knownAbis(abis), client });
  const backend = indexBackend({
    name: `index-${chainId}`,
    chainId,
    index: {
      reader,
      queries,
      status: () => ({
        head: blocks - 1,
        nodeHead: blocks - 1,
        lag: 0,
        lastLag: 0,
        lagSeconds: 0,
        firstBlock: 0,
        complete: true,
        unreadBlocks: 0,
        blocks: 0,
        provenBlocks: 0,
        unreadState: 0,
        stalled: false,
      }),
      proofs: {
        status: () => ({
          provenShare: undefined,
          unprovable: undefined,
          contradicting: [],
          contradictions: new Map(),
          headAgreedBy: undefined,
        }),
        askNodes: async () => undefined,
      },
      nextChange: () => new Promise(() => {}),
      revision: () => 'still',
      identity: 'bench',
      isShared: false,
      whenComplete: async () => {},
      untilFound: lookUp => lookUp(),
      epoch: () => 0,
    },
  });
  const handlers = dataHandlers({
    chains: [
      {
        id: chainId,
        key: String(chainId),
        name: 'synthetic',
        native: { symbol: 'ETH', decimals: 18 },
        confirmations: 12,
        backends: [backend],
      },
    ],
    cache: responseCache({ maxBytes: cacheBytes, clock: systemClock }),
    lifetimes: { finalMs: 60_000, movingMs: 60_000, unsettledMs: 10_000, overrides: {} },
    timeoutMs: 10_000,
    staggerMs: 400,
    clock: systemClock,
    log,
    metrics,
  });
  const routes = [
    await mount({
      contract: explorerContract,
      handlers: explorer(handlers.serve),
      validateResponses: false,
    }),
    await mount({ contract: insightsContract, handlers: handlers.insights, validateResponses: false }),
  ];
  const app = createApp({
    log,
    metrics,
    clock: systemClock,
    routes,
    rateLimitPerMinute: NO_LIMIT,
    trustedProxies: ['127.0.0.1'],
  });
  const listening = await listen({ app, host: '127.0.0.1', port: 0, log });
  return {
    url: listening.url,
    async [Symbol.asyncDispose]() {
      await listening.close();
      await handlers.close();
      await Promise.all([db.destroy(), pool.close()]);
    },
  };
}
