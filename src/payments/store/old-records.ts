import type { Db, Handle } from '../../db/open.ts';
import { execute, rowsOf } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { transaction } from '../../db/transaction.ts';

/** Records up to an age: those before a time (UTC milliseconds), at most `limit` of them, the oldest first. */
export interface OldRecords {
  readonly before: number;
  readonly limit: number;
}

/** Removes old events of all organizations and modes. Answers with their number. */
export function removeOldEvents(handle: Handle, { before, limit }: OldRecords): Promise<number> {
  return execute(
    handle,
    'delete from events where id in (select id from events where created_at < ? order by created_at limit ?)',
    [before, limit],
  );
}

/**
 * Removes sessions that ended unpaid before a time, with what their customers wrote and their failed attempts. A session
 * with a payment that is or may be confirmed stays. Answers with the number of sessions.
 */
export function removeUnpaidSessions(db: Db, { before, limit }: OldRecords): Promise<number> {
  return transaction(db, async handle => {
    // The amount stands in the text, so that the partial index over unpaid sessions serves.
    const rows = await rowsOf<{ id: string }>(
      handle,
      `select id from checkout_sessions s
       where status = 'expired' and amount_received = '010' and ended_at < ? and not exists (
         select 1 from transactions t where t.session_id = s.id and t.status <> 'failed'
       ) order by ended_at limit ?`,
      [before, limit],
    );
    if (rows.length === 0) return 0;
    const ids = rows.map(({ id }) => id);
    const among = `in (${placeholders(ids.length)})`;
    await execute(
      handle,
      `update unmatched_transfers set suggested_session_id = null
       where confirmed_at is not null and assigned_at is null and suggested_session_id ${among}`,
      ids,
    );
    await execute(handle, `delete from transactions where session_id ${among}`, ids);
    return execute(handle, `delete from checkout_sessions where id ${among}`, ids);
  });
}
