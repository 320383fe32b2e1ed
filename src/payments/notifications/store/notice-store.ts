import { jsonOf } from '#db/columns.ts';
import { dueRows } from '#db/lease.ts';
import type { Db, Handle } from '#db/open.ts';
import { execute } from '#db/query.ts';
import { insertRows } from '#db/rows.ts';
import { announce } from '#db/woken-worker.ts';
import type { ClockAndLog } from '#lib/logger.ts';
import type { Channel, Notice, NoticePayload } from '../../model/notification.ts';
import type { SealedCell, Seals } from '../../secrets/sealed.ts';
import { openEach, postponeRows } from '../../secrets/unopened-rows.ts';
import type { NoticeRow } from '../../tables/event-tables.ts';

/** Time for which a process holds a notice, in milliseconds. */
export const NOTICE_LEASE_MS = 120_000;

/** A notice that this process has taken for sending. */
export interface TakenNotice extends Notice {
  readonly token: string;
}

/** Result of sending a notice. */
export interface NoticeOutcome {
  /** `pending` when there will be a retry. */
  readonly status: 'sent' | 'failed' | 'pending';
  readonly error: string | null;
  /** UTC milliseconds; null without a retry. */
  readonly nextAttemptAt: number | null;
}

const COLUMNS = [
  'id',
  'organization_id',
  'mode',
  'channel',
  'kind',
  'event_id',
  'sealed_payload',
  'attempts',
  'status',
  'created_at',
  'next_attempt_at',
  'is_digest',
] as const;

/** Messages to people. Payloads are sealed. */
export function noticeStore(handle: Handle, seals: Seals) {
  return {
    /** Inserts notices, due at their creation. A second notice of the same event and channel is dropped. */
    async insert(notices: readonly Notice[]): Promise<void> {
      if (notices.length === 0) return;
      const rows = notices.map(({ id, organizationId, mode, channel, payload, attempts, createdAt }) => [
        id,
        organizationId,
        mode,
        channel,
        // The column's check knows no other kinds.
        payload.kind === 'webhook_disabled' ? payload.kind : 'payment',
        payload.kind === 'payment' ? payload.event.id : null,
        sealedPayload(id, payload, seals),
        attempts,
        'pending',
        createdAt,
        createdAt,
        payload.kind === 'attention',
      ]);
      const into = { table: 'notices', columns: COLUMNS, suffix: 'on conflict do nothing' };
      await insertRows(handle, into, rows);
      announce(handle, 'notices');
    },

    /** Removes up to `limit` notices from before a time (UTC ms). Returns their number. */
    removeOld({ before, limit }: { before: number; limit: number }): Promise<number> {
      return execute(
        handle,
        'delete from notices where id in (select id from notices where created_at < ? order by created_at limit ?)',
        [before, limit],
      );
    },
  };
}

export interface NoticeQueueDeps extends ClockAndLog {
  readonly db: Db;
  readonly seals: Seals;
}

/** Queue of due notices. One process at a time holds each of them. */
export function noticeQueue({ db, seals, clock, log }: NoticeQueueDeps) {
  const notices = dueRows<NoticeRow>('notices', clock);
  return {
    /**
     * Takes up to `limit` due notices, longest due first, and counts one more attempt each. A notice that cannot be
     * opened is postponed by the length of a lease, without an attempt.
     */
    async take(channel: Channel, limit: number): Promise<TakenNotice[]> {
      for (;;) {
        const { rows, token } = await notices.take(db, {
          limit,
          leaseMs: NOTICE_LEASE_MS,
          where: { sql: 'channel = ?', bindings: [channel] },
          set: { sql: 'attempts = attempts + 1', bindings: [] },
        });
        const { opened, unopened } = openEach(rows, row => ({ ...noticeOf(row, seals), token }), log);
        const until = clock.now() + NOTICE_LEASE_MS;
        await postponeRows(db, { table: 'notices', ids: unopened, until, undo: 'attempts = attempts - 1' });
        // None of these could be opened, but later ones may.
        if (opened.length > 0 || rows.length === 0) return opened;
      }
    },

    /** Records the result. Returns false and writes nothing when another process has the notice. */
    settle(
      { id, token }: Pick<TakenNotice, 'id' | 'token'>,
      { status, error, nextAttemptAt }: NoticeOutcome,
    ): Promise<boolean> {
      const set = {
        sql: 'status = ?, last_error = ?, next_attempt_at = ?',
        bindings: [status, error, nextAttemptAt],
      };
      return notices.settle(db, { id, token, set });
    },
  };
}

/** Converts a row to a notice. @throws SealError */
export function noticeOf(row: NoticeRow, seals: Seals): Notice {
  return {
    id: row.id,
    organizationId: row.organization_id,
    mode: row.mode,
    channel: row.channel,
    payload: jsonOf<NoticePayload>(seals.open(row.sealed_payload, cellOf(row.id))),
    attempts: row.attempts,
    createdAt: row.created_at,
  };
}

/** The payload of a notice as it is stored. */
export function sealedPayload(id: string, payload: NoticePayload, seals: Seals): string {
  return seals.seal(JSON.stringify(payload), cellOf(id));
}

function cellOf(id: string): SealedCell {
  return { table: 'notices', column: 'sealed_payload', id };
}
