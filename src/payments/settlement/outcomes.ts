import { execute } from '../../db/query.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { FailureReason } from '../model/session.ts';
import type { SettlementUnit } from './books.ts';
import type { Account } from './session-totals.ts';
import { completed, failed, needsUse, orphaned, reorged } from './settling.ts';

/** Notes how deep the block of a confirming transaction lies. */
export async function progress(
  books: SettlementUnit,
  transactionId: string,
  confirmations: number,
): Promise<void> {
  const { handle, now } = books;
  const transaction = await books.transactions.findById(transactionId);
  if (transaction === undefined) throw new Error(`There is no transaction ${transactionId}.`);
  const { status, sessionId, txHash, requiredConfirmations } = transaction;
  const reached = Math.min(confirmations, requiredConfirmations);
  if (status !== 'confirming' || reached === transaction.confirmations) return;
  await books.transactions.update({ ...transaction, confirmations: reached });
  await execute(
    handle,
    `update checkout_sessions set confirmations = ?, updated_at = ?
     where id = ? and tx_hash = ? and (transaction_id is null or transaction_id = ?)`,
    [reached, now, sessionId, txHash, transactionId],
  );
}

/** Confirms a confirming transaction and settles its session. */
export async function complete(books: SettlementUnit, transactionId: string): Promise<PaymentTransaction> {
  const account = await books.account(transactionId);
  if (account.transaction.status !== 'confirming') return account.transaction;
  return books.write(completed(account, await hasUse(books, account), books.now));
}

/** Counts a use of the session's link where one is needed; false when none was left. */
export async function hasUse({ links, now }: SettlementUnit, account: Account): Promise<boolean> {
  const { paymentLinkId } = account.session;
  return paymentLinkId === null || !needsUse(account) || (await links.countUse(paymentLinkId, now));
}

/** Gives up a transaction that is neither completed nor failed. */
export async function fail(
  books: SettlementUnit,
  transactionId: string,
  reason: FailureReason,
): Promise<PaymentTransaction> {
  const account = await books.account(transactionId);
  const { status } = account.transaction;
  if (status !== 'pending' && status !== 'confirming') return account.transaction;
  return books.write(failed(account, reason, books.now));
}

/** Takes a confirming transaction out of its block. */
export async function orphan(books: SettlementUnit, transactionId: string): Promise<PaymentTransaction> {
  const account = await books.account(transactionId);
  if (account.transaction.status !== 'confirming') return account.transaction;
  return books.write(orphaned(account, books.now));
}

/** Takes a completed transaction out of its block. */
export async function reorg(books: SettlementUnit, transactionId: string): Promise<PaymentTransaction> {
  const account = await books.account(transactionId);
  if (account.transaction.status !== 'completed') return account.transaction;
  return books.write(reorged(account, books.now));
}
