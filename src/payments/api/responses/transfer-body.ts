import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import type { UnmatchedTransfer } from '../../model/transfer.ts';
import { timestamp, timestampOrNull } from './timestamp.ts';
import { logIndexOf } from './transaction-body.ts';

/** A transfer that fits no session, or that somebody found one for. Decision 112. */
export function transferBody(transfer: UnmatchedTransfer): PaymentsSchemas['UnmatchedTransfer'] {
  return {
    object: 'unmatched_transfer',
    id: transfer.id,
    mode: transfer.mode,
    status: transfer.assignedAt === null ? 'open' : 'assigned',
    chain_id: transfer.chainId,
    token_address: transfer.tokenAddress,
    amount: transfer.amount.toString(),
    sender_address: transfer.sender,
    recipient_address: transfer.recipient,
    tx_hash: transfer.txHash,
    log_index: logIndexOf(transfer.logIndex),
    block_number: transfer.blockNumber,
    block_hash: transfer.blockHash,
    block_timestamp: timestamp(transfer.blockTime),
    suggested_session_id: transfer.suggestedSessionId,
    session_id: transfer.sessionId,
    transaction_id: transfer.transactionId,
    created_at: timestamp(transfer.createdAt),
    assigned_at: timestampOrNull(transfer.assignedAt),
  };
}
