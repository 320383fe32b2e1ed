import type { Owner } from '../model/owner.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { CheckoutSession, FailureReason } from '../model/session.ts';
import type { Transfer } from '../model/transfer.ts';
import { assign } from './assignment.ts';
import { books, type SettlementDeps } from './books.ts';
import { type Due, detachSessionsOf, endSessionsOf, expire, expireDue, expireUnwatched } from './endings.ts';
import { complete, fail, orphan, progress, reorg } from './outcomes.ts';
import { follow, recordPaymentHint, waiting } from './payment-hints.ts';
import type { Sight } from './settling.ts';
import { sight, sightAgain } from './sighting.ts';
import { type SimulatedOutcome, simulate } from './simulation.ts';

export type { SimulatedOutcome } from './simulation.ts';

type SessionId = Pick<CheckoutSession, 'id'>;

/**
 * All that changes the state of sessions and transactions, within one transaction of the database: each change with
 * its events, and none when it is repeated. An unknown id of a session or transaction is thrown.
 */
export interface Settlement {
  /**
   * Records a transfer in a block as a payment of this session, taking over the session's claim of its hash. One that
   * was recorded before stays with its own session, whichever is given.
   */
  sight(session: SessionId, transfer: Transfer, seen: Sight): Promise<PaymentTransaction>;
  /** Records where a transfer is now that was recorded before; undefined when it is new: match it and `sight` it. */
  sightAgain(transfer: Transfer, confirmations: number): Promise<PaymentTransaction | undefined>;
  /** Records a hash that is said to be the payment. A known one is answered; undefined for a session that has ended. */
  claim(session: SessionId, txHash: string): Promise<PaymentTransaction | undefined>;
  /** A claimed transaction was seen waiting for a block, also one that was given up as not found. */
  waiting(transactionId: string, nonce: number): Promise<void>;
  /** A pending one is repriced; when its new hash is recorded already, it fails as replaced. */
  follow(transactionId: string, txHash: string): Promise<void>;
  progress(transactionId: string, confirmations: number): Promise<void>;
  /** A confirming one has its confirmations. Any other is answered as it is. */
  complete(transactionId: string): Promise<PaymentTransaction>;
  /** A pending or confirming one will not come. Any other is answered as it is. */
  fail(transactionId: string, reason: FailureReason): Promise<PaymentTransaction>;
  /** The block of a confirming one is gone: it is pending again. Any other is answered as it is. */
  orphan(transactionId: string): Promise<PaymentTransaction>;
  /** The block of a completed one is gone: it failed, until it is sighted again. Any other is answered as it is. */
  reorg(transactionId: string): Promise<PaymentTransaction>;
  /** Undefined when it is not active, or its payment is being confirmed. */
  expire(sessionId: string): Promise<CheckoutSession | undefined>;
  /**
   * Ends active sessions whose time is over, the longest over first, and says how many: not while a payment is being
   * confirmed, and not before the chain was scanned 15 s after that, or could not be for ten minutes.
   */
  expireDue(due: Due): Promise<number>;
  /** Takes the link from up to `limit` of its sessions, after ending the active ones among them as `endSessionsOf` does. */
  detachSessionsOf(linkId: string, limit: number): Promise<number>;
  /**
   * Ends active sessions whose payment is being confirmed on a chain that is not configured any more, and says how many:
   * a day after their time was over, when nobody has looked through the chain for a day.
   */
  expireUnwatched(due: Due): Promise<number>;
  /** Before a link is deleted: ends its active sessions, except those whose payment is being confirmed. */
  endSessionsOf(linkId: string): Promise<number>;
  /** Undefined when there is no such open transfer, it is not to where the session is paid, or it paid another one. */
  assign(owner: Owner, transferId: string, session: SessionId): Promise<PaymentTransaction | undefined>;
  /** Undefined when the session is not active or not of test mode. */
  simulate(session: SessionId, outcome: SimulatedOutcome): Promise<PaymentTransaction | undefined>;
}

export function settlement(deps: SettlementDeps): Settlement {
  const kept = books(deps);
  return {
    sight: (session, transfer, seen) => sight(kept, session, transfer, seen),
    sightAgain: (transfer, confirmations) => sightAgain(kept, transfer, confirmations),
    claim: (session, txHash) => recordPaymentHint(kept, session, txHash),
    waiting: (transactionId, nonce) => waiting(kept, transactionId, nonce),
    follow: (transactionId, txHash) => follow(kept, transactionId, txHash),
    progress: (transactionId, confirmations) => progress(kept, transactionId, confirmations),
    complete: transactionId => complete(kept, transactionId),
    fail: (transactionId, reason) => fail(kept, transactionId, reason),
    orphan: transactionId => orphan(kept, transactionId),
    reorg: transactionId => reorg(kept, transactionId),
    expire: sessionId => expire(kept, sessionId),
    expireDue: due => expireDue(kept, due),
    detachSessionsOf: (linkId, limit) => detachSessionsOf(kept, linkId, limit),
    expireUnwatched: due => expireUnwatched(kept, due),
    endSessionsOf: linkId => endSessionsOf(kept, linkId),
    assign: (owner, transferId, session) => assign(kept, owner, transferId, session),
    simulate: (session, outcome) => simulate(kept, session, outcome),
  };
}
