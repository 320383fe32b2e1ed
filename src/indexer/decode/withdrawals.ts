import type { Address } from 'viem';
import { bytesColumn, uintColumn } from '../../db/columns.ts';
import type { FetchedBlock } from '../fetch/fetched-block.ts';
import { positionKey } from '../schema/block-position.ts';
import type { NewRow } from '../schema/tables.ts';

const WEI_PER_GWEI = 1_000_000_000n;

export interface Withdrawal {
  index: number;
  validatorIndex: number;
  address: Address;
  amountWei: bigint;
}

/** Withdrawals in a block's body. Consensus-layer amounts are in gwei (EIP-4895), ours in wei. */
export function decodedWithdrawals({ block }: FetchedBlock): Withdrawal[] {
  return (block.withdrawals ?? []).map(({ index, validatorIndex, address, amount }) => ({
    index: Number(index),
    validatorIndex: Number(validatorIndex),
    address,
    amountWei: BigInt(amount) * WEI_PER_GWEI,
  }));
}

export function withdrawalRow(
  blockNumber: number,
  withdrawal: Withdrawal,
  index: number,
): NewRow<'withdrawals'> {
  const { index: withdrawalIndex, validatorIndex, address, amountWei } = withdrawal;
  return {
    id: positionKey({ blockNumber, index }),
    withdrawal_index: withdrawalIndex,
    validator_index: validatorIndex,
    address: bytesColumn(address),
    amount: uintColumn(amountWei),
  };
}
