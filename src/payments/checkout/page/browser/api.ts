import createClient from 'openapi-fetch';
import type { components, paths } from '#generated/payments/types.ts';

/** Client of the payer's operations, which need no key, at the page's origin. */
export const payerApi = createClient<paths>({ baseUrl: location.origin });

/** Timeout of a request that the server does not hold open, in milliseconds. */
export const ANSWER_MS = 15_000;

type Schemas = components['schemas'];
export type CheckoutState = Schemas['CheckoutState'];

/** A session that its page follows. */
export interface FollowedSession {
  readonly checkout: Schemas['Checkout'];
  /** The state that the page shows. */
  readonly state: () => CheckoutState;
  /** Shows a state when it is new. Rejects when the page cannot be loaded again. */
  readonly learn: (state: CheckoutState) => Promise<void>;
}

/** The path parameters of a session's operations. */
export function pathOf({ checkout }: Pick<FollowedSession, 'checkout'>) {
  return { checkout_session_id: checkout.id };
}
