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
      if (last !== undefined && isIdle && newest.head.number > last.head.number) return last;
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
