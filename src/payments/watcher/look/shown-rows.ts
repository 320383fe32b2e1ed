import { type RecordedTransfer, shows } from '../node/receipt-transfers.ts';
import type { ShownTransfers } from './receipts.ts';

/** Rows that their receipts show and do not show. Rows without a receipt of their block are in neither list. */
export function shownRows<Row extends RecordedTransfer & { readonly txHash: string | null }>(
  rows: readonly Row[],
  shown: ShownTransfers,
): { readonly confirmed: readonly Row[]; readonly untrue: readonly Row[] } {
  const confirmed: Row[] = [];
  const untrue: Row[] = [];
  for (const row of rows) {
    const receipt = shown.get(row.txHash ?? '');
    const isShown = receipt && shows(receipt, row);
    if (isShown === true) confirmed.push(row);
    if (isShown === false) untrue.push(row);
  }
  return { confirmed, untrue };
}
