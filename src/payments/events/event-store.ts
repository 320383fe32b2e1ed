import { jsonOf } from '../../db/columns.ts';
import type { Handle, Transaction } from '../../db/open.ts';
import { execute, type Sql } from '../../db/query.ts';
import { insertRows, placeholders } from '../../db/rows.ts';
import { announce } from '../../db/woken-worker.ts';
import { DAY_MS } from '../../lib/clock.ts';
import type { EventData, EventType, PaymentEvent } from '../model/event.ts';
import type { Owner } from '../model/owner.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { SealedCell, Seals } from '../secrets/sealed.ts';
import {
  allOf,
  type ListPage,
  type ListPageRequest,
  optionalCondition,
  ownedBy,
  ownedRow,
  paged,
} from '../store/list-query.ts';
import type { EventRow } from '../tables/event-tables.ts';
import { select } from '../tables/select.ts';
import type { SessionRow } from '../tables/session-tables.ts';
import { typedFormData } from './event-data.ts';

/** Retention of events, in milliseconds. They stay readable for 90 days (Decision 113). */
export const EVENT_LIFETIME_MS = 90 * DAY_MS;

/** An event, the fact that it reports, and its order among events of the same millisecond. */
export interface NewEvent {
  readonly event: PaymentEvent;
  /** For example `cs_…:completed`. Each fact is reported once, even when it is found repeatedly. */
  readonly fact: string;
  readonly order: number;
}

const COLUMNS = [
  'id',
  'organization_id',
  'mode',
  'type',
  'fact',
  'sealed_data',
  'created_at',
  'place',
  'next_attempt_at',
] as const;

/** Filters of a list of events. Times are UTC milliseconds. */
interface EventFilters {
  readonly type?: EventType | undefined;
  readonly sessionId?: string | undefined;
  readonly since: number;
  readonly to?: number | undefined;
}

/** Events as receivers get them. Their data is stored encrypted. */
export function eventStore(handle: Handle, seals: Seals) {
  return {
    /** Drops events of facts that were reported before. */
    async insert(events: readonly NewEvent[]): Promise<void> {
      if (events.length === 0) return;
      const rows = events.map(({ event, fact, order }) => [
        event.id,
        event.organizationId,
        event.mode,
        event.type,
        fact,
        sealedEventData(event, seals),
        event.createdAt,
        order,
        // `next_attempt_at`: due for the relay at once.
        event.createdAt,
      ]);
      const into = { table: 'events', columns: COLUMNS, suffix: 'on conflict (fact) do nothing' };
      await insertRows(handle, into, rows);
      announce(handle, 'events');
    },

    /** Makes the events of a payment that is to be removed events of its session, by which they are found then. */
    async leaveToSession({ id, sessionId }: Pick<PaymentTransaction, 'id' | 'sessionId'>): Promise<void> {
      const sql = 'update events set fact = ? || fact where fact >= ? and fact < ?';
      await execute(handle, sql, [`${sessionId}:`, `${id}:`, `${id};`]);
    },

    async find(owner: Owner, id: string): Promise<PaymentEvent | undefined> {
      const { sql, bindings } = ownedRow(owner, id);
      const [row] = await select({ from: 'events', columns: ['*'] }).rows(handle, `where ${sql}`, bindings);
      return row && eventOf(row, seals);
    },

    /** Newest first, from `since` (inclusive) to `to` (exclusive). */
    list(
      owner: Owner,
      { type, sessionId, since, to }: EventFilters,
      page: ListPageRequest,
    ): Promise<ListPage<PaymentEvent>> {
      const where = allOf([
        ownedBy(owner),
        optionalCondition('created_at >= ?', since),
        optionalCondition('created_at < ?', to),
        optionalCondition('type = ?', type),
        sessionId === undefined ? undefined : ofSession(sessionId),
      ]);
      const listing = { table: 'events', where, order: 'created_at desc, place desc, id desc' } as const;
      return paged(handle, listing, page, row => eventOf(row, seals));
    },
  };
}

