import { hash } from 'node:crypto';
import { errorBodies } from '../contract/contracts/error-bodies.ts';
import { explorerContract } from '../contract/contracts/explorer.ts';
import { insightsContract } from '../contract/contracts/insights.ts';
import { description } from '../contract/description/description.ts';
import { docs } from '../contract/description/docs.ts';
import { mergedDocument } from '../contract/description/merged-document.ts';
import { mount } from '../contract/mount/mount.ts';
import { migrate } from '../db/migrate.ts';
import { type Db, openDatabase } from '../db/open.ts';
import { createApp } from '../http/app/app.ts';
import { healthRoutes } from '../http/health.ts';
import type { Metrics } from '../http/metrics.ts';
import { boundedAs, type ConnectionBounds } from '../http/server/connection-bounds.ts';
import { listen, type RunningServer } from '../http/server/server.ts';
import type { ChainIndex } from '../indexer/index-service.ts';
import type { QueryBudget, QueryPool } from '../indexer/query/threads/pool.ts';
import type { Clock } from '../lib/clock.ts';
import { type Logger, logAndGoOn } from '../lib/logger.ts';
import { warmUpNames } from './backends/own-index/source/resolve-address.ts';
import type { Upstream } from './backends/upstream/upstream.ts';
import { responseCache } from './cache/response-cache.ts';
import { CACHE_MIGRATIONS, sqliteStore } from './cache/sqlite-store.ts';
import { chainStatusBody, chainsRoute } from './chains-route.ts';
import { explorer } from './explorer/operations.ts';
import type { Chain } from './fallback/chain.ts';
import { dataHandlers } from './handlers.ts';
import { openChain, type ServedChain } from './open-chain.ts';
import { readiness } from './readiness.ts';
import { remoteDocuments } from './remote-documents.ts';
import type { Lifetimes } from './serve/lifetime.ts';

