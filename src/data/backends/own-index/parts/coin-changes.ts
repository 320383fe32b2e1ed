/** A block that changed the coins of an account, with the balance at its end. Amounts are in wei. */
export interface CoinChange {
  readonly blockNumber: number;
  readonly value: bigint;
  readonly delta: bigint;
}

/** Balance at the end of a block; null where the node has thrown the state away. */
export type BalanceAt = (blockNumber: number) => Promise<bigint | null>;

/** The newest changes of a stretch of blocks, and where it goes on. */
export interface CoinChanges {
  readonly changes: readonly CoinChange[];
  /** The highest block that has not been looked at; -1 when there is none. */
  readonly rest: number;
  /** True when the node no longer has the state at `rest`. */
  readonly isStateGone: boolean;
}

export interface ChangeSearch {
  readonly balanceAt: BalanceAt;
  /** The highest block of the stretch, and the lowest. */
  readonly from: number;
  readonly to: number;
  /** Blocks of the stretch that may have changed the balance, the highest first. */
  readonly hints: readonly number[];
  /** Most changes that are wanted. */
  readonly most: number;
  /** Whether there is time for more questions to the node. */
  mayAsk(): boolean;
}

/**
 * Changes of a balance by what the node says of the ends of blocks. Hints only tell where to look first: between two of
 * them the balance has to stay as it is, and where it does not, the block that changed it is found by halving. What
 * changes and changes back between two hints is not seen.
 */
export async function coinChanges(search: ChangeSearch): Promise<CoinChanges> {
  const { hints, to, from, most, mayAsk } = search;
  const changes: CoinChange[] = [];
  let rest = from;
  try {
    for (const hint of [...hints, to - 1]) {
      while (rest > hint && changes.length < most && mayAsk()) {
        const found = await lastChange(search, hint, rest);
        if (found !== null) changes.push(found);
        rest = found === null ? hint : found.blockNumber - 1;
      }
      if (rest !== hint || changes.length >= most || !mayAsk()) break;
      if (hint < to) break;
      const change = await changeIn(search, hint);
      if (change.delta !== 0n) changes.push(change);
      rest = hint - 1;
      if (changes.length >= most) break;
    }
  } catch (error) {
    if (!(error instanceof StateGone)) throw error;
    return { changes, rest, isStateGone: true };
  }
  return { changes, rest, isStateGone: false };
}

/** A change between two blocks, behind which the balance is what it is at the end; null when both ends have the same. */
async function lastChange(search: ChangeSearch, low: number, high: number): Promise<CoinChange | null> {
  const last = await stateOf(search, high);
  if ((await stateOf(search, low)) === last) return null;
  let [before, at] = [low, high];
  while (at - before > 1) {
    const middle = Math.floor((before + at) / 2);
    if ((await stateOf(search, middle)) === last) at = middle;
    else before = middle;
  }
  return changeIn(search, at);
}

async function changeIn(search: ChangeSearch, blockNumber: number): Promise<CoinChange> {
  const value = await stateOf(search, blockNumber);
  return { blockNumber, value, delta: value - (await stateOf(search, blockNumber - 1)) };
}

/** Before the first block nobody has coins. */
async function stateOf({ balanceAt }: ChangeSearch, blockNumber: number): Promise<bigint> {
  if (blockNumber < 0) return 0n;
  const balance = await balanceAt(blockNumber);
  if (balance === null) throw new StateGone();
  return balance;
}

class StateGone extends Error {}
