import { SYSTEM_ADDRESS } from '../../evm/coin-logs.ts';
import type { Mode } from './owner.ts';

/** The zero address, which stands for a chain's native coin (Decision 98). */
export const NATIVE_COIN = '0x0000000000000000000000000000000000000000';
/** Address that other software uses for the native coin. */
const NATIVE_COIN_ALIAS = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee';

/** Rule that a reserved recipient breaks, for the message about it. */
export const RESERVED_RULE =
  'must be neither the zero address nor the system address, because payments to it are lost';

/** True for an address that no key and no contract has: that of the coin, and the one under which chains log. */
export function isReserved(address: string): boolean {
  return [NATIVE_COIN, SYSTEM_ADDRESS].includes(normalToken(address));
}

/** A token that payment links may ask for. The address is lower case, `NATIVE_COIN` for the coin. */
export interface PaymentToken {
  readonly address: string;
  readonly symbol: string;
  readonly decimals: number;
}

/**
 * Proofs of payments.
 * - `always`: every block is recomputed, and transfers are taken from it (Decision 388).
 * - `findings`: each payment is proven that is to be completed. The default.
 * - `off`: none.
 */
type ProofMode = 'always' | 'findings' | 'off';

/** Deposit addresses on a chain (Decision 397). */
export interface DepositRules {
  /**
   * Largest amounts of an organization that lie on deposit addresses and are not swept, by the lower case address of the
   * token. A token without one has no deposit addresses. Undefined for no limits.
   */
  readonly maxUnswept?: ReadonlyMap<string, bigint> | undefined;
}

/** True when rules permit deposit addresses for payments in a token. Its address is lower case. */
export function permitsDepositAddress(rules: DepositRules | undefined, tokenAddress: string): boolean {
  return rules !== undefined && (rules.maxUnswept === undefined || rules.maxUnswept.has(tokenAddress));
}

/** A chain on which payments are accepted. */
export interface PaymentChain {
  readonly id: number;
  readonly name: string;
  readonly mode: Mode;
  /** Native coin included. */
  readonly tokens: readonly PaymentToken[];
  /** Number of blocks on top of a payment's block that complete it; 0 needs its own block only (Decision 143). */
  readonly confirmations: number;
  /** False when no traces are read for coins that contracts send (Decision 375); true when absent. */
  readonly traceCoins?: boolean;
  /** Blocks that are recomputed up to their hashes before payments in them are completed (Decision 385). */
  readonly prove?: ProofMode;
  /** True when payments without a proof wait for the merchant (Decision 389); false when absent. */
  readonly requiresProof?: boolean | undefined;
  /** Undefined for a chain that offers no deposit addresses. */
  readonly depositAddresses?: DepositRules | undefined;
  /** Explorer page of a transaction, by its hash; undefined without an explorer. */
  readonly explorerUrl: ((txHash: string) => string) | undefined;
}

/** Chains of a process. */
export interface PaymentChains {
  /** A chain of any mode, for existing records. @throws RangeError for a chain that is no longer configured. */
  readonly byId: (id: number) => PaymentChain;
  /** A chain of this mode; undefined for others. */
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

/** True when payments of a session wait for the merchant without a proof (Decision 389). */
export function needsProof(
  chains: Pick<PaymentChains, 'find'>,
  { mode, chainId }: { readonly mode: Mode; readonly chainId: number },
): boolean {
  return chains.find(mode, chainId)?.requiresProof === true;
}

/** The token at an address in any letter case; undefined for a token that is not configured. */
export function tokenOf(chain: PaymentChain, address: string): PaymentToken | undefined {
  const normal = normalToken(address);
  return chain.tokens.find(token => token.address === normal);
}

/** Normal form of a token's address: lower case, with one address for the native coin. */
export function normalToken(address: string): string {
  const lower = address.toLowerCase();
  return lower === NATIVE_COIN_ALIAS ? NATIVE_COIN : lower;
}

/** Chain, token and address at which a session or link is paid. Hex is lower case. */
export interface PaidAddress {
  readonly chainId: number;
  /** `NATIVE_COIN` for the chain's coin. */
  readonly tokenAddress: string;
  readonly recipientAddress: string;
}

/** Name of a chain's watcher. Its lease, its metric label and its wake-up topic have the same name. */
export function watcherName(chainId: number): string {
  return `watcher:${chainId}`;
}
