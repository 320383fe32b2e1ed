import { hash } from 'node:crypto';
import { dataServiceContract } from '../contract/contracts/data-service.ts';
import { explorerContract } from '../contract/contracts/explorer.ts';
import { insightsContract } from '../contract/contracts/insights.ts';
import { descriptionHandlers } from '../contract/description/description.ts';
import { withExamples } from '../contract/description/examples.ts';
import { mergedDocument } from '../contract/description/merged-document.ts';
import { publicDocument } from '../contract/description/public-document.ts';
import { mount } from '../contract/mount/mount.ts';
import type { LinkedHostRules } from '../http/fetch/linked-hosts.ts';
import type { ReadinessCheck } from '../http/health.ts';
import type { IndexFigures } from '../http/index-metrics.ts';
import type { ChainIndex } from '../indexer/index-service.ts';
import type { QueryBudget, QueryPool } from '../indexer/query/threads/pool.ts';
import { logAndGoOn } from '../lib/logger.ts';
import { openGateways } from '../node/names/gateways.ts';
import { referencePages } from '../pages/reference/reference-page.ts';
import { type DiskSpace, type DiskSpaceSettings, diskSpace } from '../stores/disk-space.ts';
import { warmUpNames } from './backends/own-index/source/names.ts';
import { remoteDocuments } from './backends/own-index/source/remote-documents.ts';
import type { Upstream } from './backends/upstream/upstream.ts';
import { type CacheStoreOptions, openSecondLayer } from './cache/open-second-layer.ts';
import { responseCache } from './cache/response-cache.ts';
import { chainsHandler, dataChainStatusBody, indexProgressOf } from './chain-status.ts';
import { explorer } from './explorer/operations.ts';
import { listExport } from './export/export-list.ts';
import type { Chain } from './fallback/chain.ts';
import { type DataFront, type FrontOptions, openDataFront } from './front.ts';
import { dataHandlers } from './handlers.ts';
import { type LiveSettings, liveEvents } from './live/live-handler.ts';
import { openChain, type ServedChain } from './open-chain.ts';
import { recordLook } from './pages/record-look.ts';
import { pictureLoader } from './pictures/picture-loader.ts';
import { pictureRoute } from './pictures/picture-route.ts';
import { readiness } from './readiness.ts';
import { runningIndexes } from './running-indexes.ts';
import type { Lifetimes } from './serve/lifetime.ts';

export interface DataServiceOptions extends FrontOptions {
  readonly chains: readonly ServedChain[];
  readonly publicUrl?: string | undefined;
  readonly cache: {
    readonly maxBytes: number;
    /** Second cache layer; memory alone when absent. */
    readonly store?: CacheStoreOptions | undefined;
    /** Longest wait of a request for a Redis, in milliseconds; the default of `openSecondLayer` when absent. */
    readonly timeoutMs?: number | undefined;
    readonly lifetimes: Lifetimes;
  };
  /** Free space that the cache and the indexes leave on their disks. */
  readonly diskSpace?: DiskSpaceSettings;
  readonly fallback: { readonly timeoutMs: number; readonly staggerMs: number };
  /** Base URL of the gateway for `ipfs://` links of NFTs, without a trailing slash. */
  readonly ipfsGateway: string;
  /** Exceptions for other hosts that NFTs link to; none when absent. */
  readonly linkedHosts?: LinkedHostRules | undefined;
  readonly validateResponses: boolean;
  /** The listener; opened here when absent, and closed with the service. */
  readonly front?: DataFront | undefined;
  /** Resolves when the chains hold their initial content. Absent if they hold it already. */
  readonly filled?: Promise<void> | undefined;
  /** Streams of live events; the default limits when absent. */
  readonly live?: LiveSettings | undefined;
  /** Budget for queries on indexes. Each part has a default. */
  readonly queries?: QueryBudget | undefined;
}

