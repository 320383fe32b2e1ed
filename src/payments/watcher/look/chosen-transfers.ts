import type { Transfer } from '../../model/transfer.ts';
import { slices } from '../node/node-view.ts';
import { breather } from './look.ts';
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
  const tried = new Set<string>();
  let begin = 0;

  return {
    async of(transfers: readonly Transfer[]): Promise<ChosenTransfers> {
      const [fresh, old] = await partition(transfers, one => !tried.has(logKey(one)));
      if (tried.size > old.length) forgetAllBut(old);
      const chosen = inTurns(fresh, recipientOf, NEW_PER_LOOK);
      const again = inTurns(inRotation(old, begin), recipientOf, AGAIN_PER_LOOK);
      begin += AGAIN_PER_LOOK;
      return { fresh: chosen, again, hasAllFresh: chosen.length === fresh.length };
    },

    /** Remembers transfers that paid nothing, by their keys. */
    add(keys: readonly string[]): void {
      for (const key of keys) tried.add(key);
    },

    forget(): void {
      tried.clear();
    },
  };

  function forgetAllBut(kept: readonly Transfer[]): void {
    tried.clear();
    for (const one of kept) tried.add(logKey(one));
  }
}

/** Transfers after which other work may run. */
const PER_TURN = 500;

/** Transfers that meet a condition, and the others. Other work runs meanwhile, because a flood takes long. */
export async function partition(
  transfers: readonly Transfer[],
  condition: (transfer: Transfer) => boolean,
): Promise<[Transfer[], Transfer[]]> {
  const breathe = breather();
  const sorted: [Transfer[], Transfer[]] = [[], []];
  for (const some of slices(transfers, PER_TURN)) {
    for (const one of some) sorted[condition(one) ? 0 : 1].push(one);
    await breathe();
  }
  return sorted;
}

/** Composing the keys of 20,000 transfers takes 30 ms, and a look needs each a few times. */
const composed = new WeakMap<Transfer, string>();

/** Key of a transfer in a block. */
export function logKey(transfer: Transfer): string {
  const known = composed.get(transfer);
  if (known !== undefined) return known;
  const { txHash, logIndex, blockHash } = transfer;
  const key = `${blockHash} ${txHash} ${logIndex}`;
  composed.set(transfer, key);
  return key;
}

function recipientOf({ recipient }: Transfer): string {
  return recipient;
}
