import type { Random } from './random.ts';

/** So much of one token id held by one account (its index). ERC-20 amounts have id 0. */
interface Holding {
  id: bigint;
  account: number;
  amount: bigint;
}

/** What the accounts hold in one token contract, as far as the activity itself moved it. */
export type Ledger = ReturnType<typeof createLedger>;

/** Kept so that the activity plans only what will succeed, unless it means to fail. */
export function createLedger() {
  const holdings = new Map<string, Holding>();

  function change(account: number, difference: bigint, id: bigint): void {
    const key = `${id}/${account}`;
    const amount = (holdings.get(key)?.amount ?? 0n) + difference;
    if (amount < 0n) throw new RangeError(`account ${account} does not hold that much of ${id}`);
    if (amount === 0n) holdings.delete(key);
    else holdings.set(key, { id, account, amount });
  }

  return {
    add: (account: number, amount: bigint, id = 0n) => change(account, amount, id),
    take: (account: number, amount: bigint, id = 0n) => change(account, -amount, id),
    /** A holding of at least this much, or undefined when nobody has one. */
    pick: (random: Random, atLeast = 1n) => {
      const enough = [...holdings.values()].filter(({ amount }) => amount >= atLeast);
      return enough.length === 0 ? undefined : random.pick(enough);
    },
    /** Everything one account holds. */
    of: (account: number) => [...holdings.values()].filter(holding => holding.account === account),
  };
}
