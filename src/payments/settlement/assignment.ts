import type { Owner } from '../model/owner.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { CheckoutSession } from '../model/session.ts';
import type { Transfer } from '../model/transfer.ts';
import type { SettlementUnit } from './books.ts';
import { complete } from './outcomes.ts';
import { sightFirst } from './sighting.ts';

/** Makes a confirmed transfer that matched nothing a session's payment, as `Settlement.assign` says. */
export async function assign(
  books: SettlementUnit,
  owner: Owner,
  transferId: string,
  { id: sessionId }: Pick<CheckoutSession, 'id'>,
): Promise<PaymentTransaction | undefined> {
  const transfer = await books.transfers.find(owner, transferId);
  const session = await books.sessions.find(owner, sessionId);
  if (transfer === undefined || session === undefined || transfer.assignedAt !== null) return undefined;
  if (!isToPlaceOf(session, transfer) || (await isRecorded(books, transfer))) return undefined;

  const { requiredConfirmations: confirmations } = session;
  const seen = await sightFirst(books, sessionId, transfer, { matchedBy: 'assignment', confirmations });
  const transaction = await complete(books, seen.id);
  await books.transfers.assign(transferId, { sessionId, transactionId: transaction.id }, books.now);
  return transaction;
}

function isToPlaceOf(session: CheckoutSession, transfer: Transfer): boolean {
  return (
    session.chainId === transfer.chainId &&
    session.tokenAddress === transfer.tokenAddress &&
    session.recipientAddress === transfer.recipient
  );
}

/** One transfer pays one session only. */
async function isRecorded({ transactions }: SettlementUnit, transfer: Transfer): Promise<boolean> {
  return (await transactions.byPlace(transfer.chainId, transfer.txHash, transfer.logIndex)) !== undefined;
}
