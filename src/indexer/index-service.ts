import { hexToNumber } from 'viem';
import { openMigrated, unusable } from '../db/migrate.ts';
import { type DatabaseOptions, type Db, openReader } from '../db/open.ts';
import { transaction } from '../db/transaction.ts';
import { type KnownAbi, knownAbis } from '../evm/abi/abi.ts';
import type { Clock } from '../lib/clock.ts';
import { inTime, unlessLate } from '../lib/in-time.ts';
import { type Logger, logAndGoOn } from '../lib/logger.ts';
import { type RunningWorker, startWorker, type Worker } from '../lib/worker.ts';
import type { ChainClient } from '../node/client.ts';
import { type IndexStatus, indexProgress } from './index-progress.ts';
import { createReader, type Reader } from './index-reader.ts';
import type { QueryEngine } from './query/query.ts';
import { openQueryPool, type QueryPool } from './query/threads/pool.ts';
import { claimForChain } from './schema/head.ts';
import { indexOptions, indexSchema } from './schema/migrations/index-migrations.ts';
import { ReplacedWriter, writerLease } from './schema/writer-lease.ts';
import { syncRun } from './sync/run.ts';

export interface IndexOptions {
  /** Where the index lies: a file of its own, or a PostgreSQL database, which holds those of several chains. */
  database: DatabaseOptions;
  /** `confirmations`: a reorganisation deeper than this starts a new epoch. */
  chain: { id: number; confirmations: number };
  client: ChainClient;
  abis: readonly KnownAbi[];
  clock: Clock;
  log: Logger;
  /** Path of the setting that names the database, for the refusal to start with it. */
  setting?: string | undefined;
  /** First block to index, 0 unless given. Matters only while the index is empty. */
  fromBlock?: number;
  /** Threads of queries that several indexes share; the index has its own when absent. */
  pool?: QueryPool | undefined;
  /** Wait between two looks at the node's head, 1,000 ms unless given. */
  pollMs?: number;
  /** True for a process that only reads what another one writes. */
  isReadOnly?: boolean | undefined;
  /** How long another process waits to write an index of PostgreSQL whose writer fell silent; see `writerLease`. */
  leaseMs?: number;
}

/** A node that has not told its head for as long, or for as many polls, counts as out of reach. */
const NODE_HEAD_LASTS_MS = 10_000;
const NODE_HEAD_POLLS = 5;
/** How long a stop waits for what a node was asked before it closes the database all the same. */
const STOP_WITHIN_MS = 3_000;

/** An index that only another process writes and that stands still for as long behind its node seems to have no writer. */
const UNWRITTEN_MS = 60_000;
/** How long a look-up waits for a block that the node has and the index has not. */
const ARRIVES_WITHIN_MS = 500;

/** The index of one chain: a reader, and what keeps it up to date. */
export interface ChainIndex {
  reader: Reader;
  /** For queries that the reader has no statements for; its threads start with the first of them. */
  queries: QueryEngine;
  /** Syncs to the node's present head; resolves with the number of blocks written. Runs never overlap. */
  runOnce(): Promise<number>;
  /** Runs again and again until stopped; failures are logged. */
  start(): void;
  /** Ends the loop between two blocks, then closes the database. The index cannot be used afterwards. */
  stop(): Promise<void>;
  status(): IndexStatus;
  /** True when this process was the writer when it last asked. */
  isWriter(): boolean;
  /** A sentence when the index is left to another process and none seems to write it. */
  warning(): string | undefined;
  /** Differs whenever readers may see something different. In memory; published after the state refresh. */
  revision(): string;
  epoch(): number;
  /** Tells this index from every other, also from an earlier one of the same chain. */
  identity: string;
  /** Resolves as soon as the index was complete once. */
  whenComplete(): Promise<void>;
  /**
   * Repeats a look-up after each change of the index until it finds something, for at most 500 ms. Cuts the wait
   * between two polls short. Null when the time is over.
   */
  untilFound<Found>(lookUp: () => Promise<Found | null>): Promise<Found | null>;
}

/** A database with the newest schema that is this chain's. */
async function openClaimed(database: DatabaseOptions, { chain, setting }: IndexOptions): Promise<Db> {
  const schema = indexSchema(chain.id, database, setting);
  const db = await openMigrated(database, schema);
  try {
    await transaction(db, handle => claimForChain(handle, chain.id));
    return db;
  } catch (error) {
    await db.destroy();
    throw unusable(database, schema, error);
  }
}