export interface DataService {
  readonly url: string;
  /** Resolves when the chains that the process fills are filled and indexed. Rejects when filling fails. */
  whenFilled(): Promise<void>;
  /** Resolves when, in addition, every index has caught up once. */
  whenComplete(): Promise<void>;
  /** Blocks indexed so far and blocks to index, over all chains; undefined until every node has reported its head. */
  progress(): { indexed: number; total: number } | undefined;
  /** Brings every index to its node's current head. Rejects when a node is unreachable. */
  catchUp(): Promise<void>;
  /** Readiness checks by chain. */
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  /** State of the chains and their back ends, for the operator. */
  status(): Promise<object>;
  /** Stops accepting requests, drains, stops the indexes and closes every database. */
  close(): Promise<void>;
}

/** Composition root of the data service. Rejects when an index cannot be opened or the address cannot be bound. */
export async function startDataService(options: DataServiceOptions): Promise<DataService> {
  const { ipfsGateway, linkedHosts, metrics, clock, log } = options;
  const disk = diskSpace({ ...options.diskSpace, metrics, log });
  const indexes: ChainIndex[] = [];
  const upstreams: Upstream[] = [];
  const remote = remoteDocuments({ ipfsGateway, rules: linkedHosts, clock, log });
  const gateways = openGateways({ rules: linkedHosts, log });
  const chainIds = options.chains.map(({ id }) => id);
  const front = options.front ?? (await openDataFront(options, chainIds));
  const pool = await queryPoolOf(options);
  const running = runningIndexes(indexes);
  const close = async () => {
    await Promise.all([
      running.stop(),
      ...upstreams.map(upstream => upstream.close()),
      remote.close(),
      gateways.close(),
    ]);
    await pool?.close();
  };
  try {
    const filled: ChainIndex[] = [];
    const resources = { indexes, filled, upstreams, shared: new Map<string, Upstream>() };
    const chains = await Promise.all(
      options.chains.map(chain =>
        openChain(chain, { ...options, disk, pool, documents: remote.documents, gateways }, resources),
      ),
    );
    let isPrepared = options.filled === undefined && pool === undefined;
    const warm = warmUp(pool, options.chains);
    const checks = readiness(chains, { isFilled: () => isPrepared, clock, log });
    const endServing = await serveChains(chains, front, { ...options, checks, disk });
    running.start();
    const prepared = Promise.all([whenFilled(options.filled, filled), warm]).then(() => {
      isPrepared = true;
    });
    prepared.catch(logAndGoOn(log, 'filling the chains'));
    metrics.watchClock('indexes', running.aheadMs);
    metrics.watchIndex(() => progressOf(chains));
    return {
      url: front.url,
      whenFilled: () => prepared,
      whenComplete: async () => void (await Promise.all([prepared, running.whenComplete()])),
      checks,
      catchUp: running.catchUp,
      progress: running.progress,
      async status() {
        await running.askNodes();
        return {
          chains: chains.map(dataChainStatusBody),
          disks: disk.status(),
          warnings: [...running.warnings(), ...disk.warnings()],
        };
      },
      close: async () => {
        await front.close();
        await endServing();
        await close();
      },
    };
  } catch (error) {
    await front.close();
    await close();
    throw error;
  }
}

const CONTRACTS = [explorerContract, insightsContract] as const;
/** To be raised with a change that corrects values or the meaning of positions without a change of the contract. */
const ANSWERS_VERSION = 2;
/** Part of the cache key: answers in another version's shape, or with its mistakes, must not be served. */
const CONTRACT_VERSION = hash(
  'sha256',
  JSON.stringify([ANSWERS_VERSION, ...CONTRACTS.map(({ document }) => document)]),
);
const TITLE = 'tollgate data service';
/** One description covers documents 1 and 2 (Decision 93). */
const describe = () =>
  mergedDocument(TITLE, [
    withExamples(explorerContract),
    withExamples(insightsContract),
    withExamples(dataServiceContract),
  ]);

/**
 * Serves opened chains from a front, with one cache. Resolves to a function that stops serving, to be called after the
 * front has closed. Rejects when the cache cannot be opened.
 */
