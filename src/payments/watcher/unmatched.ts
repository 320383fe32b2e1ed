import { transferStore } from '../store/transfer-store.ts';
import { canonicalRows, shows } from './node/canonical-rows.ts';
import { slices } from './node/slices.ts';
import { confirmationsOf, ROWS_PER_EFFECT, type Round } from './round.ts';

/**
 * Confirms transfers that match no session, so that they are listed, and forgets those that the chain dropped.
 * Answers with how many there were of both.
 */
export async function confirmUnmatched(round: Round): Promise<number> {
  const { chain, view, head, db, effect } = round;
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

  for (const ids of slices(dropped, ROWS_PER_EFFECT)) {
    await effect('unmatched', ({ handle }) => transferStore(handle).remove(ids));
  }
  for (const ids of slices(confirmed, ROWS_PER_EFFECT)) {
    await effect('unmatched', ({ handle, now }) => transferStore(handle).confirm(ids, now));
  }
  return confirmed.length + dropped.length;
}
