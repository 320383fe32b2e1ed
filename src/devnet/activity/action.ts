import type { AccessList, Address, Hex } from 'viem';
import type { Random } from './random.ts';

/** A transaction before it has a nonce and a price. Amounts in wei. */
export interface Action {
  /** Index of the sending account. */
  from: number;
  /** Absent when a contract is created. */
  to?: Address;
  data?: Hex;
  value?: bigint;
  gas: bigint;
  /** Type-specific fields. An action without them becomes a legacy or fee market transaction at random. */
  envelope?: Envelope;
}

/** Fields that set the type of a transaction: 1 (EIP-2930), 3 (EIP-4844) or 4 (EIP-7702). */
export type Envelope =
  | { kind: 'accessList'; accessList: AccessList }
  | { kind: 'blob' }
  | { kind: 'authorization'; authority: number; delegate: Address };

/** Addresses of the sample contracts of one chain. */
export interface Contracts {
  stable: Address;
  community: Address;
  postcards: Address;
  items: Address;
  splitter: Address;
  faulty: Address;
  factory: Address;
  treasury: Address;
  treasuryProxy: Address;
  treasuryClone: Address;
  poolFactory: Address;
  /** Exchanges the stable token for the community token. */
  pool: Address;
  wrappedCoin: Address;
  /** Exchanges the stable token for the wrapped coin. */
  coinPool: Address;
  nameRegistry: Address;
  marketplace: Address;
}

/** State from which an action is made. */
export interface Scene {
  random: Random;
  /** Addresses of the funded accounts, by index. */
  accounts: readonly Address[];
  /** The account that owns the sample contracts. */
  deployer: number;
  contracts: Contracts;
  stable: Ledger;
  community: Ledger;
  wrappedCoin: Ledger;
  postcards: Ledger;
  items: Ledger;
  /** Allowances given and not used up, in the stable token. */
  allowances: { owner: number; spender: number; amount: bigint }[];
  counts: { postcards: bigint; authorities: number; treasuryWei: bigint };
}

/** Makes one action and records its effect. Returns undefined when no account can do it at the moment. */
export type Play = (scene: Scene) => Action | undefined;

/** Draws a sender. Low indices are drawn more often, because some wallets are busier than others. */
export function someone({ random, accounts }: Scene): number {
  const last = accounts.length - 1;
  return Math.min(random.integer(0, last), random.integer(0, last));
}

/** Draws an account other than the given one. */
export function someoneElse({ random, accounts }: Scene, account: number): number {
  return (account + random.integer(1, accounts.length - 1)) % accounts.length;
}

/** The address of a funded account. @throws RangeError when there is no such account. */
export function accountAddress({ accounts }: Scene, index: number): Address {
  const address = accounts[index];
  if (address === undefined) throw new RangeError(`no account ${index}`);
  return address;
}

/** Amount of one token id that one account (by index) holds. ERC-20 amounts have id 0. */
interface Holding {
  id: bigint;
  account: number;
  amount: bigint;
}

/** Holdings of the accounts in one token contract, as moved by the activity. */
export type Ledger = ReturnType<typeof createLedger>;

/** Creates a ledger. With it the activity plans only transactions that succeed, unless they are meant to fail. */
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
    /** Draws a holding of at least this amount; undefined when no account has one. */
    pick: (random: Random, atLeast = 1n) => {
      const enough = [...holdings.values()].filter(({ amount }) => amount >= atLeast);
      return enough.length === 0 ? undefined : random.pick(enough);
    },
    /** Everything one account holds. */
    of: (account: number) => [...holdings.values()].filter(holding => holding.account === account),
  };
}
