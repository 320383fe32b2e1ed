import { newId } from '../../lib/ids.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import { type CheckoutSession, isLargePart, MAX_PAYMENTS } from '../model/session.ts';
import type { Transfer } from '../model/transfer.ts';
import { followMoney } from '../refunds/refund-moves.ts';
import { select } from '../tables/select.ts';
import { isSamePayment } from './moved-transactions.ts';
import { obstacleTo } from './outcomes.ts';
import { type SeenMoney, type TransferEvidence, withTotals } from './session-totals.ts';
import type { SettlementUnit } from './settlement-unit.ts';
import { completed, lacksProof, orphaned, reorged, seenInBlock, unseen } from './settling.ts';

/** Coins that the balance of a deposit address showed, and that no known transaction brought. */
interface FoundCoins extends Pick<SeenMoney, 'amount' | 'blockNumber' | 'blockHash' | 'blockTime'> {
  /** The block whose balance showed them. It has its confirmations. Theirs is the first one in which they may have come. */
  readonly balanceBlock: number;
  readonly proven: true | null;
  /** True when money without a proof does not complete a session (Decision 389). */
  readonly isRequired: boolean;
}

/** Records transfers found in blocks, and coins found by balances. */
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

    /**
     * Records coins that a balance showed, and completes them: their block has its confirmations (Decision 399). Undefined
     * when their session was removed, or has many payments and they are few: they count together with what comes later.
     */
    recordFoundCoins: (sessionId: string, found: FoundCoins) => recordFoundCoins(unit, sessionId, found),

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
  // Without a block, its coins may have been found by the balance of the address.
  const [found] = same.blockHash === null ? await unit.transactions.foundCoins(transfer) : [];
  if (found !== undefined) return nameFoundCoins(unit, found, transfer);
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
  const [found] = session.depositAddress === null ? [] : await unit.transactions.foundCoins(transfer);
  const payment =
    found === undefined
      ? await insertPayment(unit, session, transfer, seen)
      : await nameFoundCoins(unit, found, transfer);
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

async function recordFoundCoins(
  unit: SettlementUnit,
  sessionId: string,
  { balanceBlock, proven, isRequired, ...found }: FoundCoins,
): Promise<PaymentTransaction | undefined> {
  const { now } = unit;
  const session = await unit.sessions.findById(sessionId);
  if (session === undefined) return undefined;
  const others = await unit.transactions.ofSession(sessionId);
  const isFull = others.filter(({ blockNumber }) => blockNumber !== null).length >= MAX_PAYMENTS;
  if (isFull && !isLargePart(session, found.amount)) return undefined;
  const matchedBy = 'deposit_address';
  const fresh = unseen(session, { id: newId('txn'), txHash: null, matchedBy }, now);
  const money = { ...found, recipient: fresh.recipient, sender: null, txHash: null, logIndex: null };
  const evidence = { matchedBy, confirmations: session.requiredConfirmations } as const;
  const seen = seenInBlock({ session, transaction: fresh, others }, money, evidence, now);
  // Where money needs a proof, money that cannot have one waits for the merchant.
  const isProven = proven ?? (isRequired ? false : null);
  const transaction = { ...seen.transaction, balanceBlock, proven: isProven };
  const account = { session: seen.session, transaction, others };
  const obstacle = isRequired && lacksProof(account) ? 'unproven' : await obstacleTo(unit, account);
  return unit.writeNew(completed(account, obstacle, now));
}

/**
 * Gives coins that a balance showed their transaction. Coins of other transactions stay behind as a payment of their own, so
 * that the sums of the session stay, and nothing is reported again.
 */
async function nameFoundCoins(
  unit: SettlementUnit,
  found: PaymentTransaction,
  transfer: Transfer,
): Promise<PaymentTransaction> {
  const { amount, sender, txHash, logIndex, blockNumber, blockHash, blockTime } = transfer;
  const { session, others } = await unit.caseOf(found.id);
  const rest = found.amount > amount ? found.amount - amount : 0n;
  const overpaidRest = found.overpaidAmount === null ? 0n : least(found.overpaidAmount, rest);
  const named = {
    ...found,
    ...{ sender, txHash, logIndex, blockNumber, blockHash, blockTime },
    amount,
    overpaidAmount: nullIfZero((found.overpaidAmount ?? 0n) - overpaidRest),
    balanceBlock: null,
    proven: null,
  };
  const left = { ...found, id: newId('txn'), amount: rest, overpaidAmount: nullIfZero(overpaidRest) };
  // A claim of the hash has found what it waited for, as has a payment whose block was replaced.
  const isWaiting = (one: PaymentTransaction) =>
    one.sender === null || (one.status === 'pending' && isSamePayment(one, transfer));
  const claim = others.find(one => one.txHash === txHash && isWaiting(one));
  if (claim !== undefined) {
    await unit.events.leaveToSession(claim);
    await unit.transactions.remove(claim.id);
  }
  await unit.transactions.update(named);
  if (rest > 0n) await unit.transactions.insert(left);
  const standing = others.filter(one => one !== claim);
  const all = rest > 0n ? [...standing, left] : standing;
  await unit.sessions.update(withTotals({ session, transaction: named, others: all }, unit.now));
  return named;
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

function nullIfZero(amount: bigint): bigint | null {
  return amount === 0n ? null : amount;
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
