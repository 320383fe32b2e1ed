import type { Transaction } from '../../db/open.ts';
import { newId } from '../../lib/ids.ts';
import { customerStore } from '../customers/customer-store.ts';
import { depositSums } from '../deposits/deposit-sums.ts';
import {
  checkoutCompletedData,
  checkoutExpiredData,
  mispaidCheckoutData,
  paymentData,
} from '../events/event-data.ts';
import { eventStore, type NewEvent } from '../events/event-store.ts';
import { type EventData, type EventType, isMispaidType } from '../model/event.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { CheckoutSession } from '../model/session.ts';
import type { Seals } from '../secrets/sealed.ts';
import { sessionStore } from '../sessions/session-store.ts';
import { linkStore } from '../store/link-store.ts';
import { transactionStore } from '../store/transaction-store.ts';
import { transferStore } from '../store/transfer-store.ts';
import { followUse } from './ended-sessions.ts';
import type { EventAnnouncement, Move, PaymentCase } from './session-totals.ts';

/** Inputs of a settlement: one database transaction, and one time in UTC milliseconds for all its writes. */
export interface SettlementDeps {
  readonly handle: Transaction;
  readonly seals: Seals;
  readonly now: number;
  /** Called with every state change. It is lost if the transaction is rolled back. */
  readonly onMove?: ((move: Move) => void) | undefined;
}

/** The stores of a settlement, and writes that keep session and transaction together. */
export type SettlementUnit = ReturnType<typeof settlementUnit>;

export function settlementUnit({ handle, seals, now, onMove }: SettlementDeps) {
  const sessions = sessionStore(handle, seals);
  const transactions = transactionStore(handle);
  const events = eventStore(handle, seals);

  /** @throws Error when there is no such session */
  const sessionOf = async (id: string): Promise<CheckoutSession> => {
    const session = await sessions.findById(id);
    if (session === undefined) throw new Error(`There is no session ${id}.`);
    return session;
  };

  /** Payments of other matches are at no deposit address. */
  const countDeposits = async ({
    chainId,
    recipient,
    matchedBy,
    status,
  }: PaymentTransaction): Promise<void> => {
    const isCounted = status === 'completed' || status === 'failed';
    if (isCounted && (matchedBy === 'deposit_address' || matchedBy === 'assignment'))
      await depositSums(handle).recount(chainId, [recipient]);
  };

  const conclude = async (move: Move): Promise<PaymentTransaction> => {
    await sessions.update(move.session);
    for (const one of move.counted ?? []) await transactions.update(one);
    await countDeposits(move.transaction);
    await events.insert(move.events.map(event => eventOf(move, event, now)));
    if (move.events.some(({ type }) => type === 'checkout.completed'))
      await customerStore(handle, seals).recordPurchase(move.session);
    onMove?.(move);
    await followUse({ handle, seals, now }, move);
    return move.transaction;
  };

  return {
    handle,
    seals,
    now,
    sessions,
    transactions,
    events,
    transfers: transferStore(handle),
    links: linkStore(handle),
    sessionOf,

    /** A recorded transaction with its session and siblings. @throws Error when there is none */
    async caseOf(transactionId: string): Promise<PaymentCase> {
      const all = await transactions.siblings(transactionId);
      const transaction = all.find(one => one.id === transactionId);
      if (transaction === undefined) throw new Error(`There is no transaction ${transactionId}.`);
      const session = await sessionOf(transaction.sessionId);
      return { session, transaction, others: all.filter(one => one !== transaction) };
    },

    /** Writes all records of a state change, and its events. */
    async write(move: Move): Promise<PaymentTransaction> {
      await transactions.update(move.transaction);
      return conclude(move);
    },

    /** The same for a new transaction. */
    async writeNew(move: Move): Promise<PaymentTransaction> {
      await transactions.insert(move.transaction);
      return conclude(move);
    },
  };
}

/** Order of events with the same time: a simulated reorganisation completes and fails a payment at once. */
const ORDER: Readonly<Partial<Record<EventType, number>>> = {
  'payment.completed': 0,
  'checkout.completed': 1,
  'checkout.expired': 1,
  'checkout.paid_late': 2,
  'checkout.overpaid': 2,
  'checkout.partially_paid': 2,
  'payment.failed': 3,
};

function eventOf(move: Move, { type, fact }: EventAnnouncement, now: number): NewEvent {
  const { organizationId, mode } = move.session;
  const event = { id: newId('evt'), organizationId, mode, type, createdAt: now, data: dataOf(move, type) };
  return { event, fact, order: ORDER[type] ?? 0 };
}

function dataOf({ session, transaction }: Move, type: EventAnnouncement['type']): EventData {
  if (type === 'checkout.expired') return checkoutExpiredData(session);
  if (isMispaidType(type)) return mispaidCheckoutData(session, transaction);
  return type === 'checkout.completed'
    ? checkoutCompletedData(session, transaction)
    : paymentData(session, transaction);
}
