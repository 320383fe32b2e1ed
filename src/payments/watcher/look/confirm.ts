import type { PaymentTransaction } from '../../model/payment-transaction.ts';
import { transferStore } from '../../store/transfer-store.ts';
import { canonicalRows, shows } from '../node/canonical-rows.ts';
import { changeInParts, confirmationsOf, type Round } from './round.ts';

/** Numbers of payments that were completed and made pending again. */
interface ConfirmedPayments {
  readonly completed: number;
  readonly takenBack: number;
}

/**
 * Counts the confirmations of confirming payments from fresh headers. Completes those that have enough and whose
 * receipt still shows them. Makes those pending whose block is no longer on the chain.
 */
export async function confirmPayments(
  round: Round,
  open: readonly PaymentTransaction[],
): Promise<ConfirmedPayments> {
  const { view, head, log } = round;
  const seen = open.filter(one => one.status === 'confirming');
  const { standing, gone } = await canonicalRows(seen, { view, head });
  const ripe = standing.filter(one => depthOf(one) >= one.requiredConfirmations).sort(byPlace);
  // After the head went back, the count may be lower than the stored one. Confirmations shown never decrease.
  const growing = standing.filter(
    one => depthOf(one) < one.requiredConfirmations && depthOf(one) > one.confirmations,
  );

  const receipts = await view.receipts(ripe.map(one => one.txHash ?? ''));
  const completed: PaymentTransaction[] = [];
  const untrue: PaymentTransaction[] = [];
  for (const one of ripe) {
    const receipt = receipts.get(one.txHash ?? '');
    const isShown = receipt === undefined ? undefined : shows(receipt, one);
    if (isShown === true) completed.push(one);
    if (isShown !== false) continue;
    untrue.push(one);
    log.warn(
      { transaction: one.id, txHash: one.txHash },
      'the node returned a transfer that is missing in its receipt',
    );
  }

  const name = 'confirm';
  const takenBack = [...gone, ...untrue];
  await changeInParts(round, { name, rows: takenBack }, async (part, { settle }) => {
    for (const one of part) await settle.orphan(one.id);
  });
  if (takenBack.length > 0) {
    const transactions = takenBack.map(one => one.id);
    log.info({ transactions }, 'payments are pending again after a reorganisation');
  }
  await changeInParts(round, { name, rows: completed }, async (part, { settle }) => {
    for (const one of part) await settle.complete(one.id);
  });
  await changeInParts(round, { name, rows: growing }, async (part, { settle }) => {
    for (const [depth, ofDepth] of Map.groupBy(part, depthOf)) {
      await settle.progress(
        ofDepth.map(one => one.id),
        depth,
      );
    }
  });
  return { completed: completed.length, takenBack: takenBack.length };

  function depthOf({ blockNumber }: PaymentTransaction): number {
    return blockNumber === null ? 0 : confirmationsOf({ blockNumber }, round);
  }
}

function byPlace(a: PaymentTransaction, b: PaymentTransaction): number {
  return (a.blockNumber ?? 0) - (b.blockNumber ?? 0) || (a.logIndex ?? 0) - (b.logIndex ?? 0);
}

/**
 * Confirms transfers that match no session, so that they are listed, and deletes those that the chain dropped.
 * Returns the number of both.
 */
export async function confirmUnmatched(round: Round): Promise<number> {
  const { chain, view, head, db } = round;
  const kept = await transferStore(db).unconfirmed(chain.id);
  const { standing, gone } = await canonicalRows(kept, { view, head });
  const ripe = standing.filter(one => confirmationsOf(one, round) >= chain.confirmations);
  const receipts = await view.receipts(new Set(ripe.map(one => one.txHash)));
  const judged = ripe.map(one => {
    const receipt = receipts.get(one.txHash);
    return { id: one.id, isShown: receipt === undefined ? undefined : shows(receipt, one) };
  });
  const confirmed = judged.filter(one => one.isShown === true).map(one => one.id);
  const dropped = [...gone, ...judged.filter(one => one.isShown === false)].map(one => one.id);

  const name = 'unmatched';
  await changeInParts(round, { name, rows: dropped }, (ids, { handle }) => transferStore(handle).remove(ids));
  await changeInParts(round, { name, rows: confirmed }, (ids, { handle, now }) =>
    transferStore(handle).confirm(ids, now),
  );
  return confirmed.length + dropped.length;
}