/**
 * Events whose fact begins with the id of a session, of one of its refunds, or of a payment that was its own at that time
 * (Decision 369).
 */
function ofSession(id: string): Sql {
  return {
    sql: `id in (
      select e.id from events e where e.fact >= ? and e.fact < ?
      union all
      select e.id from transactions t join events e on e.fact >= t.id || ':' and e.fact < t.id || ';'
      where t.session_id = ? and e.created_at >= coalesce((
        select max(m.moved_at) from payment_moves m where m.transaction_id = t.id
      ), 0)
      union all
      select e.id from payment_moves m
      join events e on e.fact >= m.transaction_id || ':' and e.fact < m.transaction_id || ';'
      where m.session_id = ? and e.created_at >= m.since and e.created_at < m.moved_at
      union all
      select e.id from refunds r join events e on e.fact >= r.id || ':' and e.fact < r.id || ';'
      where r.session_id = ?
    )`,
    bindings: [`${id}:`, `${id};`, id, id, id],
  };
}

/** Rows of all events with data of a session's payer, those of sweeps of its deposit address included. */
export async function eventRowsOfSession(
  handle: Handle,
  { id, deposit_address: address }: Pick<SessionRow, 'id' | 'deposit_address'>,
): Promise<EventRow[]> {
  const { sql, bindings } = ofSession(id);
  return select({ from: 'events', columns: ['*'] }).rows(
    handle,
    `where ${sql} or id in (
       select e.id from sweeps s join events e
         on e.fact = s.chain_id || ':' || s.tx_hash || ':' || s.log_index || ':swept'
       where s.address = ?
     )`,
    [...bindings, address],
  );
}

/**
 * Rows of these events, in the order of occurrence, for copies of them. They are written as they are, so that on PostgreSQL
 * an erasing of their data comes before or after the transaction: a lock alone would let the erasing miss the copies.
 */
export async function copiedEventRows(handle: Transaction, ids: readonly string[]): Promise<EventRow[]> {
  if (ids.length === 0) return [];
  const rows = await select({ from: 'events', columns: ['*'] }).changed(
    handle,
    `update events set place = place where id in (${placeholders(ids.length)})`,
    ids,
  );
  return rows.sort((a, b) => a.created_at - b.created_at || a.place - b.place || (a.id < b.id ? -1 : 1));
}

/** Converts a row to an event. @throws SealError */
export function eventOf(row: EventRow, seals: Seals): PaymentEvent {
  const data = jsonOf<EventData>(seals.open(row.sealed_data, cellOf(row.id)));
  return {
    id: row.id,
    organizationId: row.organization_id,
    mode: row.mode,
    type: row.type,
    createdAt: row.created_at,
    data: inForm(data),
  };
}

/** Fields that a `checkout.completed` of an older version lacks. */
const NOT_ACCEPTED = { accepted_at: null, accepted_by: null, accepted_reason: null };

/** Data of a stored event in the contract's form. Older events may lack a field. */
function inForm(data: EventData): EventData {
  const { checkoutSession: session } = data;
  if (session !== null) {
    data.checkoutSession = { ...session, name: session.name ?? null, outcome: session.outcome ?? null };
  }
  if ('form_data' in data) {
    const accepted = 'total' in data ? { ...NOT_ACCEPTED, ...data } : data;
    return { ...accepted, form_data: typedFormData(data.form_data) };
  }
  return 'expired_at' in data ? { ...data, ended_reason: data.ended_reason ?? null } : data;
}

/** The data of an event as it is stored. */
export function sealedEventData({ id, data }: Pick<PaymentEvent, 'id' | 'data'>, seals: Seals): string {
  return seals.seal(JSON.stringify(data), cellOf(id));
}

function cellOf(id: string): SealedCell {
  return { table: 'events', column: 'sealed_data', id };
}
