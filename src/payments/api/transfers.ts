import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { paymentsError } from '../../contract/contracts/payments-errors.ts';
import type { Handle } from '../../db/open.ts';
import { timestamp } from '../../lib/clock.ts';
import type { Owner } from '../model/owner.ts';
import {
  shownLogIndex,
  type TransferStatus,
  transferStatus,
  type UnmatchedTransfer,
} from '../model/transfer.ts';
import { searchTextOf } from '../search/search-text.ts';
import { foundTransfers } from '../search/transfer-search.ts';
import { sessionStore } from '../sessions/session-store.ts';
import { isToAddressOf } from '../settlement/match.ts';
import { settlement } from '../settlement/settlement.ts';
import { transferDecisions } from '../settlement/transfer-decisions.ts';
import { transferStore } from '../store/transfer-store.ts';
import type { ApiHandlers, PaymentsContext } from './gate/api-context.ts';
import { cursorRefused, nullableTimestamp, resourceNotFound, sortedList } from './responses/answers.ts';
import { candidateList, otherAddress } from './responses/candidates.ts';
import { transactionBody } from './responses/record-bodies.ts';

/** Operations on unmatched transfers, which stay listed until they are assigned (Decision 112). */
export function transferHandlers(context: PaymentsContext) {
  const { db, seals, clock, chains } = context;
  const found = async (handle: Handle, owner: Owner, id: string): Promise<UnmatchedTransfer> => {
    const transfer = await transferStore(handle).find(owner, id);
    if (transfer === undefined) throw resourceNotFound('unmatched_transfer', id);
    return transfer;
  };
  return {
    async listUnmatchedTransfers({ query: { query, status, chain_id, ...page } }, caller) {
      const search = { owner: caller, text: searchTextOf(query, { chains, mode: caller.mode }) };
      const filters = { status, chainId: chain_id };
      const transfers = await foundTransfers({ handle: db, seals }, search, filters, page).catch(
        cursorRefused,
      );
      return { status: 200, body: sortedList('/api/v1/unmatched-transfers', transfers, transferBody) };
    },

    async listTransferCandidates({ path: { unmatched_transfer_id: id } }, caller) {
      const transfer = await found(db, caller, id);
      const path = `/api/v1/unmatched-transfers/${id}/candidates`;
      return { status: 200, body: await candidateList(context, caller, { path, transfer }) };
    },

    assignUnmatchedTransfer: ({ path: { unmatched_transfer_id }, body: { session_id, reason } }, caller) =>
      caller.commit(async handle => {
        const transfer = await found(handle, caller, unmatched_transfer_id);
        const session = await sessionStore(handle, seals).find(caller, session_id);
        if (session === undefined) throw resourceNotFound('checkout_session', session_id);
        if (transferStatus(transfer) !== 'open') throw taken(NOT_OPEN[transferStatus(transfer)]);
        if (!isToAddressOf(session, transfer)) throw otherAddress();
        const settled = settlement({ handle, seals, now: clock.now() });
        const decision = { actor: caller.actor, reason: reason?.trim() ?? null };
        const transaction = await settled.assign(caller, transfer.id, session, decision);
        if (transaction === undefined) throw taken('has paid another session');
        return { status: 200, body: transactionBody(transaction, session, { moves: [] }) };
      }),

    dismissUnmatchedTransfer: ({ path: { unmatched_transfer_id: id }, body: { reason } }, caller) =>
      caller.commit(async handle => {
        const transfer = await found(handle, caller, id);
        if (transferStatus(transfer) !== 'open') throw taken(NOT_OPEN[transferStatus(transfer)]);
        const decision = { actor: caller.actor, reason: reason?.trim() ?? null, now: clock.now() };
        await transferDecisions(handle).dismiss(id, decision);
        return { status: 200, body: transferBody(await found(handle, caller, id)) };
      }),

    restoreUnmatchedTransfer: ({ path: { unmatched_transfer_id: id }, body: { reason } }, caller) =>
      caller.commit(async handle => {
        const transfer = await found(handle, caller, id);
        if (transferStatus(transfer) !== 'dismissed') throw taken('is not dismissed');
        const decision = { actor: caller.actor, reason: reason?.trim() ?? null, now: clock.now() };
        await transferDecisions(handle).restore(id, decision);
        return { status: 200, body: transferBody(await found(handle, caller, id)) };
      }),
  } satisfies ApiHandlers;
}

/** Reasons why a transfer can be neither assigned nor dismissed. */
const NOT_OPEN = {
  open: 'is open',
  assigned: 'is already assigned',
  dismissed: 'is dismissed, so it has to be restored first',
  refunded: 'is refunded',
  set_aside: 'waits for the receipt of its transaction',
} as const satisfies Record<TransferStatus, string>;

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
    amount_refunded: transfer.amountRefunded.toString(),
    sender_address: transfer.sender,
    recipient_address: transfer.recipient,
    tx_hash: transfer.txHash,
    log_index: shownLogIndex(transfer.logIndex),
    block_number: transfer.blockNumber,
    block_hash: transfer.blockHash,
    block_timestamp: timestamp(transfer.blockTime),
    suggested_session_id: transfer.suggestedSessionId,
    session_id: transfer.sessionId,
    transaction_id: transfer.transactionId,
    created_at: timestamp(transfer.createdAt),
    assigned_at: nullableTimestamp(transfer.assignedAt),
    assigned_by: transfer.assignedBy,
    assigned_reason: transfer.assignedReason,
    dismissed_at: nullableTimestamp(transfer.dismissedAt),
    dismissed_by: transfer.dismissedBy,
    dismissed_reason: transfer.dismissedReason,
    restored_at: nullableTimestamp(transfer.restoredAt),
    restored_by: transfer.restoredBy,
    restored_reason: transfer.restoredReason,
  };
}
