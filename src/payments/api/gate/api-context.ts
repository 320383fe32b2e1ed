import type { Db } from '#db/open.ts';
import type { Clock } from '#lib/clock.ts';
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
