import type { Address } from 'viem';
import { lowerCase } from './address.ts';
import type { TransactionTrace } from './traces.ts';

/** Coins that a contract sent, in wei. Addresses are lower case. */
export interface CoinMovement {
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
}

/**
 * Calls that move their value to another account. `delegatecall` and `callcode` run the code of another contract for the
 * caller and move nothing to it.
 */
const MOVING: readonly string[] = ['call', 'create', 'create2', 'selfdestruct'];

/**
 * Coins that moved inside a transaction, in the order of execution. The transaction's own value is not among them. The
 * list is the same for all trace methods.
 */
export function coinMovements({ calls }: Pick<TransactionTrace, 'calls'>): CoinMovement[] {
  return calls.flatMap(({ type, from: sender, to: target, createdContract, value, isUndone }) => {
    const receiver = target ?? createdContract;
    if (!MOVING.includes(type) || isUndone || value === 0n || receiver === null) return [];
    const [from, to] = [lowerCase(sender), lowerCase(receiver)];
    return from === to ? [] : [{ from, to, value }];
  });
}
