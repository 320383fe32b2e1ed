import { numberToHex } from 'viem';
import type { Db } from '../../db/open.ts';
import type { ClockAndLog } from '../../lib/logger.ts';
import type { Worker } from '../../lib/worker.ts';
import type { ChainClient } from '../../node/client.ts';
import { contractRefusal } from '../../node/contract-refusal.ts';
import { NodeFailure, WrongChain } from '../../node/transport/errors.ts';
import { innermostReason } from '../fetch/unreadable.ts';
import { clean, type DirtyEntry, nextDue, nextFresh, postponeEntries } from '../schema/dirty-state.ts';
import { type Head, hashAt, readHead } from '../schema/head.ts';
import type { WriterLease } from '../schema/writer-lease.ts';
import { type KnownState, stateReader } from './read-state.ts';
import { countStateReading, knownOf, writeReadings } from './state-writer.ts';

/** Most entries read from the node together and written in one transaction. */
const BATCH = 200;
/** Entries of a batch after a read that failed. */
const FEW = 20;
/** Pause between two looks for entries that are due again. */
const PAUSE_MS = 1_000;
/** Pause after a batch of such entries, as a multiple of its time: they may keep the node busy. */
const SHARE = 3;
/** Shortest time between two log lines about entries that could not be read. */
const LOG_EVERY_MS = 60_000;

interface StateLanesDeps extends ClockAndLog {
  db: Db;
  lease: Pick<WriterLease, 'isHeld' | 'write'>;
  /** With connections of its own, so that no block waits for calls to contracts. */
  client: ChainClient;
  /** True while the index is so close to its node's head that the node has the state of the index's head. */
  isNearHead: () => boolean;
  /** True for an error of `lease.write` after which state is read later, or by another process. */
  isPause: (error: unknown) => boolean;
  /** Called after state was written. */
  onChange: () => Promise<void>;
}

/**
 * Creates the workers that read dirty state at the indexed head, next to the sync of new blocks (Decision 308). One
 * reads fresh entries, with little gas for each call. The other reads those that failed or needed more gas, in small
 * batches and with growing pauses, so that they delay no fresh one.
 */
