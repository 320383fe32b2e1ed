import { setImmediate } from 'node:timers/promises';
import type { Db, Transaction } from '#db/open.ts';
import { execute } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import type { PaymentEvent } from '../../model/event.ts';
import type { NoticePayload } from '../../model/notification.ts';
import type { Owner } from '../../model/owner.ts';
import { noticeOf, sealedPayload } from '../../notifications/store/notice-store.ts';
import type { Seals } from '../../secrets/sealed.ts';
import { SealError } from '../../secrets/sealed.ts';
import type { NoticeRow } from '../../tables/event-tables.ts';
import { select } from '../../tables/select.ts';
import { idempotencyStore } from '../gate/idempotency-store.ts';
import { isOfSession, namesSession, withoutPayer, withoutPayerFields } from './erased-data.ts';

/** Rows that one transaction looks at, so that other writers do not wait long. */
const BATCH = 300;

/** Sessions whose copies are erased. */
interface ErasedCopies {
  readonly owner: Owner;
  readonly sessionIds: ReadonlySet<string>;
}

/**
 * Erases what the payer of some sessions wrote from notices and from answers of idempotency keys. Their contents are
 * sealed and not found by session, so all those of the owner are opened: of 30 days, and of one day. False when the signal
 * aborted before the last one.
 */
export async function eraseCopies(
  db: Db,
  seals: Seals,
  copies: ErasedCopies,
  signal: AbortSignal,
): Promise<boolean> {
  if (!(await eraseNotices(db, seals, copies, signal))) return false;
  let key: string | undefined = '';
  do {
    if (signal.aborted) return false;
    const after: string = key;
    key = await transaction(db, handle => eraseAnswers(handle, seals, copies, after));
    await setImmediate();
  } while (key !== undefined);
  return true;
}

/** Erases what the payer of some sessions wrote from notices. False when the signal aborted before the last one. */
export async function eraseNotices(
  db: Db,
  seals: Seals,
  copies: ErasedCopies,
  signal: AbortSignal,
): Promise<boolean> {
  let last: NoticeRow | undefined;
  do {
    if (signal.aborted) return false;
    last = await transaction(db, handle => eraseSomeNotices(handle, seals, copies, last));
    await setImmediate();
  } while (last !== undefined);
  return true;
}

/** Erases what the payer wrote from the notices of a single event. */
export async function eraseNoticesOf(
  handle: Transaction,
  seals: Seals,
  { id }: Pick<PaymentEvent, 'id'>,
): Promise<void> {
  for (const row of await select({ from: 'notices', columns: ['*'] }).rows(handle, 'where event_id = ?', [
    id,
  ])) {
    const payload = opened(() => noticeOf(row, seals).payload);
    if (payload?.kind === 'payment') await writeNotice(handle, seals, row, withoutPayerOf(payload));
  }
}

/** Erases from the notices after a given one. Returns the last of them; undefined at the end. */
async function eraseSomeNotices(
  handle: Transaction,
  seals: Seals,
  { owner, sessionIds }: ErasedCopies,
  after: NoticeRow | undefined,
): Promise<NoticeRow | undefined> {
  const rows = await select({ from: 'notices', columns: ['*'] }).rows(
    handle,
    `where (created_at, id) > (?, ?) and organization_id = ? and mode = ? order by created_at, id limit ${BATCH}`,
    [after?.created_at ?? 0, after?.id ?? '', owner.organizationId, owner.mode],
  );
  for (const row of rows) {
    const payload = opened(() => noticeOf(row, seals).payload);
    if (payload === undefined || !namesSession(JSON.stringify(payload), sessionIds)) continue;
    const erased = erasedNotice(payload, sessionIds);
    if (erased === undefined) await execute(handle, 'delete from notices where id = ?', [row.id]);
    else if (erased !== payload) await writeNotice(handle, seals, row, erased);
  }
  return rows.length < BATCH ? undefined : rows.at(-1);
}

async function writeNotice(
  handle: Transaction,
  seals: Seals,
  { id }: Pick<NoticeRow, 'id'>,
  payload: NoticePayload,
): Promise<void> {
  const sql = 'update notices set sealed_payload = ? where id = ?';
  await execute(handle, sql, [sealedPayload(id, payload, seals), id]);
}

/** A notice without what the payers of some sessions wrote; undefined for a mail to one of them. */
function erasedNotice(payload: NoticePayload, sessionIds: ReadonlySet<string>): NoticePayload | undefined {
  switch (payload.kind) {
    case 'payment':
      return isOfSession(payload.event.data, sessionIds) ? withoutPayerOf(payload) : payload;
    case 'customer':
      return isOfSession(payload.event.data, sessionIds) ? undefined : payload;
    case 'refund_link':
      return namesSession(payload.url, sessionIds) ? undefined : payload;
    case 'attention':
      return {
        ...payload,
        events: payload.events.map(event =>
          isOfSession(event.data, sessionIds) ? { ...event, data: withoutPayer(event.data) } : event,
        ),
      };
    default:
      return payload;
  }
}

function withoutPayerOf(payload: Extract<NoticePayload, { kind: 'payment' }>): NoticePayload {
  return { ...payload, event: { ...payload.event, data: withoutPayer(payload.event.data) } };
}

/** Erases from the answers of the keys after a given one. Returns the last of them; undefined at the end. */
async function eraseAnswers(
  handle: Transaction,
  seals: Seals,
  { owner, sessionIds }: ErasedCopies,
  after: string,
): Promise<string | undefined> {
  const { organizationId, mode } = owner;
  const rows = await select({ from: 'idempotency_keys', columns: ['key'] }).rows(
    handle,
    `where organization_id = ? and mode = ? and key > ? order by key limit ${BATCH}`,
    [organizationId, mode, after],
  );
  const store = idempotencyStore(handle, seals);
  for (const { key } of rows) {
    try {
      const stored = await store.find(owner, key);
      if (stored === undefined || stored.isStarted || !namesSession(stored.body, sessionIds)) continue;
      await store.replaceBody(owner, key, withoutPayerFields(stored.body, sessionIds));
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
    }
  }
  return rows.length < BATCH ? undefined : rows.at(-1)?.key;
}

/** Undefined for a value whose key is lost, which nobody can read. */
export function opened<T>(open: () => T): T | undefined {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    return undefined;
  }
}
