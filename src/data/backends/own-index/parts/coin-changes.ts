/** A block that changed the coin balance of an account, with the balance at its end. Amounts are in wei. */
export interface CoinChange {
  readonly blockNumber: number;
  readonly value: bigint;
  readonly delta: bigint;
}

/** Balance at the end of a block; null when the node has pruned the state. */
export type BalanceAt = (blockNumber: number) => Promise<bigint | null>;

/** Newest changes in a range of blocks, with the start of the rest. */
export interface CoinChanges {
  readonly changes: readonly CoinChange[];
  /** Highest block not examined yet; -1 when there is none. */
  readonly rest: number;
  /** True when the node no longer has the state at `rest`. */
  readonly isStateGone: boolean;
}

export interface ChangeSearch {
  readonly balanceAt: BalanceAt;
  /** Highest and lowest block of the range. */
  readonly from: number;
  readonly to: number;
  /** Blocks of the range that may have changed the balance, highest first. */
  readonly hints: readonly number[];
  /** Maximum number of changes to return. */
  readonly most: number;
  /** True while more requests to the node are allowed. */
  mayAsk(): boolean;
}

/**
 * Finds changes of a balance from balances at the ends of blocks. Hints are examined first. If the balance differs
 * between two hints, the block that changed it is found by bisection. A change that is undone before the next hint is
 * missed.
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

/** Finds the last change between two blocks; null when the balance is equal at both. */
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

/** Balance at the end of a block; zero before the first block. */
async function stateOf({ balanceAt }: ChangeSearch, blockNumber: number): Promise<bigint> {
  if (blockNumber < 0) return 0n;
  const balance = await balanceAt(blockNumber);
  if (balance === null) throw new StateGone();
  return balance;
}

class StateGone extends Error {}