export interface DataServiceOptions {
  readonly host: string;
  readonly port: number;
  readonly publicUrl?: string | undefined;
  readonly chains: readonly ServedChain[];
  /** Resolves when the chains hold what they begin with; they do already when it is absent. */
  readonly filled?: Promise<void> | undefined;
  readonly cache: {
    readonly maxBytes: number;
    readonly file?: string | undefined;
    readonly lifetimes: Lifetimes;
  };
  /** Where `ipfs://` links of NFTs are read, without a slash at its end. */
  readonly ipfsGateway: string;
  readonly fallback: { readonly timeoutMs: number; readonly staggerMs: number };
  /** Budget of the queries on indexes; its parts have defaults. */
  readonly queries?: QueryBudget | undefined;
  readonly validateResponses: boolean;
  readonly rateLimitPerMinute: number;
  readonly trustedProxies: readonly string[];
  /** Bounds of open connections; none when absent. */
  readonly connections?: ConnectionBounds | undefined;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface DataService {
  readonly url: string;
  /** Resolves when filling has ended and every index has caught up once. Rejects when filling fails. */
  whenComplete(): Promise<void>;
  /** Blocks indexed so far and blocks to index, over all chains; undefined while a node has not told. */
  progress(): { indexed: number; total: number } | undefined;
  /** Brings every index to the head that its node has now. Rejects when a node is out of reach. */
  catchUp(): Promise<void>;
  /** State of the chains and their back ends, for the operator. */
  status(): Promise<object>;
  /** Stops accepting, drains, ends the indexes and closes every database. */
  close(): Promise<void>;
}

const CONTRACTS = [explorerContract, insightsContract] as const;
const TITLE = 'tollgate data service';
/** Documents 1 and 2 as one service. Decision 93. */
const DOCUMENT = mergedDocument(TITLE, CONTRACTS);

/** Composition root of the data service. Rejects when an index or the address cannot be had. */
export async function startDataService(options: DataServiceOptions): Promise<DataService> {
  const { metrics, clock, log } = options;
  const indexes: ChainIndex[] = [];
  const upstreams: Upstream[] = [];
  const shared = new Map<string, Upstream>();
  const databases: Db[] = [];
  const { ipfsGateway } = options;
  const remote = remoteDocuments({ ipfsGateway, clock, log });
  const pool = await queryPoolOf(options);
  const close = async () => {
    await Promise.all([
      ...indexes.map(index => index.stop()),
      ...upstreams.map(upstream => upstream.close()),
      remote.close(),
    ]);
    await Promise.all([pool?.close(), ...databases.map(db => db.destroy())]);
  };
  try {
    const chains = await Promise.all(
      options.chains.map(chain =>
        openChain(chain, { ...options, pool, documents: remote.documents }, { indexes, upstreams, shared }),
      ),
    );
    let isFilled = options.filled === undefined;
    let isWarm = pool === undefined;
    const warm = warmUp().then(() => {
      isWarm = true;
    });
    const listening = await open(chains, options, { opened: databases, isFilled: () => isFilled && isWarm });
    for (const index of indexes) index.start();
    const complete = caughtUp(options.filled, warm).then(() => {
      isFilled = true;
    });
    complete.catch(logAndGoOn(log, 'filling the chains'));
    metrics.watchIndex(() => progressOf(chains));
    return {
      url: listening.url,
      whenComplete: () => complete,
      catchUp,
      progress: () => totalProgress(indexes),
      status: async () => ({ chains: chains.map(chainStatusBody) }),
      close: async () => {
        await listening.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }

  /** Once chains are filled, an index may not know of their last blocks yet: it reads up to the head of then. */
  async function caughtUp(filled: Promise<void> | undefined, warm: Promise<void>): Promise<void> {
    if (filled !== undefined) {
      await filled;
      await catchUp();
    }
    await Promise.all([warm, ...indexes.map(index => index.whenComplete())]);
  }

  /** The first aggregate would wait for a thread to start, and the first name would block every other request. */
  async function warmUp(): Promise<void> {
    if (pool === undefined) return;
    warmUpNames();
    await pool.warmUp();
  }

  async function catchUp(): Promise<void> {
    await Promise.all(indexes.map(index => index.runOnce()));
  }

  function progressOf(chains: readonly Chain[]) {
    return chains.flatMap(({ id, backends }) =>
      backends.flatMap(backend => {
        const { head, lag } = backend.status();
        return head === undefined || lag === undefined
          ? []
          : [{ chain: String(id), headBlock: head, lagBlocks: lag }];
      }),
    );
  }

  async function open(
    chains: readonly Chain[],
    settings: DataServiceOptions,
    { opened, isFilled }: { opened: Db[]; isFilled: () => boolean },
  ): Promise<RunningServer> {
    const { host, port, cache: cacheSettings, fallback } = settings;
    const publicUrl = settings.publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
    const durable =
      cacheSettings.file === undefined ? undefined : await openStore(cacheSettings.file, opened);
    const cache = responseCache({ maxBytes: cacheSettings.maxBytes, durable, clock, log });
    const handlers = dataHandlers({
      chains,
      cache,
      lifetimes: cacheSettings.lifetimes,
      ...fallback,
      publicHost: new URL(publicUrl).hostname,
      clock,
      log,
      metrics,
    });
    const formatError = errorBodies(CONTRACTS);
    const app = createApp({
      log,
      metrics,
      clock,
      rateLimitPerMinute: settings.rateLimitPerMinute,
      trustedProxies: settings.trustedProxies,
      crossOrigin: { exposedHeaders: ['ETag', 'Age', 'X-Cache', 'X-Chain-Id', 'X-Backend'] },
      formatError,
      routes: [
        await mount({
          contract: explorerContract,
          handlers: explorer(handlers.serve),
          validateResponses: settings.validateResponses,
        }),
        await mount({
          contract: insightsContract,
          handlers: handlers.insights,
          validateResponses: settings.validateResponses,
        }),
        healthRoutes({ checks: readiness(chains, { isFilled }) }),
        chainsRoute(chains),
        await description(DOCUMENT, publicUrl),
        await docs(TITLE),
      ],
    });
    const listening = await listen({
      app,
      host,
      port,
      log,
      connections: boundedAs('data', settings.connections),
      formatError,
    });
    return {
      ...listening,
      close: async drainMs => {
        await listening.close(drainMs);
        await handlers.close();
      },
    };
  }

  async function openStore(file: string, opened: Db[]) {
    const db = openDatabase({ file, durability: 'normal' });
    opened.push(db);
    await migrate(db, CACHE_MIGRATIONS);
    // Answers that another version of the contract shaped are not this one's.
    return sqliteStore(db, { clock, version: hash('sha256', JSON.stringify(DOCUMENT)) });
  }
}

/** Threads for the queries of all indexes. Loaded only where a chain has an index, like the index itself. */
async function queryPoolOf({ chains, queries, clock }: DataServiceOptions): Promise<QueryPool | undefined> {
  const hasIndex = chains.some(({ backends }) => backends.some(({ kind }) => kind === 'index'));
  if (!hasIndex) return undefined;
  const { openQueryPool } = await import('../indexer/query/threads/pool.ts');
  return openQueryPool({ ...queries, clock });
}

function totalProgress(indexes: readonly ChainIndex[]): { indexed: number; total: number } | undefined {
  let indexed = 0;
  let total = 0;
  for (const index of indexes) {
    const { head, nodeHead } = index.status();
    if (nodeHead === null) return undefined;
    indexed += (head ?? -1) + 1;
    total += nodeHead + 1;
  }
  return { indexed, total };
}
