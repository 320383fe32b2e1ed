import { newId } from '../../lib/ids.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { CheckoutSession } from '../model/session.ts';
import type { Transfer } from '../model/transfer.ts';
import { followMoney } from '../refunds/refund-moves.ts';
import { select } from '../tables/select.ts';
import { isSamePayment } from './moved-transactions.ts';
import type { SettlementUnit } from './settlement-unit.ts';
import { orphaned, reorged, seenInBlock, type TransferEvidence, unseen } from './settling.ts';

/** Records transfers found in blocks. */
export function transferRecords(unit: SettlementUnit) {
  return {
    /**
     * Records a transfer in a block as a payment of this session, and takes over the session's claim of its hash. A
     * transfer recorded before stays with its own session.
     */
    async recordTransfer(
      { id }: Pick<CheckoutSession, 'id'>,
      transfer: Transfer,
      seen: TransferEvidence,
    ): Promise<PaymentTransaction> {
      const again = await updateTransfer(unit, transfer, seen.confirmations);
      if (again !== undefined) return again;
      return insertTransfer(unit, await unit.sessionOf(id), transfer, seen);
    },

    /**
     * The same for a transfer that `updateTransfer` did not know, with a session just read in this database transaction.
     */
    insertTransfer: (session: CheckoutSession, transfer: Transfer, seen: TransferEvidence) =>
      insertTransfer(unit, session, transfer, seen),

    /** Records the current block of a known transfer; undefined for a new one, which is to be matched and recorded. */
    updateTransfer: (transfer: Transfer, confirmations: number) =>
      updateTransfer(unit, transfer, confirmations),
  };
}

/** The earlier record of this transfer, moved to its block; undefined when it is new. */
async function updateTransfer(
  unit: SettlementUnit,
  transfer: Transfer,
  confirmations: number,
): Promise<PaymentTransaction | undefined> {
  const known = await unit.transactions.recordsOf(transfer);
  const atIndex = known.find(one => one.logIndex === transfer.logIndex);
  // A block has one log at each index. Where nodes disagree, the recorded one is judged before it completes.
  if (atIndex?.blockHash === transfer.blockHash) return atIndex;
  const isSameLog = atIndex !== undefined && isSamePayment(atIndex, transfer);
  // Log indexes count within a block: another transfer at this index means that the recorded block is gone.
  if (atIndex !== undefined && !isSameLog) await dropped(unit, atIndex);
  // A transaction is in one block only: its rows of another block or without a log index are from a replaced block.
  const isElsewhere = ({ blockHash, logIndex }: PaymentTransaction) =>
    blockHash !== transfer.blockHash || logIndex === null;
  const same = isSameLog ? atIndex : known.find(one => isElsewhere(one) && isSamePayment(one, transfer));
  if (same === undefined) return undefined;
  return same.status === 'completed'
    ? moved(unit, same, transfer)
    : confirming(unit, same, transfer, confirmations);
}

async function insertTransfer(
  unit: SettlementUnit,
  session: CheckoutSession,
  transfer: Transfer,
  seen: TransferEvidence,
): Promise<PaymentTransaction> {
  const forgotten = await forgetUnmatched(unit, transfer);
  const payment = await insertPayment(unit, session, transfer, seen);
  for (const { id } of forgotten) await followMoney(unit, id, payment);
  return payment;
}

/** Records a new transfer for this session. The session's claim of the hash, if any, becomes its record. */
export async function insertPayment(
  unit: SettlementUnit,
  session: CheckoutSession,
  transfer: Transfer,
  seen: TransferEvidence,
): Promise<PaymentTransaction> {
  const { now } = unit;
  const all = await unit.transactions.ofSession(session.id);
  const claim = all.find(one => one.txHash === transfer.txHash && one.sender === null);
  if (claim !== undefined) {
    const others = all.filter(one => one !== claim);
    return unit.write(seenInBlock({ session, transaction: claim, others }, transfer, seen, now));
  }
  const fresh = { id: newId('txn'), txHash: transfer.txHash, matchedBy: seen.matchedBy };
  const paymentCase = { session, transaction: unseen(session, fresh, now), others: all };
  return unit.writeNew(seenInBlock(paymentCase, transfer, seen, now));
}

/** Removes the records of a matched transfer, which can no longer be assigned. */
function forgetUnmatched({ handle }: SettlementUnit, { chainId, txHash, logIndex }: Transfer) {
  return select({ from: 'unmatched_transfers', columns: ['id'] }).changed(
    handle,
    'delete from unmatched_transfers where chain_id = ? and tx_hash = ? and log_index = ? and assigned_at is null',
    [chainId, txHash, logIndex],
  );
}

async function confirming(
  unit: SettlementUnit,
  { id, matchedBy }: PaymentTransaction,
  transfer: Transfer,
  confirmations: number,
): Promise<PaymentTransaction> {
  return unit.write(seenInBlock(await unit.caseOf(id), transfer, { matchedBy, confirmations }, unit.now));
}

/** A completed payment in another block. It stays completed, so there is no event. */
async function moved(
  unit: SettlementUnit,
  atIndex: PaymentTransaction,
  { logIndex, blockNumber, blockHash, blockTime }: Transfer,
): Promise<PaymentTransaction> {
  const transaction = { ...atIndex, logIndex, blockNumber, blockHash, blockTime, proven: null };
  await unit.transactions.update(transaction);
  return transaction;
}

async function dropped(unit: SettlementUnit, { id, status }: PaymentTransaction): Promise<void> {
  const paymentCase = await unit.caseOf(id);
  await unit.write(status === 'completed' ? reorged(paymentCase, unit.now) : orphaned(paymentCase, unit.now));
}
