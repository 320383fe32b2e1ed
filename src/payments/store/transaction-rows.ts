import { booleanOf, uintColumn, uintOf, uintOrNull } from '../../db/columns.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { TransactionRow } from '../tables/session-tables.ts';

/** Columns of a transaction that change after it was recorded. */
export function changeableValues(transaction: PaymentTransaction) {
  const { overpaidAmount } = transaction;
  return {
    status: transaction.status,
    amount: uintColumn(transaction.amount),
    sender: transaction.sender,
    tx_hash: transaction.txHash,
    log_index: transaction.logIndex,
    block_number: transaction.blockNumber,
    block_hash: transaction.blockHash,
    block_time: transaction.blockTime,
    confirmations: transaction.confirmations,
    matched_by: transaction.matchedBy,
    failure_reason: transaction.failureReason,
    is_late: transaction.isLate,
    is_duplicate: transaction.isDuplicate,
    is_partial: transaction.isPartial,
    overpaid_amount: overpaidAmount === null ? null : uintColumn(overpaidAmount),
    nonce: transaction.nonce,
    confirmed_at: transaction.confirmedAt,
    completed_at: transaction.completedAt,
  } satisfies Partial<TransactionRow>;
}

/** All columns of a transaction. */
export function transactionValues(transaction: PaymentTransaction) {
  return {
    id: transaction.id,
    organization_id: transaction.organizationId,
    mode: transaction.mode,
    payment_link_id: transaction.paymentLinkId,
    session_id: transaction.sessionId,
    chain_id: transaction.chainId,
    token_address: transaction.tokenAddress,
    recipient: transaction.recipient,
    required_confirmations: transaction.requiredConfirmations,
    created_at: transaction.createdAt,
    ...changeableValues(transaction),
  } satisfies TransactionRow;
}

export function transactionOf(row: TransactionRow): PaymentTransaction {
  return {
    id: row.id,
    organizationId: row.organization_id,
    mode: row.mode,
    status: row.status,
    paymentLinkId: row.payment_link_id,
    sessionId: row.session_id,
    chainId: row.chain_id,
    tokenAddress: row.token_address,
    amount: uintOf(row.amount),
    sender: row.sender,
    recipient: row.recipient,
    txHash: row.tx_hash,
    logIndex: row.log_index,
    blockNumber: row.block_number,
    blockHash: row.block_hash,
    blockTime: row.block_time,
    confirmations: row.confirmations,
    requiredConfirmations: row.required_confirmations,
    matchedBy: row.matched_by,
    failureReason: row.failure_reason,
    isLate: booleanOf(row.is_late),
    isDuplicate: booleanOf(row.is_duplicate),
    isPartial: booleanOf(row.is_partial),
    overpaidAmount: uintOrNull(row.overpaid_amount),
    nonce: row.nonce,
    createdAt: row.created_at,
    confirmedAt: row.confirmed_at,
    completedAt: row.completed_at,
  };
}
