import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import type { Db } from '../../db/open.ts';
import type { SessionState } from '../model/session.ts';
import { sessionStates } from '../sessions/session-store.ts';
import { checkoutState } from './bodies.ts';

/** True while payments on a chain are seen late. Decision 131. */
export type IsChainLate = (chainId: number) => Promise<boolean>;

export type CheckoutState = PaymentsSchemas['CheckoutState'];

/** States of checkouts as payers see them, by session id. Unknown ids are left out. */
export function shownStates({ db, isChainLate }: { db: Db; isChainLate: IsChainLate }) {
  return async (ids: readonly string[]): Promise<ReadonlyMap<string, CheckoutState>> => {
    const stored = [...(await sessionStates(db, ids)).values()];
    const shown = await Promise.all(stored.map(state => shownState(state, isChainLate)));
    return new Map(shown.map(state => [state.id, state]));
  };
}

/** State of a checkout as its payer sees it. */
export async function shownState(session: SessionState, isChainLate: IsChainLate): Promise<CheckoutState> {
  return checkoutState(session, { isChainLate: await isChainLate(session.chainId) });
}
