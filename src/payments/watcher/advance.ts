import type { Clock } from '../../lib/clock.ts';
import type { ChainCursor } from '../store/cursor-store.ts';
import { logKey, record } from './look/record.ts';
import { repricedBy } from './look/replaced.ts';
import type { Failpoint, Round } from './look/round.ts';
import type { NativeReader } from './node/native-transfers.ts';
import { scan } from './node/scan.ts';
import { blockBeforeSessions } from './starting-point.ts';

/** Many nodes refuse to return logs of longer ranges. */
const BLOCKS_PER_SCAN = 500;
/** Least number of blocks that every round scans again, because lagging nodes may return incomplete logs. */
const WINDOW_BLOCKS = 12;
/** Minimum interval between stored times of scans that found nothing new. */
const NOTE_EVERY_MS = 1_000;

/**
 * A scanner of transfers that continues where the last round ended. It remembers the settled transfers of the window;
 * without that memory it only checks them again.
 */
export function advance({ native, clock, fault }: { native: NativeReader; clock: Clock; fault: Failpoint }) {
  let settled = new Set<string>();
  let isComplete = false;
  let hasReachedHead = false;

  async function run(round: Round, seenAt: number, signal: AbortSignal): Promise<number> {
    const { chain, view, head, places, db, log } = round;
    let cursor: ChainCursor | undefined = round.progress;
    const startBlock =
      cursor?.blockNumber ??
      (await blockBeforeSessions({ chainId: chain.id, db, view, head, now: clock.now() }));
    const window = Math.max(chain.confirmations, WINDOW_BLOCKS);
    const seen = new Set<string>();
    let isAllSettled = true;
    let changes = 0;
    isComplete = false;
    hasReachedHead = false;
    for (let from = Math.max(0, startBlock + 1 - window); from <= head.number && !signal.aborted; ) {
      const to = Math.min(from + BLOCKS_PER_SCAN - 1, head.number);
      const found = await scan(
        { from, to },
        { chainId: chain.id, view, native, places, isSettled: key => settled.has(key) },
      );
      await fault('scan');
      const isHead = to === head.number;
      if (found === undefined || (isHead && found.lastHash !== head.hash)) {
        log.debug({ chainId: chain.id, from, to }, 'the chain changed during the scan');
        return changes;
      }

      // A log that does not match its block is scanned again. Before the window, the cursor has to stop there for it.
      const isSure = found.unsureFrom === undefined || found.unsureFrom > head.number - window;
      const reached = isSure ? to : (found.unsureFrom ?? to) - 1;
      const isWhole = isHead && found.unsureFrom === undefined && head.number >= startBlock;
      const next = {
        // A node that fell behind does not move the cursor back.
        blockNumber: Math.max(cursor?.blockNumber ?? startBlock, reached),
        scannedAt: isWhole ? seenAt : (cursor?.scannedAt ?? 0),
      };
      const transfers = found.transfers.filter(one => !settled.has(logKey(one)));
      const isNews =
        transfers.length > 0 ||
        cursor?.blockNumber !== next.blockNumber ||
        next.scannedAt - cursor.scannedAt >= NOTE_EVERY_MS;
      if (isNews && isHead && transfers.length === 0) {
        round.note({ cursor: next });
        cursor = next;
      } else if (isNews) {
        const repriced = await repricedBy(round, transfers);
        const recorded = await record(round, { transfers, repriced, cursor: next });
        changes += recorded.changes;
        for (const key of recorded.done) settled.add(key);
        isAllSettled &&= transfers.every(one => settled.has(logKey(one)));
        cursor = next;
      }
      hasReachedHead = isWhole;
      isComplete = isWhole && isAllSettled;
      for (const key of found.settled) seen.add(key);
      for (const one of found.transfers) if (settled.has(logKey(one))) seen.add(logKey(one));
      if (reached < to) {
        log.warn({ chainId: chain.id, block: reached + 1 }, 'a log does not match its block, scanning again');
        return changes;
      }
      from = to + 1;
    }
    settled = seen;
    return changes;
  }

  function note({ progress, note }: Round, seenAt: number): void {
    if (progress === undefined || seenAt - progress.scannedAt < NOTE_EVERY_MS) return;
    note({ cursor: { blockNumber: progress.blockNumber, scannedAt: seenAt } });
  }

  return {
    /** Returns the number of recorded changes. `seenAt` is the UTC ms at which the head was the newest block. */
    run,
    /** Stores that the chain was scanned at `seenAt` (UTC ms), when the head is the one of the last scan. */
    note,
    /** True when the last run read the chain up to its head, which proves that the node has that block. */
    hasReachedHead: (): boolean => hasReachedHead,
    /** True when the last run reached its head and left no transfer that may still match a session. */
    isComplete: (): boolean => isComplete,
    /** Forgets the settled transfers, so that the whole window is checked again, as after a start. */
    forget(): void {
      settled = new Set();
      isComplete = false;
    },
  };
}
