import type { Clock } from '../../lib/clock.ts';
import { cursorStore } from '../store/cursor-store.ts';
import { blockBeforeSessions } from './first-block.ts';
import type { NativeReader } from './native-transfers.ts';
import { placeKey, record } from './record.ts';
import { repricedBy } from './replaced.ts';
import type { Round } from './round.ts';
import { scan } from './scan.ts';
import type { Fault } from './steps.ts';

/** Nodes commonly refuse logs of longer ranges. */
const BLOCKS_PER_SCAN = 500;
/** Blocks that are looked at again in every round, at least: nodes lag, and answer with logs that are not complete. */
const WINDOW_BLOCKS = 12;
/** How often it is noted that a scan found nothing new. */
const NOTE_EVERY_MS = 1_000;

/** Looks for transfers from where the last round ended. */
export interface Advance {
  /** Answers with how many transfers were recorded; `startedAt` is when the round began, in UTC milliseconds. */
  run(round: Round, startedAt: number, signal: AbortSignal): Promise<number>;
  /** Has everything in the window looked at again, as after a start. */
  forget(): void;
}

/** A scanner that remembers which transfers of the window are settled. What it forgets is only looked at again. */
export function advance({
  native,
  clock,
  fault,
}: {
  native: NativeReader;
  clock: Clock;
  fault: Fault;
}): Advance {
  let settled = new Set<string>();

  async function run(round: Round, startedAt: number, signal: AbortSignal): Promise<number> {
    const { chain, view, head, places, db, log } = round;
    let cursor = await cursorStore(db).find(chain.id);
    const startBlock =
      cursor?.blockNumber ??
      (await blockBeforeSessions({ chainId: chain.id, db, view, head, now: clock.now() }));
    const window = Math.max(chain.confirmations, WINDOW_BLOCKS);
    const seen = new Set<string>();
    let changes = 0;
    for (let from = Math.max(0, startBlock + 1 - window); from <= head.number && !signal.aborted; ) {
      const to = Math.min(from + BLOCKS_PER_SCAN - 1, head.number);
      const found = await scan({ from, to }, { chainId: chain.id, view, native, places });
      await fault('scan');
      if (found === undefined) {
        log.debug({ chainId: chain.id, from, to }, 'the chain changed while it was looked at');
        return changes;
      }

      // A log that does not fit its block is looked for again, which a block of the window is anyway.
      const isSure = found.unsureFrom === undefined || found.unsureFrom > head.number - window;
      const reached = isSure ? to : (found.unsureFrom ?? to) - 1;
      const isWhole = to === head.number && found.unsureFrom === undefined && head.number >= startBlock;
      const next = {
        // A node that fell behind does not take the cursor back.
        blockNumber: Math.max(cursor?.blockNumber ?? startBlock, reached),
        scannedAt: isWhole ? startedAt : (cursor?.scannedAt ?? 0),
      };
      const transfers = found.transfers.filter(one => !settled.has(placeKey(one)));
      const isNews =
        transfers.length > 0 ||
        cursor?.blockNumber !== next.blockNumber ||
        next.scannedAt - cursor.scannedAt >= NOTE_EVERY_MS;
      if (isNews) {
        const repriced = await repricedBy(round, transfers);
        const recorded = await record(round, { transfers, repriced, cursor: next });
        changes += recorded.changes;
        for (const key of recorded.done) settled.add(key);
        cursor = next;
      }
      for (const one of found.transfers) if (settled.has(placeKey(one))) seen.add(placeKey(one));
      if (reached < to) {
        log.warn({ chainId: chain.id, block: reached + 1 }, 'a log does not fit its block, looking again');
        return changes;
      }
      from = to + 1;
    }
    settled = seen;
    return changes;
  }

  return {
    run,
    forget() {
      settled = new Set();
    },
  };
}
