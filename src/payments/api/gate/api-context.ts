import type { PaymentsHandlers } from '#contract/contracts/payments.ts';
import type { Db, Transaction } from '#db/open.ts';
import type { Client } from '#http/client-address.ts';
import type { Clock } from '#lib/clock.ts';
import type { Actor } from '../../model/owner.ts';
import type { PaymentChains } from '../../model/payment-chain.ts';
import type { Seals } from '../../secrets/sealed.ts';
import type { Credential } from './authenticate.ts';

/** Dependencies of the API's handlers. */
export interface PaymentsContext {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly chains: PaymentChains;
  /** Base URL for payers and API clients, without a slash at the end. */
  readonly publicUrl: string;
  /** Default lifetime of a session, in milliseconds. */
  readonly sessionLifetimeMs: number;
}

/** Answer of an operation that writes. With an idempotency key, it is stored for the lifetime of the key. */
export interface CommittedResponse<Status extends number, Body> {
  readonly status: Status;
  readonly body: Body;
}

/** Records a change in its transaction, so that neither exists without the other (Decision 429). */
export type RecordChange = (handle: Transaction, answer: CommittedResponse<number, unknown>) => Promise<void>;

/**
 * An effect that must not be in a transaction, with one before and one after it: a request to a receiver, or work on so
 * many rows that it has transactions of its own. Like the work of `commit`, both may run more than once; `send` runs
 * once.
 */
export interface TwoPhaseAction<Begun, Result, Status extends number, Body> {
  /** Checks the request and records the coming effect. An error rolls everything back. */
  begin(handle: Transaction): Promise<Begun>;
  /** Carries out the effect. An error releases the idempotency key; the writes of `begin` stay. */
  send(begun: Begun): Promise<Result>;
  end(handle: Transaction, begun: Begun, sent: Result): Promise<CommittedResponse<Status, Body>>;
}

/** Caller with a valid API key, or a member who is signed in to the dashboard. */
export interface ApiCaller extends Credential {
  /** Recorded with each decision of the merchant (Decision 345). */
  readonly actor: Actor;
  /** Records what the request changes. Both commits call it. */
  readonly recordChange: RecordChange;
  /** `If-Match`: the version of the record that the caller has read. */
  readonly ifMatch: string | undefined;
  /**
   * Runs an effect in one transaction. With an idempotency key, the answer is stored in the same transaction (Decision
   * 106). `work` may run more than once, so it uses nothing but its handle and creates ids and secrets inside.
   */
  readonly commit: <Status extends number, Body>(
    work: (handle: Transaction) => Promise<CommittedResponse<Status, Body>>,
  ) => Promise<CommittedResponse<Status, Body>>;
  /**
   * The same for an effect that must not be in a transaction. An idempotency key is taken before the effect. If our process ends in
   * between, requests with the key get `idempotency_conflict` for one minute and may then have the effect again.
   */
  readonly commitAround: <Begun, Result, Status extends number, Body>(
    effect: TwoPhaseAction<Begun, Result, Status, Body>,
  ) => Promise<CommittedResponse<Status, Body>>;
}

/** A payer, who needs no key. */
export interface AnonymousCaller {
  readonly client: Client;
  /** `Origin` of the requesting page. Undefined for other clients and for GET requests of our own pages. */
  readonly origin: string | undefined;
  /** `If-None-Match`: the state that the payer already has. */
  readonly ifNoneMatch: string | undefined;
  /** Returns a signal that aborts when the payer disconnects. */
  readonly hungUp: () => AbortSignal;
}

/** Handlers of operations of the API. */
export type ApiHandlers = Partial<PaymentsHandlers<ApiCaller, AnonymousCaller>>;
