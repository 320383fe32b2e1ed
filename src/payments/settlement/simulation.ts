import { createHash, randomBytes } from 'node:crypto';
import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { newId } from '../../lib/ids.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { CheckoutSession } from '../model/session.ts';
import type { SettlementUnit } from './books.ts';
import { hasUse, reorg } from './outcomes.ts';
import type { Account } from './session-totals.ts';
import { completed, failed, unseen } from './settling.ts';

export type SimulatedOutcome = PaymentsSchemas['SimulationRequest']['outcome'];

/** Has a payment happen without a chain, as `Settlement.simulate` says. Decision 116. */
export async function simulate(
  books: SettlementUnit,
  { id }: Pick<CheckoutSession, 'id'>,
  outcome: SimulatedOutcome,
): Promise<PaymentTransaction | undefined> {
  const session = await books.sessionOf(id);
  if (session.mode !== 'test' || session.status !== 'active') return undefined;
  const others = await books.transactions.ofSession(id);
  const { now } = books;

  if (outcome === 'failed') {
    const transaction = unseen(session, { id: newId('txn'), txHash: null, matchedBy: 'simulation' }, now);
    return books.writeNew(failed({ session, transaction, others }, 'simulated', now));
  }
  // Half of the price: the tail of a small price may be larger than the price itself.
  const amount = outcome === 'underpaid' ? (session.amount + 1n) / 2n : session.amountDue;
  const account: Account = { session, transaction: paid(session, amount, now), others };
  const settled = await books.writeNew(completed(account, await hasUse(books, account), now));
  return outcome === 'reorg' ? reorg(books, settled.id) : settled;
}

/** As if it had its confirmations, though it is in no block. */
function paid(session: CheckoutSession, amount: bigint, now: number): PaymentTransaction {
  const txHash = `0x${randomBytes(32).toString('hex')}`;
  const known = { id: newId('txn'), txHash, matchedBy: 'simulation' as const };
  const sender = session.payerAddress ?? walletOf(session);
  return { ...unseen(session, known, now), status: 'confirming', amount, sender };
}

/** A wallet that belongs to the session alone, so that several simulated payments of it add up. */
function walletOf({ id }: CheckoutSession): string {
  return `0x${createHash('sha256').update(id).digest('hex').slice(0, 40)}`;
}
