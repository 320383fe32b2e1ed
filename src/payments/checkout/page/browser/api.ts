import createClient from 'openapi-fetch';
import type { components, paths } from '#generated/payments/types.ts';

/** The operations that a payer needs, which take no key, at the address of the page. */
export const api = createClient<paths>({ baseUrl: location.origin });

/** How long an answer may take that the server does not hold back, in milliseconds. */
export const ANSWER_MS = 15_000;

type Schemas = components['schemas'];
export type CheckoutStart = Schemas['CheckoutStart'];
export type CheckoutState = Schemas['CheckoutState'];

/** What the page of a session tells its script about the checkout. */
export interface CheckoutFacts {
  readonly id: string;
  readonly chain: Pick<Schemas['CheckoutChain'], 'id' | 'name'>;
  readonly token: Schemas['CheckoutToken'];
  readonly recipient_address: string;
}

/** A session that its page follows. */
export interface FollowedSession {
  readonly checkout: CheckoutFacts;
  /** The state that the page shows. */
  readonly state: () => CheckoutState;
  /** Shows a state when it is new. Rejects when the page cannot be renewed. */
  readonly learn: (state: CheckoutState) => Promise<void>;
}

/** The path parameters of a session's operations. */
export function pathOf({ checkout }: Pick<FollowedSession, 'checkout'>) {
  return { checkout_session_id: checkout.id };
}
