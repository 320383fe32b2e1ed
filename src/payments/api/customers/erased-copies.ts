import { setImmediate } from 'node:timers/promises';
import type { Db, Transaction } from '#db/open.ts';
import { execute } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import type { NoticePayload } from '../../model/notification.ts';
import type { Owner } from '../../model/owner.ts';
import { noticeOf, sealedPayload } from '../../notifications/store/notice-store.ts';
import type { Seals } from '../../secrets/sealed.ts';
import { SealError } from '../../secrets/sealed.ts';
import type { NoticeRow } from '../../tables/event-tables.ts';
import { select } from '../../tables/select.ts';
import { idempotencyStore } from '../gate/idempotency-store.ts';
import { namesSession, withoutPayer, withoutPayerFields } from './erased-data.ts';

/** Rows that one transaction looks at, so that other writers do not wait long. */
const BATCH = 300;

interface ErasedCopies {
  readonly owner: Owner;
  readonly sessionIds: ReadonlySet<string>;
}

/**
 * Erases what the payer of some sessions wrote from notices and from answers of idempotency keys. Their contents are
 * sealed and not found by session, so all those of the owner are opened: of 30 days, and of one day.
 */
export async function eraseCopies(db: Db, seals: Seals, copies: ErasedCopies): Promise<void> {
  let last: NoticeRow | undefined;
  do {
    last = await transaction(db, handle => eraseNotices(handle, seals, copies, last));
    await setImmediate();
  } while (last !== undefined);
  let key: string | undefined = '';
  do {
    const after: string = key;
    key = await transaction(db, handle => eraseAnswers(handle, seals, copies, after));
    await setImmediate();
  } while (key !== undefined);
}

/** Erases from the notices after a given one. Returns the last of them; undefined at the end. */
async function eraseNotices(
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
    else {
      const sql = 'update notices set sealed_payload = ? where id = ?';
      await execute(handle, sql, [sealedPayload(row.id, erased, seals), row.id]);
    }
  }
  return rows.length < BATCH ? undefined : rows.at(-1);
}

/** A notice without what the payer wrote; undefined for a mail to the payer. */
function erasedNotice(payload: NoticePayload, sessionIds: ReadonlySet<string>): NoticePayload | undefined {
  if (payload.kind === 'payment') {
    return { ...payload, event: { ...payload.event, data: withoutPayer(payload.event.data) } };
  }
  if (payload.kind !== 'attention') return undefined;
  const events = payload.events.map(event =>
    namesSession(JSON.stringify(event.data), sessionIds)
      ? { ...event, data: withoutPayer(event.data) }
      : event,
  );
  return { ...payload, events };
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
      await store.replaceBody(owner, key, withoutPayerFields(stored.body));
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
