import type { Handle } from '../../db/open.ts';
import type { PaidAddress } from '../model/payment-chain.ts';
import type { UnmatchedTransfer } from '../model/transfer.ts';
import { transferForm } from '../store/transfer-store.ts';
import { select } from '../tables/select.ts';

/** Transfers by what a payer names or proves. `since` is the earliest block time, in UTC milliseconds. */
interface NamedTransfers {
  readonly sender?: string;
  readonly txHash?: string;
  readonly since: number;
}

/** Condition that no money of an unmatched transfer `t` is on its way back. */
export const HAS_NO_REFUND = `not exists (
  select 1 from refunds r where r.unmatched_transfer_id = t.id and r.status <> 'cancelled'
)`;

/** Most transfers that one payer proves or names at once. */
const NAMED_AT_ONCE = 100;

/**
 * Unmatched transfers to a paid address, of any owner, by their sender or transaction, oldest first. Those
 * with a refund are left out, because their money is on its way back, and those that the merchant dismissed.
 */
export async function openTransfers(
  handle: Handle,
  { chainId, tokenAddress, recipientAddress }: PaidAddress,
  { sender, txHash, since }: NamedTransfers,
): Promise<UnmatchedTransfer[]> {
  const [column, value] = sender === undefined ? ['tx_hash', txHash ?? ''] : ['sender', sender];
  const rows = await select({ from: 'unmatched_transfers t', columns: ['*'] }).rows(
    handle,
    `where chain_id = ? and token_address = ? and recipient = ? and ${column} = ?
       and assigned_at is null and dismissed_at is null and block_time >= ?
       and ${HAS_NO_REFUND}
     order by block_number, log_index limit ${NAMED_AT_ONCE}`,
    [chainId, tokenAddress, recipientAddress, value, since],
  );
  return rows.map(transferForm.recordOf);
}
