import { execute } from '../../db/query.ts';
import { newId } from '../../lib/ids.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { CheckoutSession } from '../model/session.ts';
import type { Transfer } from '../model/transfer.ts';
import type { SettlementUnit } from './books.ts';
import { orphaned, reorged, type Sight, sighted, unseen } from './settling.ts';

/** Records a transfer that is in a block, as `Settlement.sight` says. */
export async function sight(
  books: SettlementUnit,
  { id }: Pick<CheckoutSession, 'id'>,
  transfer: Transfer,
  seen: Sight,
): Promise<PaymentTransaction> {
  const again = await sightAgain(books, transfer, seen.confirmations);
  if (again !== undefined) return again;
  await forgetUnmatched(books, transfer);
  return sightFirst(books, id, transfer, seen);
}

/** What this transfer was recorded as before, now in this block; undefined when it is new. */
export async function sightAgain(
  books: SettlementUnit,
  transfer: Transfer,
  confirmations: number,
): Promise<PaymentTransaction | undefined> {
  const known = await books.transactions.byHash(transfer.chainId, transfer.txHash);
  const placed = known.find(one => one.logIndex === transfer.logIndex);
  const isSamePlace = placed !== undefined && isSame(placed, transfer);
  if (isSamePlace && placed.blockHash === transfer.blockHash) return placed;
  // Places are counted within a block: another one there means that the block it was seen in is gone.
  if (placed !== undefined && !isSamePlace) await dropped(books, placed);
  // A transaction is in one block only, so what was seen of it in another one, or lost its place, is not there any more.
  const isElsewhere = ({ blockHash, logIndex }: PaymentTransaction) =>
    blockHash !== transfer.blockHash || logIndex === null;
  const same = isSamePlace ? placed : known.find(one => isElsewhere(one) && isSame(one, transfer));
  if (same === undefined) return undefined;
  return same.status === 'completed'
    ? moved(books, same, transfer)
    : confirming(books, same, transfer, confirmations);
}

/** Records it for this session, whose claim of it becomes what was seen. */
export async function sightFirst(
  books: SettlementUnit,
  sessionId: string,
  transfer: Transfer,
  seen: Sight,
): Promise<PaymentTransaction> {
  const { now } = books;
  const session = await books.sessionOf(sessionId);
  const all = await books.transactions.ofSession(sessionId);
  const claim = all.find(one => one.txHash === transfer.txHash && one.sender === null);
  if (claim !== undefined) {
    const others = all.filter(one => one !== claim);
    return books.write(sighted({ session, transaction: claim, others }, transfer, seen, now));
  }
  const fresh = { id: newId('txn'), txHash: transfer.txHash, matchedBy: seen.matchedBy };
  const account = { session, transaction: unseen(session, fresh, now), others: all };
  return books.writeNew(sighted(account, transfer, seen, now));
}

/** What was matched is nobody's to assign any more. */
export async function forgetUnmatched({ handle }: SettlementUnit, transfer: Transfer): Promise<void> {
  await execute(
    handle,
    'delete from unmatched_transfers where chain_id = ? and tx_hash = ? and log_index = ? and assigned_at is null',
    [transfer.chainId, transfer.txHash, transfer.logIndex],
  );
}

async function confirming(
  books: SettlementUnit,
  { id, matchedBy }: PaymentTransaction,
  transfer: Transfer,
  confirmations: number,
): Promise<PaymentTransaction> {
  return books.write(sighted(await books.account(id), transfer, { matchedBy, confirmations }, books.now));
}

/** The money is still there, only in another block: nothing that anybody was told has changed. */
async function moved(
  books: SettlementUnit,
  placed: PaymentTransaction,
  { logIndex, blockNumber, blockHash, blockTime }: Transfer,
): Promise<PaymentTransaction> {
  const transaction = { ...placed, logIndex, blockNumber, blockHash, blockTime };
  await books.transactions.update(transaction);
  return transaction;
}

async function dropped(books: SettlementUnit, { id, status }: PaymentTransaction): Promise<void> {
  const account = await books.account(id);
  await books.write(status === 'completed' ? reorged(account, books.now) : orphaned(account, books.now));
}

function isSame(transaction: PaymentTransaction, transfer: Transfer): boolean {
  return (
    transaction.sender === transfer.sender &&
    transaction.amount === transfer.amount &&
    transaction.recipient === transfer.recipient &&
    transaction.tokenAddress === transfer.tokenAddress
  );
}
