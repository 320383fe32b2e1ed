import type { Db, Transaction } from '#db/open.ts';
import type { Client } from '#http/client-address.ts';
import type { Clock } from '#lib/clock.ts';
import type { Permission } from '../../keys/api-key.ts';
import type { MerchantIdentity, Owner, Tier } from '../../model/owner.ts';
import type { PaymentChains } from '../../model/payment-chain.ts';
import type { Seals } from '../../secrets/sealed.ts';

/** What the API's handlers are made from. */
export interface PaymentsContext {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly chains: PaymentChains;
  /** The address payers and API clients use, without a slash at the end. */
  readonly publicUrl: string;
  /** How long a payer has unless a request says otherwise. */
  readonly sessionLifetimeMs: number;
}

/** An answer that is kept for as long as its idempotency key is. */
export interface CommittedResponse<Status extends number, Body> {
  readonly status: Status;
  readonly body: Body;
}

/**
 * An effect outside of the database, such as a request to a receiver: what is written before it and after it, each in a
 * transaction of its own. Both may run more than once, like the work of `commit`; `send` runs once, in no transaction.
 */
export interface TwoPhaseAction<Begun, Sent, Status extends number, Body> {
  /** Judges, and takes down what is about to happen. What it throws leaves nothing behind. */
  begin(handle: Transaction): Promise<Begun>;
  /** What it throws frees an idempotency key; what `begin` wrote stays. */
  send(begun: Begun): Promise<Sent>;
  end(handle: Transaction, begun: Begun, sent: Sent): Promise<CommittedResponse<Status, Body>>;
}

/** Who sends a request with a valid API key. */
export interface ApiCaller extends Owner {
  readonly keyId: string;
  readonly permission: Permission;
  readonly tier: Tier;
  /** The organization as payers saw it when the request was authenticated. */
  readonly merchant: MerchantIdentity;
  /**
   * Runs an effect in one transaction; with an idempotency key its answer is kept in the same one (Decision 106). `work`
   * may run more than once: it touches nothing but its handle, and makes ids and secrets inside.
   */
  readonly commit: <Status extends number, Body>(
    work: (handle: Transaction) => Promise<CommittedResponse<Status, Body>>,
  ) => Promise<CommittedResponse<Status, Body>>;
  /**
   * The same for an effect outside of the database. An idempotency key is taken before it: when our process ends in between,
   * requests with the key are `idempotency_conflict` for a minute and may then have the effect again.
   */
  readonly commitAround: <Begun, Sent, Status extends number, Body>(
    effect: TwoPhaseAction<Begun, Sent, Status, Body>,
  ) => Promise<CommittedResponse<Status, Body>>;
}

/** A payer, who needs no key. */
export interface AnonymousCaller {
  readonly client: Client;
  /** `Origin` of the page that asks; undefined for other clients and for pages of our own that read. */
  readonly origin: string | undefined;
  /** `If-None-Match`: the state that the payer holds already. */
  readonly ifNoneMatch: string | undefined;
  /** A signal that aborts when the payer hangs up. */
  readonly hungUp: () => AbortSignal;
}
