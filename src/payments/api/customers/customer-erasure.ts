import { setImmediate } from 'node:timers/promises';
import type { Db, Handle, Transaction } from '#db/open.ts';
import { execute } from '#db/query.ts';
import { placeholders } from '#db/rows.ts';
import { transaction } from '#db/transaction.ts';
import type { Clock } from '#lib/clock.ts';
import { customerStore } from '../../customers/customer-store.ts';
import type { Owner } from '../../model/owner.ts';
import { NO_CUSTOMER_ID } from '../../model/session.ts';
import type { Seals } from '../../secrets/sealed.ts';
import { identifyCustomers } from '../../sessions/unidentified-sessions.ts';
import { ownedRow } from '../../store/list-query.ts';
import { select } from '../../tables/select.ts';
import type { SessionRow } from '../../tables/session-tables.ts';
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
  const finish = async (id: string, signal: AbortSignal): Promise<boolean> => {
    const [owner] = await erasures.rows(db, 'where customer_id = ?', [id]);
    if (owner === undefined) return true;
    const { organization_id: organizationId, mode } = owner;
    const isOwn = {
      sql: 'organization_id = ? and mode = ? and customer_id = ?',
      bindings: [organizationId, mode, id],
    };
    const sessionIds = await eraseSessions(db, seals, isOwn, signal);
    if (sessionIds === undefined) return false;
    const copies = { owner: { organizationId, mode }, sessionIds };
    if (!(await eraseCopies(db, seals, copies, signal))) return false;
    const detach = () => transaction(db, handle => detachSessions(handle, isOwn));
    if (!(await repeated(detach, signal))) return false;
    await execute(db, 'delete from customer_erasures where customer_id = ?', [id]);
    return true;
  };

  const isBegun = async (handle: Handle, { organizationId, mode }: Owner, id: string): Promise<boolean> => {
    const isOwn = 'where customer_id = ? and organization_id = ? and mode = ?';
    return (await erasures.rows(handle, isOwn, [id, organizationId, mode])).length === 1;
  };

  return {
    /** True for a customer of the owner, and for one that is being erased. */
    async isKnown(owner: Owner, id: string): Promise<boolean> {
      return (await customerStore(db, seals).find(owner, id)) !== undefined || isBegun(db, owner, id);
    },

    /**
     * Identifies the owner's sessions of older versions, so that none of the customer is left out. False when the signal
     * aborted before the last one.
     */
    prepare: (owner: Owner, signal: AbortSignal): Promise<boolean> =>
      repeated(() => identifyCustomers(db, seals, { limit: IDENTIFIED_AT_ONCE, owner }), signal),

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
      return isBegun(handle, owner, id);
    },

    /** Erases what is left of a customer that was removed. False when the signal aborted before the end. */
    finish,

    /** Continues the oldest erasing whose process or request has ended. Returns 0 when there is none. */
    async finishStalled(signal: AbortSignal): Promise<number> {
      const stalled = await erasures.rows(db, 'where started_at < ? order by started_at limit 1', [
        clock.now() - STALLED_MS,
      ]);
      for (const { customer_id: id } of stalled) await finish(id, signal);
      return stalled.length;
    },
  };
}

const erasures = select({
  from: 'customer_erasures',
  columns: ['customer_id', 'organization_id', 'mode'],
});

/** Repeats a step until it finds no more rows. False when the signal aborted before. */
async function repeated(step: () => Promise<number>, signal: AbortSignal): Promise<boolean> {
  while ((await step()) > 0) {
    if (signal.aborted) return false;
    await setImmediate();
  }
  return true;
}

/** Erases the sessions of a customer, with their events and deliveries. Returns their ids; undefined after an abort. */
async function eraseSessions(
  db: Db,
  seals: Seals,
  isOwn: Condition,
  signal: AbortSignal,
): Promise<Set<string> | undefined> {
  const ids = new Set<string>();
  let last: Pick<SessionRow, 'created_at' | 'id'> | undefined;
  do {
    const after = last;
    const sessions = await transaction(db, handle => eraseSome(handle, seals, isOwn, after));
    for (const { id } of sessions) ids.add(id);
    last = sessions.length < BATCH ? undefined : sessions.at(-1);
    if (last !== undefined && signal.aborted) return undefined;
    await setImmediate();
  } while (last !== undefined);
  return ids;
}

/** Erases the sessions of a customer after a given one. Returns those that it looked at, at most a batch. */
async function eraseSome(
  handle: Transaction,
  seals: Seals,
  isOwn: Condition,
  after: Pick<SessionRow, 'created_at' | 'id'> | undefined,
) {
  const sessions = await select({
    from: 'checkout_sessions',
    columns: ['id', 'created_at', 'deposit_address', 'sealed_customer', 'client_hash'],
  }).rows(handle, `where ${isOwn.sql} and (created_at, id) > (?, ?) order by created_at, id limit ${BATCH}`, [
    ...isOwn.bindings,
    after?.created_at ?? 0,
    after?.id ?? '',
  ]);
  const unerased = sessions.filter(one => one.sealed_customer !== null || one.client_hash !== null);
  for (const session of unerased) await eraseEvents(handle, seals, session);
  if (unerased.length > 0) {
    await execute(
      handle,
      `update checkout_sessions set sealed_customer = null, client_hash = null
       where id in (${placeholders(unerased.length)})`,
      unerased.map(({ id }) => id),
    );
  }
  return sessions;
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
