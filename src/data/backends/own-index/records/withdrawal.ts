import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { WithdrawalRow } from '#indexer/read/blocks/withdrawals.ts';
import type { Parties } from '../parts/parties.ts';
import { timestamp } from '../parts/text.ts';

/** A withdrawal in the list of all. */
export function withdrawal(row: WithdrawalRow, parties: Parties): ExplorerSchemas['Withdrawal'] {
  return { ...addressWithdrawal(row), receiver: parties.address(row.receiver) };
}

/** Without the block, which the path names. */
export function blockWithdrawal(row: WithdrawalRow, parties: Parties): ExplorerSchemas['BlockWithdrawal'] {
  return { ...amountOf(row), receiver: parties.address(row.receiver) };
}

/** Without the receiver, whom the path names. */
export function addressWithdrawal(row: WithdrawalRow): ExplorerSchemas['AddressWithdrawal'] {
  return { ...amountOf(row), block_number: row.blockNumber, timestamp: timestamp(row.timestamp) };
}

function amountOf({ index, amount, validatorIndex }: WithdrawalRow) {
  return { index, amount: amount.toString(), validator_index: validatorIndex };
}
