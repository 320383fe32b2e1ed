import type { Clock } from '#lib/clock.ts';
import type { Header, LinkedHeader } from './node-view.ts';

/** A block, and when a node showed it as the newest one, in UTC milliseconds. */
export interface SeenHead {
  readonly head: LinkedHeader;
  readonly seenAt: number;
}

/** Chooses the block that a round judges by: the newest one, or the newest one of the round before. Decision 141. */
export function roundHeads(doubt: () => void) {
  let before: SeenHead | undefined;

  return {
    /**
     * While nothing can be paid, a newest block that does not continue the one before is left to the next round: that the
     * node still has the one before proves its chain. Otherwise the nodes have to prove it by their chain's id.
     */
    choose(newest: SeenHead, isIdle: boolean): SeenHead {
      const last = before;
      before = newest;
      if (last !== undefined && continues(newest.head, last.head)) return newest;
      if (last !== undefined && newest.head.number > last.head.number && isIdle) return last;
      doubt();
      return newest;
    },
    /** Drops what was seen, as after a start. */
    forget(): void {
      before = undefined;
      doubt();
    },
  };
}

/** True when it is the same block or the next one. */
function continues(header: LinkedHeader, before: Header): boolean {
  return header.hash === before.hash || header.parentHash === before.hash;
}

const SHORTEST_MS = 2_000;
const LONGEST_MS = 15_000;
/** Intervals that are remembered, and how many of them make a rhythm. */
const REMEMBERED = 8;
const ENOUGH = 3;

/**
 * The time between the blocks of a chain, learnt from the heads that a watcher sees. Takes the shortest of the latest
 * intervals, because slots may stay empty. A chain that has had no block for twice that time keeps no rhythm: it makes
 * blocks when it has transactions, and is looked at as often as may be.
 */
export function blockRhythm({ clock }: { clock: Clock }) {
  const intervals: number[] = [];
  let newest: Header | undefined;
  let seenAt = 0;

  return {
    see(head: Header): void {
      if (head.hash === newest?.hash) return;
      const spanMs = head.time - (newest?.time ?? head.time);
      // Blocks of the past, as while a chain is filled or a node catches up, come faster than their times say.
      if (newest !== undefined && head.number > newest.number && clock.now() - seenAt >= spanMs / 2) {
        intervals.push(spanMs / (head.number - newest.number));
        if (intervals.length > REMEMBERED) intervals.shift();
      }
      newest = head;
      seenAt = clock.now();
    },
    /** Milliseconds from one look at the chain to the next: the block time, 2 s at least. */
    pauseMs(): number {
      const blockMs = intervals.length < ENOUGH ? 0 : Math.min(...intervals);
      const isOverdue = clock.now() - seenAt > 2 * blockMs;
      return isOverdue ? SHORTEST_MS : Math.min(Math.max(blockMs, SHORTEST_MS), LONGEST_MS);
    },
  };
}
