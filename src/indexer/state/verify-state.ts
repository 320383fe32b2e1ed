import type { Db } from '../../db/open.ts';
import { transaction } from '../../db/transaction.ts';
import type { ChainClient } from '../../node/client.ts';
import { type Dirty, dirtyRow, markDirty, touchedIn } from '../schema/dirty-state.ts';
import { readHead, readProgress } from '../schema/head.ts';
import {
  type CounterDifference,
  type Counters,
  countersOf,
  recount,
  TOTALS,
  wrongCounters,
} from './compare-counters.ts';
import { compareState, type StateDifference } from './compare-state.ts';

interface VerificationDeps {
  readonly db: Db;
  readonly client: ChainClient;
  /** Called for each difference. */
  readonly onDifference: (difference: StateDifference | CounterDifference) => void;
  /** True to have what differs read again, and counters counted again. */
  readonly isRepairing: boolean;
}

/** Part of an index to verify. */
interface VerificationBounds {
  /** First block whose state is compared. */
  readonly from: number;
  /** Entries after which no further blocks are begun. */
  readonly limit: number;
  /** True when no further blocks are to be begun. */
  readonly isOver: () => boolean;
}

/** Result of a verification, as numbers of entries. */
export interface Verification {
  readonly checked: number;
  readonly differing: number;
  /** Entries that the node did not give. */
  readonly unread: number;
  /** First block that was not begun; null when all were. */
  readonly next: number | null;
}

/** Blocks whose state is compared together. */
const BLOCKS = 10;
/** Entries requested together. */
const BATCH = 200;
/** Entries that are remembered, so that those of many blocks are compared once. */
const MAX_REMEMBERED = 500_000;

/**
 * Compares with the node, at the index's head, all state that the blocks of the index from `from` on have touched, and
 * the counters of their addresses and tokens with the rows of the index; after the last block also the totals
 * (Decision 309).
 * @throws when the node is away
 */
export async function verifyState(deps: VerificationDeps, bounds: VerificationBounds): Promise<Verification> {
  const { db } = deps;
  const { head, firstNumber } = await readProgress(db, 0);
  const last = head?.number ?? -1;
  const seen = new Set<string>();
  let checked = 0;
  let differing = 0;
  let unread = 0;
  for (let block = Math.max(bounds.from, firstNumber ?? 0); block <= last; block += BLOCKS) {
    if (checked >= bounds.limit || bounds.isOver()) return { checked, differing, unread, next: block };
    const touched = await touchedIn(db, { from: block, to: block + BLOCKS - 1 });
    const entries = touched.filter(entry => !seen.has(Object.values(entry).join()));
    if (seen.size > MAX_REMEMBERED) seen.clear();
    for (const entry of entries) seen.add(Object.values(entry).join());
    for (let start = 0; start < entries.length; start += BATCH) {
      const result = await verifyBatch(deps, entries.slice(start, start + BATCH));
      differing += result.differing;
      unread += result.unread;
    }
    checked += entries.length;
  }
  differing += await verifyCounters(deps, TOTALS);
  return { checked, differing, unread, next: null };
}

async function verifyBatch(
  deps: VerificationDeps,
  entries: readonly Dirty[],
): Promise<{ differing: number; unread: number }> {
  const { db, client, onDifference, isRepairing } = deps;
  const { differences, unread } = await compareState({ db, client }, entries);
  for (const difference of differences) onDifference(difference);
  if (isRepairing && differences.length > 0) {
    await transaction(db, async handle => {
      const block = (await readHead(handle))?.number ?? 0;
      await markDirty(
        handle,
        differences.map(({ entry }) => dirtyRow(entry, block)),
      );
    });
  }
  const counters = entries.flatMap(entry => countersOf(db, entry));
  return { differing: differences.length + (await verifyCounters(deps, counters)), unread };
}

/** Returns the number of counters that differ. */
async function verifyCounters(
  { db, onDifference, isRepairing }: VerificationDeps,
  counters: readonly Counters[],
): Promise<number> {
  let differing = 0;
  for (const one of counters) {
    const wrong = await wrongCounters(db, one);
    for (const difference of wrong) onDifference(difference);
    if (isRepairing && wrong.length > 0) await recount(db, one);
    differing += wrong.length;
  }
  return differing;
}
