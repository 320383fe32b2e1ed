import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { paymentsError } from '../../contract/contracts/payments-errors.ts';
import { InvalidBody } from '../../contract/contracts/violations.ts';
import { timestamp } from '../../lib/clock.ts';
import type { UnmatchedTransfer } from '../model/transfer.ts';
import { sessionStore } from '../sessions/session-store.ts';
import { isToAddressOf } from '../settlement/match.ts';
import { settlement } from '../settlement/settlement.ts';
import { transferStatus, transferStore } from '../store/transfer-store.ts';
import type { ApiHandlers, PaymentsContext } from './gate/api-context.ts';
import { nullableTimestamp, pagedList, resourceNotFound } from './responses/answers.ts';
import { logIndexOf, transactionBody } from './responses/record-bodies.ts';

/** Operations on unmatched transfers, which stay listed until they are assigned (Decision 112). */
export function transferHandlers({ db, seals, clock }: PaymentsContext) {
  return {
    async listUnmatchedTransfers({ query: { page, limit, status, chain_id } }, caller) {
      const filters = { status, chainId: chain_id };
      const transfers = await transferStore(db).list(caller, filters, { page, limit });
      return { status: 200, body: pagedList('/api/v1/unmatched-transfers', transfers, transferBody) };
    },

    assignUnmatchedTransfer: ({ path: { unmatched_transfer_id }, body: { session_id } }, caller) =>
      caller.commit(async handle => {
        const transfer = await transferStore(handle).find(caller, unmatched_transfer_id);
        if (transfer === undefined) throw resourceNotFound('unmatched_transfer', unmatched_transfer_id);
        const session = await sessionStore(handle, seals).find(caller, session_id);
        if (session === undefined) throw resourceNotFound('checkout_session', session_id);
        if (transfer.assignedAt !== null) throw taken('is already assigned');
        if (transfer.confirmedAt === null) throw taken('waits for the receipt of its transaction');
        if (!isToAddressOf(session, transfer)) {
          throw new InvalidBody('session_id', 'must be a session of the same chain, token and recipient');
        }
        const settled = settlement({ handle, seals, now: clock.now() });
        const transaction = await settled.assign(caller, transfer.id, session);
        if (transaction === undefined) throw taken('has paid another session');
        return { status: 200, body: transactionBody(transaction, session) };
      }),
  } satisfies ApiHandlers;
}

function taken(reason: string) {
  return paymentsError('invalid_status_transition', `The transfer ${reason}.`);
}

/** An unmatched transfer in the contract's form, open or assigned (Decision 112). */
function transferBody(transfer: UnmatchedTransfer): PaymentsSchemas['UnmatchedTransfer'] {
  return {
    object: 'unmatched_transfer',
    id: transfer.id,
    mode: transfer.mode,
    status: transferStatus(transfer),
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
    assigned_at: nullableTimestamp(transfer.assignedAt),
  };
}
