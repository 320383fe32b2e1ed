import { setImmediate } from 'node:timers/promises';
import type { Db, Transaction } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import type { PaymentEvent } from '../../model/event.ts';
import type { Seals } from '../../secrets/sealed.ts';
import type { SessionRow } from '../../tables/session-tables.ts';
import { eraseNotices } from './erased-copies.ts';
import { eraseEvents } from './erased-events.ts';

/** Sessions that one transaction erases, so that other writers do not wait long. */
const BATCH = 20;

/** A session that is to be removed. */
type RemovedSession = Pick<SessionRow, 'id' | 'deposit_address' | 'organization_id' | 'mode'>;

/**
 * Erases what the payers of some sessions wrote from events, deliveries and notices, which may outlive these sessions.
 * Call it before the sessions are removed: without them, nothing ties the rest to a customer (Decision 460). It can be repeated.
 * False when the signal aborted before the end.
 */
export async function erasePayers(
  db: Db,
  seals: Seals,
  sessions: readonly RemovedSession[],
  signal: AbortSignal,
): Promise<boolean> {
  const noticed: RemovedSession[] = [];
  for (let index = 0; index < sessions.length; index += BATCH) {
    if (signal.aborted) return false;
    const some = sessions.slice(index, index + BATCH);
    noticed.push(...(await transaction(db, handle => eraseSome(handle, seals, some))));
    await setImmediate();
  }
  const byOwner = Map.groupBy(noticed, one => `${one.organization_id} ${one.mode}`);
  for (const ofOwner of byOwner.values()) {
    const [first] = ofOwner;
    if (first === undefined) continue;
    const { organization_id: organizationId, mode } = first;
    const sessionIds = new Set(ofOwner.map(({ id }) => id));
    const owner = { organizationId, mode };
    if (!(await eraseNotices(db, seals, { owner, sessionIds }, signal))) return false;
  }
  return true;
}

/** Returns the sessions that may be in notices that no event names. */
async function eraseSome(
  handle: Transaction,
  seals: Seals,
  sessions: readonly RemovedSession[],
): Promise<RemovedSession[]> {
  const noticed: RemovedSession[] = [];
  for (const session of sessions) {
    const events = await eraseEvents(handle, seals, session);
    if (events.some(hasOtherNotices)) noticed.push(session);
  }
  return noticed;
}

/**
 * True when the payer may have got a mail, or the event may be in a notice about several. Reading all notices of an owner is
 * long, and most unpaid sessions have no such event.
 */
function hasOtherNotices({ type, data }: PaymentEvent): boolean {
  if (type === 'checkout.expired') return data.checkoutSession?.outcome === 'sold_out';
  return type !== 'payment.failed';
}
