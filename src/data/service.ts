import type { Check } from '../http/health.ts';
import type { IndexProgress } from '../http/metrics.ts';
import type { ChainIndex } from '../indexer/index-service.ts';
import type { QueryBudget, QueryPool } from '../indexer/query/threads/pool.ts';
import { logAndGoOn } from '../lib/logger.ts';
import { openGateways } from '../node/gateways.ts';
import { diskSpace } from '../stores/disk-space.ts';
import { type AppOptions, serveChains } from './app.ts';
import { warmUpNames } from './backends/own-index/source/names.ts';
import { remoteDocuments } from './backends/own-index/source/remote-documents.ts';
import type { Upstream } from './backends/upstream/upstream.ts';
import { chainStatusBody, indexProgressOf } from './chain-status.ts';
import type { Chain } from './fallback/chain.ts';
import { type DataFront, openDataFront } from './front.ts';
import { openChain, type ServedChain } from './open-chain.ts';
import { readiness } from './readiness.ts';
import { runningIndexes } from './running-indexes.ts';

export interface DataServiceOptions extends AppOptions {
  readonly chains: readonly ServedChain[];
  /** The listener; opened here when absent, and closed with the service. */
  readonly front?: DataFront | undefined;
  /** Resolves when the chains hold their initial content. Absent if they hold it already. */
  readonly filled?: Promise<void> | undefined;
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
  readonly checks: Readonly<Record<string, Check>>;
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
  const front = options.front ?? (await openDataFront({ ...options, chainIds }));
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
      status: async () => ({
        chains: chains.map(chainStatusBody),
        disks: disk.status(),
        warnings: [...running.warnings(), ...disk.warnings()],
      }),
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

function progressOf(chains: readonly Chain[]): IndexProgress[] {
  return chains.flatMap(({ id, backends }) =>
    backends.filter(({ kind }) => kind === 'index').map(index => indexProgressOf(id, index.status())),
  );
}
