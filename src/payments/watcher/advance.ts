import type { Clock } from '../../lib/clock.ts';
import type { ScanProgress } from '../store/cursor-store.ts';
import { logKey, record } from './look/record.ts';
import { repricedBy } from './look/replaced.ts';
import type { Failpoint, Round } from './look/round.ts';
import { nativeReader } from './node/native-transfers.ts';
import type { NodeView } from './node/node-view.ts';
import { scan } from './node/scan.ts';
import { scannedBlocks } from './node/scanned-blocks.ts';
import type { LookedAt } from './node/seen-heads.ts';
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
export function advance({
  chainId,
  view,
  doubt,
  clock,
  fault,
}: {
  chainId: number;
  view: NodeView;
  doubt: () => void;
  clock: Clock;
  fault: Failpoint;
}) {
  const native = nativeReader(chainId, view);
  const scanned = scannedBlocks(chainId, doubt);
  let settled = new Set<string>();
  let isComplete = false;
  let hasReachedHead = false;
  let standingBlock: number | undefined;
  /** The first block that is read, if this process began the scan of the chain. */
  let floor = 0;

  async function run(round: Round, { seenAt, isLinked }: LookedAt, signal: AbortSignal): Promise<number> {
    const { chain, head, places, db, log } = round;
    let cursor: ScanProgress | undefined = round.progress;
    if (cursor === undefined) scanned.forget();
    const startBlock = cursor?.blockNumber ?? (await blockBeforeSessions(round, clock.now()));
    const window = Math.max(chain.confirmations, WINDOW_BLOCKS);
    standingBlock = await scanned.standing({ view, db, log, head, isLinked });
    let standing = standingBlock;
    // Blocks above the standing one are of another branch, or were scanned by an older version.
    const first = Math.max((standing ?? startBlock) + 1, startBlock + 1 - 2 * BLOCKS_PER_SCAN);
    const again = Math.min(startBlock + 1 - window, scanned.firstRecent(startBlock, seenAt), first);
    // Older blocks have no payments, and a node may not have them.
    if (cursor === undefined) floor = Math.min(startBlock + 1, head.number);
    const coinsFrom = Math.min(startBlock + 1 - window, first);
    const seen = new Set<string>();
    let isAllSettled = true;
    let changes = 0;
    isComplete = false;
    hasReachedHead = false;
    for (let from = Math.max(floor, again); from <= head.number && !signal.aborted; ) {
      const to = Math.min(from + BLOCKS_PER_SCAN - 1, head.number);
      const found = await scan(
        { from, to },
        { coinsFrom, chainId: chain.id, view, native, places, isSettled: key => settled.has(key) },
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
        headTime: isWhole ? Math.max(head.time, cursor?.headTime ?? 0) : cursor?.headTime,
        blocks:
          reached < to ? undefined : scanned.add({ number: to, hash: found.lastHash, seenAt }, standing),
      };
      if (reached === to) standing = Math.max(to, standing ?? to);
      const transfers = found.transfers.filter(one => !settled.has(logKey(one)));
      const isNews =
        transfers.length > 0 ||
        cursor?.blockNumber !== next.blockNumber ||
        next.blocks !== undefined ||
        next.scannedAt - cursor.scannedAt >= NOTE_EVERY_MS;
      if (isNews && isHead && transfers.length === 0) {
        round.note({ cursor: next });
        cursor = next;
      } else if (isNews) {
        const repriced = await repricedBy(round, transfers);
        const recorded = await record(round, { transfers, repriced, cursor: next });
        changes += recorded.changes;
        for (const key of recorded.done) settled.add(key);
        if (!recorded.isWhole) {
          // The next look goes on at once. Until then these blocks do not count as scanned.
          scanned.forget();
          return Math.max(changes, 1);
        }
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
    const { blockNumber, headTime } = progress;
    note({ cursor: { blockNumber, scannedAt: seenAt, headTime } });
  }

  return {
    /** Returns the number of recorded changes. */
    run,
    /** Stores that the chain was scanned at `seenAt` (UTC ms), when the head is the one of the last scan. */
    note,
    /** True when the last run read the chain up to its head, which proves that the node has that block. */
    hasReachedHead: (): boolean => hasReachedHead,
    /** Number of the highest block of earlier runs that the last run still found on the chain. */
    standing: (): number | undefined => standingBlock,
    /** True when the last run reached its head and left no transfer that may still match a session. */
    isComplete: (): boolean => isComplete,
    /** Forgets what was read, so that the whole window is checked again, as after a start. */
    forget(): void {
      scanned.forget();
      settled = new Set();
      isComplete = false;
    },
  };
}
