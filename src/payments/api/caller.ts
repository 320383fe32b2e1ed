import type { Transaction } from '../../db/open.ts';
import type { Client } from '../../http/client-address.ts';
import type { Permission } from '../model/api-key.ts';
import type { Owner, Tier } from '../model/owner.ts';

/** An answer that is kept for as long as its idempotency key is. */
export interface Committed<Status extends number, Body> {
  readonly status: Status;
  readonly body: Body;
}

/** Who sends a request with a valid API key. */
export interface Known extends Owner {
  readonly keyId: string;
  readonly permission: Permission;
  readonly tier: Tier;
  /**
   * Runs an effect in one transaction; with an idempotency key its answer is kept in the same one (Decision 106). `work`
   * may run more than once: it touches nothing but its handle, and makes ids and secrets inside.
   */
  readonly commit: <Status extends number, Body>(
    work: (handle: Transaction) => Promise<Committed<Status, Body>>,
  ) => Promise<Committed<Status, Body>>;
}

/** A payer, who needs no key. */
export interface Visitor {
  readonly client: Client;
}