export function stateLanes(deps: StateLanesDeps) {
  const { db, lease, client, clock, log, isNearHead } = deps;
  let batchOfDue = FEW;
  let lastMs = 0;
  let unreported = 0;
  let reportedAt = Number.NEGATIVE_INFINITY;

  const readFresh = oneAtATime(async (signal?: AbortSignal): Promise<number> => {
    let stored = 0;
    while (isActive(signal)) {
      const more = await readBatch(await nextFresh(db, BATCH));
      if (more === 0) break;
      stored += more;
    }
    return stored;
  });

  const readDue = oneAtATime(async (signal?: AbortSignal): Promise<number> => {
    if (!isActive(signal)) return 0;
    const entries = await nextDue(db, { now: clock.now(), limit: batchOfDue });
    const stored = await readBatch(entries);
    batchOfDue = stored === entries.length ? Math.min(batchOfDue * 2, BATCH) : FEW;
    return stored;
  });

  function isActive(signal: AbortSignal | undefined): boolean {
    return signal?.aborted !== true && lease.isHeld() && isNearHead();
  }

  /**
   * Reads entries, stores their values and puts off those that could not be read. Returns the number stored.
   * Without the head the node answers with state of another block, so nothing is stored.
   * @throws when the node is away
   */
  async function readBatch(entries: readonly DirtyEntry[]): Promise<number> {
    if (entries.length === 0) return 0;
    await client.verify();
    const before = await headAndKnown(entries);
    if (before === null) return 0;
    const { head, known } = before;
    const results = await Promise.allSettled(entries.map(stateReader(client, head.number, known)));
    const header = await client.request({
      method: 'eth_getBlockByNumber',
      params: [numberToHex(head.number), false],
    });
    if (header?.hash !== head.hash) return 0;
    const { done, failed, heavy, away } = sorted(entries, results);
    const isStored = await lease
      .write(async handle => {
        if ((await hashAt(handle, head.number)) !== head.hash) return false;
        await writeReadings(
          handle,
          done.map(({ state }) => state),
        );
        await clean(
          handle,
          done.map(({ entry }) => entry),
          head.number,
        );
        await postponeEntries(handle, failed, { now: clock.now(), pauses: true });
        await postponeEntries(handle, heavy, { now: clock.now(), pauses: false });
        await countStateReading(handle);
        return true;
      })
      .catch(error => {
        if (!deps.isPause(error)) throw error;
        return false;
      });
    if (!isStored) return 0;
    await deps.onChange();
    const [error] = failed.map(({ error: reason }) => reason);
    if (error !== undefined) tell(failed.length, error);
    if (away !== undefined) throw away;
    return done.length + heavy.length;
  }

  /** The head, and what was known at that head. Null when the head changes all the time, or there is none. */
  async function headAndKnown(
    entries: readonly DirtyEntry[],
  ): Promise<{ head: Head; known: KnownState } | null> {
    let head = await readHead(db);
    for (let attempt = 0; attempt < 3 && head !== null; attempt += 1) {
      const known = await knownOf(db, entries);
      const after = await readHead(db);
      if (after?.hash === head.hash) return { head, known };
      head = after;
    }
    return null;
  }

  /** Writes one line for many entries, at most once a minute. */
  function tell(count: number, error: unknown): void {
    unreported += count;
    if (Math.abs(clock.now() - reportedAt) < LOG_EVERY_MS) return;
    log.warn(
      { chainId: client.id, entries: unreported, reason: innermostReason(error) },
      'the node does not give state of the newest block; it is asked again',
    );
    unreported = 0;
    reportedAt = clock.now();
  }

  const fresh: Worker = {
    name: `state of the index of chain ${client.id}`,
    runOnce: readFresh,
  };
  const due: Worker = {
    name: `state that the index of chain ${client.id} reads again`,
    async runOnce(signal) {
      const startedAt = performance.now();
      lastMs = 0;
      await readDue(signal);
      lastMs = performance.now() - startedAt;
      return 0;
    },
  };
  return {
    fresh,
    due,
    duePauseMs: () => Math.max(PAUSE_MS, lastMs * SHARE),
    /** Reads all that is due now. @throws when the node is away */
    async once(signal: AbortSignal | undefined): Promise<void> {
      await readFresh(signal);
      while ((await readDue(signal)) > 0);
    },
  };
}

/** Delays each call until the one before has ended. Of two reads of an entry, the older must not be written last. */
function oneAtATime(work: (signal?: AbortSignal) => Promise<number>) {
  let last = Promise.resolve(0);
  return (signal?: AbortSignal): Promise<number> => {
    last = last.catch(() => 0).then(() => work(signal));
    return last;
  };
}

/** Results by what is to be done with their entries. */
function sorted<State>(entries: readonly DirtyEntry[], results: readonly PromiseSettledResult<State>[]) {
  const done: { entry: DirtyEntry; state: State }[] = [];
  /** Read again after a pause. */
  const failed: (DirtyEntry & { error: unknown })[] = [];
  /** Read again with more gas. */
  const heavy: DirtyEntry[] = [];
  let away: unknown;
  for (const [at, entry] of entries.entries()) {
    const result = results[at];
    if (result === undefined) continue;
    if (result.status === 'fulfilled') done.push({ entry, state: result.value });
    else if (contractRefusal(result.reason) === 'out of gas') heavy.push(entry);
    else if (isAway(result.reason)) away = result.reason;
    else failed.push({ ...entry, error: result.reason });
  }
  return { done, failed, heavy, away };
}

/** True for a failure that concerns every call. A call may be slow because of its contract. */
function isAway(error: unknown): boolean {
  return (error instanceof NodeFailure && error.fault !== 'timeout') || error instanceof WrongChain;
}
