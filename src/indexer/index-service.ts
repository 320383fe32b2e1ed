import { databaseClock } from '../db/database-clock.ts';
import { openMigrated, unusable } from '../db/migrate.ts';
import { type DatabaseOptions, type Db, isShared, openReader } from '../db/open.ts';
import { transaction } from '../db/transaction.ts';
import { type KnownAbi, knownAbis } from '../evm/abi/abi.ts';
import { inTime, unlessLate } from '../lib/in-time.ts';
import { type ClockAndLog, logAndGoOn } from '../lib/logger.ts';
import { type RunningWorker, startWorker, type Worker } from '../lib/worker.ts';
import type { ChainClient } from '../node/client.ts';
import type { HasRoom } from '../stores/disk-space.ts';
import { headReader } from './head-reader.ts';
import { type IndexStatus, indexProgress, untilFound } from './index-progress.ts';
import { type IndexProofs, indexProofs } from './index-proofs.ts';
import { createReader, type Reader } from './index-reader.ts';
import type { QueryEngine } from './query/query.ts';
import { openQueryPool, type QueryPool } from './query/threads/pool.ts';
import { claimForChain } from './schema/head.ts';
import { indexOptions, indexSchema } from './schema/migrations/index-migrations.ts';
import { type IndexWrite, PausedForSpace, ReplacedWriter, writerLease } from './schema/writer-lease.ts';
import { stateLanes } from './state/state-lanes.ts';
import { refilling } from './sync/refill.ts';
import { syncRun } from './sync/run.ts';

export interface IndexOptions extends ClockAndLog {
  /** Location of the index: a file of its own, or a PostgreSQL database, which holds the indexes of several chains. */
  database: DatabaseOptions;
  /** A reorganisation deeper than `confirmations` starts a new epoch. */
  chain: { id: number; confirmations: number };
  client: ChainClient;
  abis: readonly KnownAbi[];
  /** Path of the setting that names the database, for the error at startup. */
  setting?: string | undefined;
  /** First block to index, 0 by default. Has an effect only while the index is empty. */
  fromBlock?: number;
  /** Query threads shared by several indexes. When absent, the index has its own. */
  pool?: QueryPool | undefined;
  /** Interval between two polls of the node's head, 1,000 ms by default. */
  pollMs?: number;
  /** True for a process that reads what another process writes. */
  isReadOnly?: boolean | undefined;
  /** False while the disk of the index has too little space for more blocks; true when absent. */
  hasRoom?: HasRoom | undefined;
}

/** A node counts as unreachable when its last answer is older than both of these. */
const NODE_HEAD_LASTS_MS = 10_000;
const NODE_HEAD_POLLS = 5;
/** Longest wait at stop for open node requests. The database is closed afterwards in any case. */
const STOP_WITHIN_MS = 3_000;

/** Largest lag at which state is read. Nodes that prune keep the state of 128 blocks. */
const STATE_WITHIN_BLOCKS = 64;

/** Index of one chain: its reader and the worker that keeps it up to date. */
export interface ChainIndex {
  reader: Reader;
  /** Engine for queries that the reader has no statements for. Its threads start with the first query. */
  queries: QueryEngine;
  /**
   * Syncs to the node's current head, and then reads the state that is due. Resolves with the number of blocks written.
   * Runs never overlap. Started indexes read state next to new blocks, which never wait for it.
   */
  runOnce(): Promise<number>;
  /**
   * Asks again for the missing parts of one block that is due. Resolves with 1 when some arrived, otherwise with 0.
   * Started indexes do so by themselves.
   */
  refillOnce(): Promise<number>;
  /** Runs repeatedly until stopped. Failures are logged. */
  start(): void;
  /** Ends the loop between two blocks, then closes the database. The index is unusable afterwards. */
  stop(): Promise<void>;
  status(): IndexStatus;
  proofs: Pick<IndexProofs, 'status' | 'askNodes'>;
  /** True when this process was the writer at its last check. */
  isWriter(): boolean;
  /** Milliseconds by which the clock of this machine is ahead of the database's. */
  aheadMs(): number;
  /** A sentence when the index does not move although it should, and its disk has room. */
  warning(): string | undefined;
  /** Changes whenever readers may see different data. In memory; published after the state refresh. */
  revision(): string;
  epoch(): number;
  /** Resolves at the next change that readers may see. */
  nextChange(): Promise<void>;
  /** Identifies this index among all others, including an earlier one of the same chain. */
  identity: string;
  /** True when processes of other machines use the same database. */
  isShared: boolean;
  /** Resolves once the index has been complete for the first time. */
  whenComplete(): Promise<void>;
  /**
   * Repeats a look-up after each change of the index until it finds something, for at most 500 ms.
   * Starts a poll at once. Returns null after the time limit.
   */
  untilFound<Value>(lookUp: () => Promise<Value | null>): Promise<Value | null>;
}

