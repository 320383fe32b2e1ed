import { setImmediate } from 'node:timers/promises';
import type { Db, Transaction } from '#db/open.ts';
import { execute } from '#db/query.ts';
import { placeholders } from '#db/rows.ts';
import { transaction } from '#db/transaction.ts';
import type { Clock } from '#lib/clock.ts';
import type { Owner } from '../../model/owner.ts';
import { NO_CUSTOMER_ID } from '../../model/session.ts';
import type { Seals } from '../../secrets/sealed.ts';
import { identifyCustomers } from '../../sessions/unidentified-sessions.ts';
import { ownedRow } from '../../store/list-query.ts';
import { select } from '../../tables/select.ts';
import { eraseCopies } from './erased-copies.ts';
import { eraseEvents } from './erased-events.ts';

/** Sessions that one transaction erases, so that other writers do not wait long. */
const BATCH = 20;
/** Sessions of older versions that one transaction identifies. */
const IDENTIFIED_AT_ONCE = 200;
/** Age from which retention continues an erasing, in milliseconds. */
const STALLED_MS = 60_000;

interface ErasureDeps {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
}

/**
 * Erases customers and what they wrote (Decision 437). A customer is gone with `begin`. The rest follows in transactions of
 * bounded size, and each step can be repeated: sessions keep the customer's id until nothing else is left.
 */
export function customerErasures({ db, seals, clock }: ErasureDeps) {
  const finish = async (id: string): Promise<void> => {
    const [owner] = await erasures.rows(db, 'where customer_id = ?', [id]);
    if (owner === undefined) return;
    const { organization_id: organizationId, mode } = owner;
    const isOwn = {
      sql: 'organization_id = ? and mode = ? and customer_id = ?',
      bindings: [organizationId, mode, id],
    };
    await repeat(() => transaction(db, handle => eraseSessions(handle, seals, isOwn)));
    const sessions = await select({ from: 'checkout_sessions', columns: ['id'] }).rows(
      db,
      `where ${isOwn.sql}`,
      isOwn.bindings,
    );
    const sessionIds = new Set(sessions.map(one => one.id));
    await eraseCopies(db, seals, { owner: { organizationId, mode }, sessionIds });
    await repeat(() => transaction(db, handle => detachSessions(handle, isOwn)));
    await execute(db, 'delete from customer_erasures where customer_id = ?', [id]);
  };

  return {
    /** Identifies sessions of older versions, so that none of the customer is left out. */
    prepare: () => repeat(() => identifyCustomers(db, seals, IDENTIFIED_AT_ONCE)),

    /** Removes the customer. False when the owner has none with this id, also none that is being erased. */
    async begin(handle: Transaction, owner: Owner, id: string): Promise<boolean> {
      const { sql, bindings } = ownedRow(owner, id);
      const { organizationId, mode } = owner;
      if ((await execute(handle, `delete from customers where ${sql}`, bindings)) === 1) {
        await handle('customer_erasures').insert({
          customer_id: id,
          organization_id: organizationId,
          mode,
          started_at: clock.now(),
        });
        return true;
      }
      const isOwn = 'where customer_id = ? and organization_id = ? and mode = ?';
      return (await erasures.rows(handle, isOwn, [id, organizationId, mode])).length === 1;
    },

    /** Erases what is left of a customer that was removed. */
    finish,

    /** Finishes erasings whose process has ended. Returns their number. */
    async finishStalled(): Promise<number> {
      const stalled = await erasures.rows(db, 'where started_at < ?', [clock.now() - STALLED_MS]);
      for (const { customer_id: id } of stalled) await finish(id);
      return stalled.length;
    },
  };
}

const erasures = select({
  from: 'customer_erasures',
  columns: ['customer_id', 'organization_id', 'mode'],
});

async function repeat(step: () => Promise<number>): Promise<void> {
  while ((await step()) > 0) await setImmediate();
}

/** Erases some sessions of a customer, with their events and deliveries. Returns their number. */
async function eraseSessions(handle: Transaction, seals: Seals, isOwn: Condition): Promise<number> {
  const sessions = await select({ from: 'checkout_sessions', columns: ['id', 'deposit_address'] }).rows(
    handle,
    `where ${isOwn.sql} and (sealed_customer is not null or client_hash is not null) limit ${BATCH}`,
    isOwn.bindings,
  );
  for (const session of sessions) await eraseEvents(handle, seals, session);
  if (sessions.length > 0) {
    await execute(
      handle,
      `update checkout_sessions set sealed_customer = null, client_hash = null
       where id in (${placeholders(sessions.length)})`,
      sessions.map(({ id }) => id),
    );
  }
  return sessions.length;
}

interface Condition {
  readonly sql: string;
  readonly bindings: readonly string[];
}

/** Takes some sessions from a customer. Returns their number. */
function detachSessions(handle: Transaction, isOwn: Condition): Promise<number> {
  return execute(
    handle,
    `update checkout_sessions set customer_id = ?
     where id in (select id from checkout_sessions where ${isOwn.sql} limit 500)`,
    [NO_CUSTOMER_ID, ...isOwn.bindings],
  );
}
