import { type Address, decodeFunctionData, parseAbi } from 'viem';
import { lowerCase } from '#evm/address.ts';
import type { TransactionRow } from '#indexer/read/blocks/transaction-row.ts';

/** What a call to a token allows somebody else. */
export interface Approval {
  /** Who may spend. */
  readonly to: Address;
  /** An amount for ERC-20, an id for ERC-721; null when it is about everything. */
  readonly value: bigint | null;
  /** False where a permission for everything is taken back. */
  readonly isGiven: boolean;
}

const ABI = parseAbi([
  'function approve(address spender, uint256 value) returns (bool)',
  'function setApprovalForAll(address operator, bool approved)',
]);

/** The approval that a transaction's own call is; null for every other call. */
export function approvalOf({ input, selector }: Pick<TransactionRow, 'input' | 'selector'>): Approval | null {
  if (selector === null) return null;
  try {
    const { functionName, args } = decodeFunctionData({ abi: ABI, data: input });
    return functionName === 'approve'
      ? { to: lowerCase(args[0]), value: args[1], isGiven: true }
      : { to: lowerCase(args[0]), value: null, isGiven: args[1] };
  } catch {
    // Any other method, or call data that does not fit one of these.
    return null;
  }
}