/** Opens the database with the newest schema and claims it for this chain. */
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

/**
 * Opens the index of a chain, and creates it if necessary.
 * @throws CannotStart when the database holds another chain's index
 */
export async function openIndex(options: IndexOptions): Promise<ChainIndex> {
  const { chain, client, log, fromBlock = 0, pollMs = 1000, hasRoom = () => true } = options;
  const database = indexOptions(options.database, chain.id);
  const db = await openClaimed(database, options);
  const clock = await databaseClock(db, options.clock, { name: `the index of chain ${chain.id}`, log });
  const readDb = await openReader(db, database);
  const pool = options.pool ?? openQueryPool({ clock });
  const queries = pool.engine(database, options.abis);
  const nodeHeadLastsMs = Math.max(NODE_HEAD_POLLS * pollMs, NODE_HEAD_LASTS_MS);
  const progress = await indexProgress(db, { clock, nodeHeadLastsMs, fromBlock });
  const nodeHead = headReader(client, { clock, onHead: progress.sawNodeHead });
  const proofs = indexProofs({ db: readDb, client, chain, progress, clock, log });
  const newRun = () =>
    syncRun({
      db,
      write,
      client,
      proofs: proofs.chain,
      clock,
      log,
      confirmations: chain.confirmations,
      fromBlock,
      onChange: progress.publish,
      onNodeHead: progress.sawNodeHead,
    });
  const write: IndexWrite = work => (hasRoom() ? lease.write(work) : Promise.reject(new PausedForSpace()));
  /** True for an error after which work goes on later, or in another process. */
  const isPause = (error: unknown) => error instanceof ReplacedWriter || error instanceof PausedForSpace;
  let run: ReturnType<typeof syncRun> | undefined;
  let hasWarned = false;
  const lease = writerLease(db, {
    chainId: chain.id,
    isReadOnly: options.isReadOnly ?? false,
    clock,
    log,
    // The chain may have changed since an earlier election of this process, so its run state is dropped.
    onElected: () => {
      run = undefined;
    },
    onNews: () => worker?.nudge(),
  });

  /**
   * One step of a process that writes the index, or of one that only reads it and, with `asksNode`, the node's head: a
   * process without the lease, or without space on its disk.
   */
  async function step(asksNode: boolean): Promise<number> {
    if ((await lease.hold()) && hasRoom()) {
      run ??= newRun();
      try {
        return await run(stopping.signal);
      } catch (error) {
        if (!isPause(error)) throw error;
        run = undefined; // what it knows of the chain may be ahead of the index
        if (error instanceof ReplacedWriter) log.warn({ chainId: chain.id }, error.message);
        return 0;
      }
    }
    await progress.publish();
    if (asksNode) await inTime(nodeHead.read(), pollMs).catch(unlessLate);
    const text = warning();
    if (text !== undefined && !hasWarned) log.warn({ chainId: chain.id }, text);
    hasWarned = text !== undefined;
    return 0;
  }

  // A writer without room pauses, which has a warning of its own.
  const warning = () => (hasRoom() ? (proofs.warning() ?? stallOf(progress.status(), options)) : undefined);

  const stopping = new AbortController();
  let last: Promise<number> = Promise.resolve(0);
  let reading: Promise<unknown> = last;
  const nextStep = (asksNode: boolean) => {
    last = last.catch(() => 0).then(() => step(asksNode));
    return last;
  };
  const polling: Worker = {
    name: `index of chain ${chain.id}`,
    async runOnce() {
      // Announced blocks cause many runs per poll. Half, because a pause may end early.
      await nextStep(nodeHead.ageMs() >= pollMs / 2);
      stateWorker?.nudge();
      return 0; // a run reaches the node's head, so the next run is not due at once
    },
  };
  let worker: RunningWorker | undefined;
  const deps = {
    db,
    lease: { isHeld: () => lease.isHeld() && hasRoom(), write },
    clock,
    log,
    onChange: progress.publish,
  };
  const refill = refilling({ ...deps, client, proofs: proofs.chain, confirmations: chain.confirmations });
  const state = stateLanes({
    ...deps,
    isPause,
    client: client.aside(),
    isNearHead: () => (progress.status().lag ?? Number.POSITIVE_INFINITY) <= STATE_WITHIN_BLOCKS,
  });
  let stateWorker: RunningWorker | undefined;
  /** Further workers that run next to the sync of new blocks. */
  let furtherWorkers: readonly RunningWorker[] = [];

  return {
    reader: createReader({ db: readDb, abis: knownAbis(options.abis), client }),
    queries,
    runOnce() {
      const run = nextStep(true).then(async written => {
        await state.once(stopping.signal);
        return written;
      });
      reading = run;
      return run;
    },
    refillOnce: refill.once,
    start() {
      if (worker !== undefined) return;
      const common = { clock, log: log.child({ chainId: chain.id }) };
      // Also where news is announced: an announcement may be lost.
      worker = startWorker(polling, { ...common, pauseMs: pollMs, longestPauseMs: pollMs });
      stateWorker = startWorker(state.fresh, { ...common, pauseMs: pollMs });
      furtherWorkers = [
        startWorker(state.due, { ...common, pauseMs: state.duePauseMs }),
        startWorker(refill.worker, { ...common, pauseMs: refill.pauseMs }),
      ];
      lease.start();
    },
    async stop() {
      stopping.abort();
      // No transaction is open between two blocks, and a node that hangs must not delay the stop.
      const ended = new AbortController();
      const patience = clock.sleep(STOP_WITHIN_MS, ended.signal).catch(() => undefined);
      const workers = [worker, stateWorker, ...furtherWorkers].map(one => one?.stop());
      await Promise.race([Promise.allSettled([...workers, last, reading]), patience]);
      ended.abort(); // an open timer would keep the process alive
      await lease.stop().catch(logAndGoOn(log, 'releasing the writer lease of an index'));
      await Promise.all([
        db.destroy(),
        readDb === db ? undefined : readDb.destroy(),
        options.pool === undefined ? pool.close() : undefined,
      ]);
    },
    status: progress.status,
    proofs,
    isWriter: lease.isHeld,
    aheadMs: clock.aheadMs,
    warning,
    revision: progress.revision,
    epoch: progress.epoch,
    nextChange: progress.nextChange,
    identity: progress.identity,
    isShared: isShared(db),
    whenComplete: progress.whenComplete,
    untilFound(lookUp) {
      worker?.nudge();
      return untilFound(lookUp, { progress, clock, stopping: stopping.signal });
    },
  };
}

/** A sentence when the index does not move although it should. */
function stallOf(
  { stalled, nodeHead }: IndexStatus,
  { chain, isReadOnly }: Pick<IndexOptions, 'chain' | 'isReadOnly'>,
): string | undefined {
  if (!stalled) return undefined;
  const index = `the index of chain ${chain.id}`;
  if (nodeHead === null) return `${index} does not advance: its node is silent`;
  const behind = `${index} is behind its node and does not advance`;
  return isReadOnly === true ? `no process seems to have the role indexer: ${behind}` : behind;
}