/** Opens, and if need be creates, the index of a chain. @throws CannotStart when the database holds another chain's. */
export async function openIndex(options: IndexOptions): Promise<ChainIndex> {
  const { chain, client, clock, log, fromBlock = 0, pollMs = 1000 } = options;
  const database = indexOptions(options.database, chain.id);
  const db = await openClaimed(database, options);
  const readDb = await openReader(db, database);
  const pool = options.pool ?? openQueryPool({ clock });
  const queries = pool.engine(database, options.abis);
  const nodeHeadLastsMs = Math.max(NODE_HEAD_POLLS * pollMs, NODE_HEAD_LASTS_MS);
  const progress = await indexProgress(db, { clock, nodeHeadLastsMs, fromBlock });
  const newRun = () =>
    syncRun({
      db,
      write: lease.write,
      client,
      log,
      confirmations: chain.confirmations,
      fromBlock,
      onChange: progress.publish,
      onNodeHead: progress.sawNodeHead,
    });
  let run: ReturnType<typeof syncRun> | undefined;
  let hasWarned = false;
  const lease = writerLease(db, {
    chainId: chain.id,
    isReadOnly: options.isReadOnly ?? false,
    leaseMs: options.leaseMs,
    clock,
    log,
    // What an earlier writer of this process remembers of the chain may have changed since.
    onElected: () => {
      run = undefined;
    },
    onNews: () => worker?.nudge(),
  });

  /** One step of a process that writes the index, or of one that only reads what another writes. */
  async function step(): Promise<number> {
    if (await lease.hold()) {
      run ??= newRun();
      try {
        return await run(stopping.signal);
      } catch (error) {
        if (!(error instanceof ReplacedWriter)) throw error;
        run = undefined;
        log.warn({ chainId: chain.id }, error.message);
        return 0;
      }
    }
    await progress.publish();
    await inTime(lookAtNode(), pollMs).catch(unlessLate);
    const text = warning();
    if (text !== undefined && !hasWarned) log.warn({ chainId: chain.id }, text);
    hasWarned = text !== undefined;
    return 0;
  }

  let looking: Promise<void> | undefined;
  /** Reads the node's head. A node that hangs has one such request at a time, which no publication waits for. */
  function lookAtNode(): Promise<void> {
    looking ??= client
      .request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
      .then(head => {
        const number = head?.number ?? null;
        if (number !== null) progress.sawNodeHead(hexToNumber(number));
      })
      .finally(() => {
        looking = undefined;
      });
    return looking;
  }

  function warning(): string | undefined {
    const { head, lag } = progress.status();
    const isBehind = head === null || (lag !== null && lag > 1);
    if (options.isReadOnly !== true || !isBehind || progress.headAgeMs() < UNWRITTEN_MS) return undefined;
    return `no process seems to have the role indexer: the index of chain ${chain.id} stands still behind its node`;
  }

  const stopping = new AbortController();
  let last: Promise<number> = Promise.resolve(0);
  const runOnce = () => {
    last = last.catch(() => 0).then(step);
    return last;
  };
  const polling: Worker = {
    name: `index of chain ${chain.id}`,
    async runOnce() {
      await runOnce();
      return 0; // a run brings the index to the node's head: the next one has nothing to do at once
    },
  };
  let worker: RunningWorker | undefined;

  async function untilFound<Found>(lookUp: () => Promise<Found | null>): Promise<Found | null> {
    const ended = new AbortController();
    let isOver = false;
    const over = clock.sleep(ARRIVES_WITHIN_MS, ended.signal).then(
      () => {
        isOver = true;
      },
      () => undefined,
    );
    worker?.nudge();
    try {
      for (;;) {
        const changed = progress.nextChange(); // before the look-up, so that no change falls between the two
        const found = await lookUp();
        if (found !== null || isOver || stopping.signal.aborted) return found;
        await Promise.race([changed, over]);
      }
    } finally {
      ended.abort();
    }
  }

  return {
    reader: createReader({ db: readDb, abis: knownAbis(options.abis), client }),
    queries,
    runOnce,
    start() {
      worker ??= startWorker(polling, {
        pauseMs: () => (lease.isHeld() ? pollMs : lease.followPauseMs(pollMs)),
        longestPauseMs: pollMs,
        clock,
        log: log.child({ chainId: chain.id }),
      });
      lease.start();
    },
    async stop() {
      stopping.abort();
      // Between two blocks there is no transaction open, and a node that hangs must not hold up the process.
      const ended = new AbortController();
      const patience = clock.sleep(STOP_WITHIN_MS, ended.signal).catch(() => undefined);
      await Promise.race([Promise.allSettled([worker?.stop(), last]), patience]);
      ended.abort(); // a timer that is left would keep the process alive
      await lease.stop().catch(logAndGoOn(log, 'letting go of the lease of an index'));
      await Promise.all([
        db.destroy(),
        readDb === db ? undefined : readDb.destroy(),
        options.pool === undefined ? pool.close() : undefined,
      ]);
    },
    status: progress.status,
    isWriter: lease.isHeld,
    warning,
    revision: progress.revision,
    epoch: progress.epoch,
    identity: progress.identity,
    whenComplete: progress.whenComplete,
    untilFound,
  };
}
