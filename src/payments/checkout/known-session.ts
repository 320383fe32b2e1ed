import { paymentsError } from '../../contract/contracts/payments-errors.ts';
import type { HttpError } from '../../http/errors.ts';
import type { CheckoutSession } from '../model/session.ts';
import type { SessionStore } from '../sessions/session-store.ts';

/** The session behind an id, which whoever knows it may see and pay. @throws HttpError 404 */
export async function knownSession(
  sessions: Pick<SessionStore, 'findById'>,
  id: string,
): Promise<CheckoutSession> {
  const session = await sessions.findById(id);
  if (session !== undefined) return session;
  throw noSession(id);
}

/** The refusal for an id that no session has. */
export function noSession(id: string): HttpError {
  return paymentsError('resource_not_found', `No checkout_session with id '${id}'.`);
}
