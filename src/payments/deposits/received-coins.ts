import { uintOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { placeholders } from '../../db/rows.ts';
import { coinTokensOf } from '../../deposits/coin-tokens.ts';
import { NATIVE_COIN } from '../model/payment-chain.ts';
import { select } from '../tables/select.ts';

/** Coins that came to a deposit address, or left it. */
interface CoinsInBlock {
  readonly block: number;
  readonly amount: bigint;
}

/** All that is recorded of the coins of a deposit address. */
export interface RecordedCoins {
  /** Payments and unmatched transfers, and coins that a balance showed. */
  readonly came: readonly CoinsInBlock[];
  /** Sweeps. */
  readonly left: readonly CoinsInBlock[];
}

const BLOCK_AND_AMOUNT = ['recipient', 'block_number', 'amount'] as const;

/** Coins of deposit addresses of a chain, as they are recorded. */
export function recordedCoins(handle: Handle, chainId: number) {
  async function came(addresses: readonly string[]) {
    const among = `recipient in (${placeholders(addresses.length)}) and chain_id = ? and token_address = ?`;
    const bindings = [...addresses, chainId, NATIVE_COIN];
    const payments = await select({ from: 'transactions', columns: BLOCK_AND_AMOUNT }).rows(
      handle,
      `where ${among} and status in ('confirming', 'completed') and block_number is not null`,
      bindings,
    );
    // An assigned one is a payment as well.
    const unmatched = await select({ from: 'unmatched_transfers', columns: BLOCK_AND_AMOUNT }).rows(
      handle,
      `where ${among} and assigned_at is null`,
      bindings,
    );
    return [...payments, ...unmatched].map(row => ({ ...row, address: row.recipient }));
  }

  async function left(addresses: readonly string[]) {
    const tokens = coinTokensOf(chainId);
    return select({ from: 'sweeps', columns: ['address', 'block_number', 'amount'] }).rows(
      handle,
      `where address in (${placeholders(addresses.length)}) and chain_id = ?
         and token_address in (${placeholders(tokens.length)})`,
      [...addresses, chainId, ...tokens],
    );
  }

  return {
    /** Coins that left these addresses by sweeps, also as a token that has the same balances. */
    left: async (addresses: readonly string[]) =>
      byAddress(addresses.length === 0 ? [] : await left(addresses)),

    /** All of one address. */
    async of(address: string): Promise<RecordedCoins> {
      return {
        came: (await came([address])).map(coinsOf),
        left: (await left([address])).map(coinsOf),
      };
    },
  };
}

/** Sum of the coins in blocks up to this one. */
export function sumUpTo(block: number, coins: readonly CoinsInBlock[] = []): bigint {
  return coins.reduce((sum, one) => (one.block <= block ? sum + one.amount : sum), 0n);
}

interface CoinRow {
  readonly address: string;
  readonly block_number: number | null;
  readonly amount: string;
}

function byAddress(rows: readonly CoinRow[]): ReadonlyMap<string, readonly CoinsInBlock[]> {
  const grouped = Map.groupBy(rows, row => row.address);
  return new Map([...grouped].map(([address, some]) => [address, some.map(coinsOf)]));
}

function coinsOf({ block_number: block, amount }: CoinRow): CoinsInBlock {
  return { block: block ?? 0, amount: uintOf(amount) };
}
