import type { PaymentTransaction } from '../model/payment-transaction.ts';
import { byLogIndex, type Transfer } from '../model/transfer.ts';
import type { TransactionStore } from '../store/transaction-store.ts';

/**
 * Updates the log indexes of one transaction's rows to those of its transfers now. After a reorganisation, a
 * transaction may return in another block with its logs at other indexes, and must not pay a second time. Equal
 * transfers of one transaction keep their order. A row without a transfer loses its index when another row takes it;
 * the check of its block decides about its payment. Returns the rows after the update.
 */
export async function moveRows(
  store: TransactionStore,
  rows: readonly PaymentTransaction[],
  transfers: readonly Transfer[],
): Promise<readonly PaymentTransaction[]> {
  const moves = movesOf(rows, transfers);
  const taken = new Set(moves.map(({ logIndex }) => logIndex));
  const moved = new Map<string, number | null>(moves.map(({ row, logIndex }) => [row.id, logIndex]));
  const isInTheWay = ({ id, logIndex }: PaymentTransaction) =>
    logIndex !== null && taken.has(logIndex) && !moved.has(id);
  for (const { id } of rows.filter(isInTheWay)) moved.set(id, null);

  const moving = rows.filter(row => moved.has(row.id));
  // All indexes are cleared first, because two rows must not have the same one.
  for (const row of moving) await store.update({ ...row, logIndex: null });
  const arrived = rows.map(row => ({
    ...row,
    logIndex: moved.has(row.id) ? (moved.get(row.id) ?? null) : row.logIndex,
  }));
  for (const row of arrived) if (moved.has(row.id)) await store.update(row);
  return arrived;
}

function movesOf(
  rows: readonly PaymentTransaction[],
  transfers: readonly Transfer[],
): { row: PaymentTransaction; logIndex: number }[] {
  const blockHash = transfers[0]?.blockHash;
  const left = rows
    .filter(row => row.logIndex !== null && row.blockHash !== blockHash)
    .sort((a, b) => byLogIndex(Number(a.logIndex), Number(b.logIndex)));
  const settled = new Set(rows.filter(row => row.blockHash === blockHash).map(row => row.logIndex));
  const moves: { row: PaymentTransaction; logIndex: number }[] = [];
  for (const transfer of transfers) {
    if (settled.has(transfer.logIndex)) continue;
    const found = left.findIndex(row => isSamePayment(row, transfer));
    const [row] = found < 0 ? [] : left.splice(found, 1);
    if (row !== undefined && row.logIndex !== transfer.logIndex) {
      moves.push({ row, logIndex: transfer.logIndex });
    }
  }
  return moves;
}

/** True when row and transfer have the same token, wallets and amount, in any block and at any log index. */
export function isSamePayment(row: PaymentTransaction, transfer: Transfer): boolean {
  return (
    row.tokenAddress === transfer.tokenAddress &&
    row.sender === transfer.sender &&
    row.recipient === transfer.recipient &&
    row.amount === transfer.amount
  );
}
