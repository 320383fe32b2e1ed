import type { Transfer } from '../../model/transfer.ts';
import { inRotation, inTurns } from './turns.ts';

/** Most new transfers that one look sorts and records. Those of all recipients take turns. */
const NEW_PER_LOOK = 4_000;
/** Most transfers that one look tries again, because their session may have opened since. */
const AGAIN_PER_LOOK = 500;

/** The transfers that one look works on, of those on the chain that are not settled. */
export interface ChosenTransfers {
  /** Not tried before, in the order of the chain for each recipient. */
  readonly fresh: readonly Transfer[];
  /** Tried before, and found to pay nothing. */
  readonly again: readonly Transfer[];
  /** False when more new ones are left for the next look. */
  readonly hasAllFresh: boolean;
}

/**
 * Chooses the transfers of each look, so that a look stays short in a flood. A transfer that paid nothing is tried again
 * until it is listed as unmatched, in rotation: each recipient has its turn in each look.
 */
export function transferChoice() {
  let tried: ReadonlySet<string> = new Set();
  let begin = 0;

  return {
    of(transfers: readonly Transfer[]): ChosenTransfers {
      const { fresh = [], old = [] } = Object.groupBy(transfers, one =>
        tried.has(logKey(one)) ? 'old' : 'fresh',
      );
      tried = new Set(old.map(logKey));
      const chosen = inTurns(fresh, recipientOf, NEW_PER_LOOK);
      const again = inTurns(inRotation(old, begin), recipientOf, AGAIN_PER_LOOK);
      begin += AGAIN_PER_LOOK;
      return { fresh: chosen, again, hasAllFresh: chosen.length === fresh.length };
    },

    /** Remembers transfers that paid nothing, by their keys. */
    add(keys: readonly string[]): void {
      tried = new Set([...tried, ...keys]);
    },

    forget(): void {
      tried = new Set();
    },
  };
}

/** Key of a transfer in a block. */
export function logKey({ txHash, logIndex, blockHash }: Transfer): string {
  return `${blockHash} ${txHash} ${logIndex}`;
}

function recipientOf({ recipient }: Transfer): string {
  return recipient;
}
