import type { Clock } from '#lib/clock.ts';
import type { Header, LinkedHeader } from './node-view.ts';

/** A block, and the UTC milliseconds at which a node returned it as the newest one. */
export interface SeenHead {
  readonly head: LinkedHeader;
  readonly seenAt: number;
}

/** The head of a look. */
export interface LookHead extends SeenHead {
  /** True when it continues the chain that the previous look has read. */
  readonly isLinked: boolean;
}

/** A look's head without the block. */
export type LookedAt = Omit<LookHead, 'head'>;

/** Chooses the head of a look: the newest block, or the one of the look before to save requests (Decision 141). */
export function lookHeads(unverify: () => void) {
  let before: SeenHead | undefined;
  /** True when a node proved its chain after it had shown the block `before`. */
  let isProved = false;

  return {
    /**
     * Uses the newest block when it continues the previous head. While no session is open, any other higher block is
     * left to the next look, and the previous head is used: a node that still has it proves its chain. Otherwise, the
     * scan looks for the previous head below a higher block, and a lower one makes nodes prove their chain by its id.
     */
    choose(newest: SeenHead, isIdle: boolean): LookHead {
      const last = before;
      const isLinked = isProved;
      before = newest;
      isProved = isLinked && newest.head.hash === last?.head.hash;
      if (last !== undefined && continues(newest.head, last.head)) return { ...newest, isLinked };
      const isHigher = last !== undefined && newest.head.number > last.head.number;
      if (isHigher && isIdle) return { ...last, isLinked };
      if (!isHigher) unverify();
      return { ...newest, isLinked: false };
    },
    /** The look has read the chain up to its head. */
    confirm(): void {
      isProved = true;
    },
    /** Forgets the previous head, as after a start. */
    forget(): void {
      before = undefined;
      isProved = false;
      unverify();
    },
  };
}

/** True when it is the same block or the next one. */
function continues(header: LinkedHeader, before: Header): boolean {
  return header.hash === before.hash || header.parentHash === before.hash;
}

const SHORTEST_MS = 2_000;
const LONGEST_MS = 15_000;
/** Intervals kept in memory, and the least number that gives a block time. */
const REMEMBERED = 8;
const ENOUGH = 3;
/** Least time, and number of block times, without a new block after which a chain stands still. */
const STILL_MS = 60_000;
const STILL_BLOCKS = 10;

/**
 * The block time of a chain, learned from the heads that a watcher sees. It is the shortest of the latest intervals,
 * because empty slots make intervals longer. A chain without a block for twice that time makes blocks on demand and is
 * read with the shortest pause.
 */
export function blockRhythm({ clock }: { clock: Clock }) {
  const intervals: number[] = [];
  let newest: Header | undefined;
  let seenAt = 0;

  return {
    see(head: Header): void {
      if (head.hash === newest?.hash) return;
      const spanMs = head.time - (newest?.time ?? head.time);
      // While a node catches up, blocks arrive faster than their timestamps say. They do not count.
      if (newest !== undefined && head.number > newest.number && clock.now() - seenAt >= spanMs / 2) {
        intervals.push(spanMs / (head.number - newest.number));
        if (intervals.length > REMEMBERED) intervals.shift();
      }
      newest = head;
      seenAt = clock.now();
    },
    /**
     * True when a chain that makes blocks regularly has shown none for a minute and for ten times its block time: its
     * nodes stand still. A chain that makes blocks on demand never stands still.
     */
    standsStill(): boolean {
      const isRegular = intervals.length === REMEMBERED;
      return isRegular && clock.now() - seenAt > Math.max(STILL_MS, STILL_BLOCKS * Math.max(...intervals));
    },
    /** Milliseconds from one look at the chain to the next: the block time, between 2 s and 15 s. */
    pauseMs(): number {
      const blockMs = intervals.length < ENOUGH ? 0 : Math.min(...intervals);
      const isOverdue = clock.now() - seenAt > 2 * blockMs;
      return isOverdue ? SHORTEST_MS : Math.min(Math.max(blockMs, SHORTEST_MS), LONGEST_MS);
    },
  };
}
