import type { Mode } from './owner.ts';

/** The address that stands for a chain's native coin. Decision 98. */
export const NATIVE_COIN = '0x0000000000000000000000000000000000000000';
/** What others write for the native coin. */
const NATIVE_COIN_ALIAS = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee';

/** What payment links may ask for; lower-case address, `NATIVE_COIN` for the coin. */
export interface PaymentToken {
  readonly address: string;
  readonly symbol: string;
  readonly decimals: number;
}

/** A chain on which payments are taken. */
export interface PaymentChain {
  readonly id: number;
  readonly name: string;
  readonly mode: Mode;
  /** Native coin included. */
  readonly tokens: readonly PaymentToken[];
  /** Blocks on top of a payment's own that complete it; with 0 its own block does. Decision 143. */
  readonly confirmations: number;
  /** Where a transaction can be looked at, by its hash; undefined without an explorer. */
  readonly explorerUrl: ((txHash: string) => string) | undefined;
}

/** The chains of a process, as its services ask for them. */
export interface PaymentChains {
  /** Of any mode, for records that exist. @throws RangeError for a chain that is no longer configured. */
  readonly byId: (id: number) => PaymentChain;
  /** A chain of that mode; undefined for others. */
  readonly find: (mode: Mode, id: number) => PaymentChain | undefined;
  readonly all: readonly PaymentChain[];
}

export function paymentChains(all: readonly PaymentChain[]): PaymentChains {
  const byId = new Map(all.map(chain => [chain.id, chain]));
  return {
    all,
    byId(id) {
      const chain = byId.get(id);
      if (chain === undefined) throw new RangeError(`Chain ${id} has records, but is not configured.`);
      return chain;
    },
    find(mode, id) {
      const chain = byId.get(id);
      return chain?.mode === mode ? chain : undefined;
    },
  };
}

/** The token behind an address in any letter case; undefined for one that is not configured. */
export function tokenOf(chain: PaymentChain, address: string): PaymentToken | undefined {
  const normal = normalToken(address);
  return chain.tokens.find(token => token.address === normal);
}

/** A token's address as records have it: lower case, and one way to write the native coin. */
export function normalToken(address: string): string {
  const lower = address.toLowerCase();
  return lower === NATIVE_COIN_ALIAS ? NATIVE_COIN : lower;
}

/** Where money for a session goes: transfers of that token to that recipient on that chain. Hex is lower case. */
export interface DepositAddress {
  readonly chainId: number;
  /** `NATIVE_COIN` for the chain's coin. */
  readonly tokenAddress: string;
  readonly recipientAddress: string;
}

/** Names the watching of a chain: its lease, its metric, and the topic that wakes it. */
export function watcherName(chainId: number): string {
  return `watcher:${chainId}`;
}
