import { execute } from '../../db/query.ts';
import { newId } from '../../lib/ids.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { CheckoutSession } from '../model/session.ts';
import type { Transfer } from '../model/transfer.ts';
import { isSamePayment } from './moved-transactions.ts';
import type { SettlementUnit } from './settlement-unit.ts';
import { orphaned, reorged, type Sight, sighted, unseen } from './settling.ts';

/** Records transfers that are in a block. */
export function sightings(unit: SettlementUnit) {
  return {
    /**
     * Records a transfer in a block as a payment of this session, taking over the session's claim of its hash. One that
     * was recorded before stays with its own session, whichever is given.
     */
    async sight(
      { id }: Pick<CheckoutSession, 'id'>,
      transfer: Transfer,
      seen: Sight,
    ): Promise<PaymentTransaction> {
      const again = await sightAgain(unit, transfer, seen.confirmations);
      if (again !== undefined) return again;
      return sightNew(unit, await unit.sessionOf(id), transfer, seen);
    },

    /** The same for a transfer and a session of which this transaction has just read that the one is new. */
    sightNew: (session: CheckoutSession, transfer: Transfer, seen: Sight) =>
      sightNew(unit, session, transfer, seen),

    /** Records where a transfer is now that was recorded before; undefined when it is new: match it and `sight` it. */
    sightAgain: (transfer: Transfer, confirmations: number) => sightAgain(unit, transfer, confirmations),
  };
}

/** What this transfer was recorded as before, now in this block; undefined when it is new. */
async function sightAgain(
  unit: SettlementUnit,
  transfer: Transfer,
  confirmations: number,
): Promise<PaymentTransaction | undefined> {
  const known = await unit.transactions.byHash(transfer.chainId, transfer.txHash);
  const placed = known.find(one => one.logIndex === transfer.logIndex);
  const isSamePlace = placed !== undefined && isSamePayment(placed, transfer);
  if (isSamePlace && placed.blockHash === transfer.blockHash) return placed;
  // Places are counted within a block: another one there means that the block it was seen in is gone.
  if (placed !== undefined && !isSamePlace) await dropped(unit, placed);
  // A transaction is in one block only, so what was seen of it in another one, or lost its place, is not there any more.
  const isElsewhere = ({ blockHash, logIndex }: PaymentTransaction) =>
    blockHash !== transfer.blockHash || logIndex === null;
  const same = isSamePlace ? placed : known.find(one => isElsewhere(one) && isSamePayment(one, transfer));
  if (same === undefined) return undefined;
  return same.status === 'completed'
    ? moved(unit, same, transfer)
    : confirming(unit, same, transfer, confirmations);
}

async function sightNew(
  unit: SettlementUnit,
  session: CheckoutSession,
  transfer: Transfer,
  seen: Sight,
): Promise<PaymentTransaction> {
  await forgetUnmatched(unit, transfer);
  return sightFirst(unit, session, transfer, seen);
}

/** Records it for this session, whose claim of it becomes what was seen. */
export async function sightFirst(
  unit: SettlementUnit,
  session: CheckoutSession,
  transfer: Transfer,
  seen: Sight,
): Promise<PaymentTransaction> {
  const { now } = unit;
  const all = await unit.transactions.ofSession(session.id);
  const claim = all.find(one => one.txHash === transfer.txHash && one.sender === null);
  if (claim !== undefined) {
    const others = all.filter(one => one !== claim);
    return unit.write(sighted({ session, transaction: claim, others }, transfer, seen, now));
  }
  const fresh = { id: newId('txn'), txHash: transfer.txHash, matchedBy: seen.matchedBy };
  const account = { session, transaction: unseen(session, fresh, now), others: all };
  return unit.writeNew(sighted(account, transfer, seen, now));
}

/** What was matched is nobody's to assign any more. */
async function forgetUnmatched({ handle }: SettlementUnit, transfer: Transfer): Promise<void> {
  await execute(
    handle,
    'delete from unmatched_transfers where chain_id = ? and tx_hash = ? and log_index = ? and assigned_at is null',
    [transfer.chainId, transfer.txHash, transfer.logIndex],
  );
}

async function confirming(
  unit: SettlementUnit,
  { id, matchedBy }: PaymentTransaction,
  transfer: Transfer,
  confirmations: number,
): Promise<PaymentTransaction> {
  return unit.write(sighted(await unit.account(id), transfer, { matchedBy, confirmations }, unit.now));
}

/** The money is still there, only in another block: nothing that anybody was told has changed. */
async function moved(
  unit: SettlementUnit,
  placed: PaymentTransaction,
  { logIndex, blockNumber, blockHash, blockTime }: Transfer,
): Promise<PaymentTransaction> {
  const transaction = { ...placed, logIndex, blockNumber, blockHash, blockTime };
  await unit.transactions.update(transaction);
  return transaction;
}

async function dropped(unit: SettlementUnit, { id, status }: PaymentTransaction): Promise<void> {
  const account = await unit.account(id);
  await unit.write(status === 'completed' ? reorged(account, unit.now) : orphaned(account, unit.now));
}
