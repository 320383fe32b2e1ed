import type { Random } from './random.ts';

/** So much of one token id held by one account (its index). ERC-20 amounts have id 0. */
export interface Holding {
  id: bigint;
  account: number;
  amount: bigint;
}

/** What the accounts hold in one token contract, as far as the activity itself moved it. */
export interface Ledger {
  add(account: number, amount: bigint, id?: bigint): void;
  take(account: number, amount: bigint, id?: bigint): void;
  /** A holding of at least this much, or undefined when nobody has one. */
  pick(random: Random, atLeast?: bigint): Holding | undefined;
  /** Everything one account holds. */
  of(account: number): Holding[];
}

/** Kept so that the activity plans only what will succeed, unless it means to fail. */
export function createLedger(): Ledger {
  const holdings = new Map<string, Holding>();

  function change(account: number, difference: bigint, id: bigint): void {
    const key = `${id}/${account}`;
    const amount = (holdings.get(key)?.amount ?? 0n) + difference;
    if (amount < 0n) throw new RangeError(`account ${account} does not hold that much of ${id}`);
    if (amount === 0n) holdings.delete(key);
    else holdings.set(key, { id, account, amount });
  }

  return {
    add: (account, amount, id = 0n) => change(account, amount, id),
    take: (account, amount, id = 0n) => change(account, -amount, id),
    pick: (random, atLeast = 1n) => {
      const enough = [...holdings.values()].filter(({ amount }) => amount >= atLeast);
      return enough.length === 0 ? undefined : random.pick(enough);
    },
    of: account => [...holdings.values()].filter(holding => holding.account === account),
  };
}