async function serveChains(
  chains: readonly Chain[],
  front: DataFront,
  {
    checks,
    disk,
    ...options
  }: DataServiceOptions & { checks: Readonly<Record<string, ReadinessCheck>>; disk: DiskSpace },
): Promise<() => Promise<void>> {
  const { fallback, clock, log, metrics, validateResponses } = options;
  const { store, timeoutMs, lifetimes, maxBytes } = options.cache;
  const publicUrl = options.publicUrl ?? front.url;
  const observers = { metrics, clock, log };
  const second =
    store && (await openSecondLayer(store, { version: CONTRACT_VERSION, timeoutMs, disk, ...observers }));
  try {
    const cache = responseCache({ maxBytes, second, clock });
    const handlers = dataHandlers({
      chains,
      cache,
      lifetimes,
      ...fallback,
      publicHost: new URL(publicUrl).hostname,
      clock,
      log,
      metrics,
    });
    const description = descriptionHandlers(describe, () => publicUrl);
    referencePages(front.plain, { title: TITLE, describe: () => publicDocument(describe(), publicUrl) });
    const operations = explorer(handlers.serve);
    const live = liveEvents({
      chains,
      settings: options.live,
      isLeaving: options.isLeaving,
      metrics,
      clock,
      log,
    });
    const pictures = pictureLoader({
      ipfsGateway: options.ipfsGateway,
      rules: options.linkedHosts,
      clock,
      log,
    });
    if (options.pages) {
      const { getTokenInstance } = operations;
      const { getNft } = handlers.insights;
      pictureRoute(front.plain, { chains, sources: { getTokenInstance, getNft }, pictures });
    }
    front.serve({
      checks,
      isMissing: recordLook(operations, () => clock.now()),
      endStreams: live.end,
      routes: [
        await mount({
          contract: explorerContract,
          handlers: { ...operations, streamLive: live.streamLive },
          validateResponses,
        }),
        await mount({ contract: insightsContract, handlers: handlers.insights, validateResponses }),
        await mount({
          contract: dataServiceContract,
          handlers: {
            listChains: chainsHandler(chains),
            exportList: listExport({ chains, operations: explorer(handlers.serveUncached), clock }),
            getDescription: description.json,
            getDescriptionYaml: description.yaml,
          },
          validateResponses,
        }),
      ],
    });
    return async () => {
      await live.stop();
      await handlers.close();
      await pictures.close();
      await cache.flush();
      await second?.close();
    };
  } catch (error) {
    await second?.close();
    throw error;
  }
}

/** Resolves when chains are filled and their indexes have read all of it. */
async function whenFilled(filled: Promise<void> | undefined, indexes: readonly ChainIndex[]): Promise<void> {
  if (filled === undefined) return;
  await filled;
  const running = runningIndexes(indexes);
  // The last blocks may not be indexed yet.
  await running.catchUp();
  await running.whenComplete();
}

/** Threads for the queries of all indexes. Loaded only if a chain has an index. */
async function queryPoolOf({ chains, queries, clock }: DataServiceOptions): Promise<QueryPool | undefined> {
  const hasIndex = chains.some(({ backends }) => backends.some(({ kind }) => kind === 'index'));
  if (!hasIndex) return undefined;
  const { openQueryPool } = await import('../indexer/query/threads/pool.ts');
  return openQueryPool({ ...queries, clock });
}

/**
 * Prevents two delays: the first aggregate would wait for a thread to start, and the first name would block all
 * requests.
 */
async function warmUp(pool: QueryPool | undefined, chains: readonly ServedChain[]): Promise<void> {
  if (pool === undefined) return;
  const threads = pool.warmUp(); // starts while the names warm up
  if (chains.some(({ names }) => names !== undefined)) await warmUpNames();
  await threads;
}

function progressOf(chains: readonly Chain[]): IndexFigures[] {
  return chains.flatMap(({ id, backends }) =>
    backends.filter(({ kind }) => kind === 'index').map(index => indexProgressOf(id, index.status())),
  );
}
