import type { PaymentTransaction } from '../model/payment-transaction.ts';
import { NO_LOG, type Transfer } from '../model/transfer.ts';
import type { TransactionStore } from '../store/transaction-store.ts';

/**
 * Gives the rows of one transaction the places that its transfers have now. A transaction that comes back in another
 * block after a reorganisation has its logs at other indexes there, and must not pay a second time. Equal transfers of
 * one transaction keep their order. A row whose transfer is not made any more has no place once another takes it; what
 * becomes of it is told by its block. Answers with the rows as they are then.
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
  // Everybody leaves before anybody arrives: no two rows may have one place.
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
    .filter(row => row.logIndex !== null && row.logIndex !== NO_LOG && row.blockHash !== blockHash)
    .sort((a, b) => Number(a.logIndex) - Number(b.logIndex));
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

/** True when the row is of a transfer with the same token, wallets and amount, wherever that lies. */
export function isSamePayment(row: PaymentTransaction, transfer: Transfer): boolean {
  return (
    row.tokenAddress === transfer.tokenAddress &&
    row.sender === transfer.sender &&
    row.recipient === transfer.recipient &&
    row.amount === transfer.amount
  );
}
