import { jsonOf } from '#db/columns.ts';
import { dueRows } from '#db/lease.ts';
import type { Db, Handle } from '#db/open.ts';
import { execute } from '#db/query.ts';
import { insertRows } from '#db/rows.ts';
import { announce } from '#db/woken-worker.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import type { Channel, Notice, NoticePayload } from '../../model/notification.ts';
import type { Cell, Seals } from '../../secrets/sealed.ts';
import { openEach, putOff } from '../../secrets/unopened-rows.ts';
import type { NoticeRow } from '../../tables/event-tables.ts';

/** How long a notice is nobody else's, in milliseconds. */
const LEASE_MS = 120_000;

/** A notice that is nobody else's to send. */
export interface TakenNotice extends Notice {
  readonly token: string;
}

/** What came of sending a notice. */
export interface NoticeOutcome {
  /** `pending` when it is tried again. */
  readonly status: 'sent' | 'failed' | 'pending';
  readonly error: string | null;
  /** UTC milliseconds; null unless it is tried again. */
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
] as const;

/** The messages to people. Payloads are sealed. */
export function noticeStore(handle: Handle, seals: Seals) {
  return {
    /** Due at once. A second one of an event and channel is dropped. */
    async insert(notices: readonly Notice[]): Promise<void> {
      if (notices.length === 0) return;
      const rows = notices.map(({ id, organizationId, mode, channel, payload, attempts, createdAt }) => [
        id,
        organizationId,
        mode,
        channel,
        payload.kind,
        payload.kind === 'payment' ? payload.event.id : null,
        seals.seal(JSON.stringify(payload), cellOf(id)),
        attempts,
        'pending',
        createdAt,
        createdAt,
      ]);
      const into = { table: 'notices', columns: COLUMNS, suffix: 'on conflict do nothing' };
      await insertRows(handle, into, rows);
      announce(handle, 'notices');
    },

    /** Removes up to `limit` from before a time (UTC ms); answers with how many. */
    removeOld({ before, limit }: { before: number; limit: number }): Promise<number> {
      return execute(
        handle,
        'delete from notices where id in (select id from notices where created_at < ? order by created_at limit ?)',
        [before, limit],
      );
    },
  };
}

export interface NoticeQueueDeps {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What is to be sent, taken by one process at a time. */
export function noticeQueue({ db, seals, clock, log }: NoticeQueueDeps) {
  const notices = dueRows<NoticeRow>('notices', clock);
  return {
    /**
     * Up to so many that are due, the longest due first, with one more attempt counted. What does not open waits as long
     * as a lease, without an attempt.
     */
    async take(channel: Channel, limit: number): Promise<TakenNotice[]> {
      for (;;) {
        const { rows, token } = await notices.take(db, {
          limit,
          leaseMs: LEASE_MS,
          where: { sql: 'channel = ?', bindings: [channel] },
          set: { sql: 'attempts = attempts + 1', bindings: [] },
        });
        const { opened, unopened } = openEach(rows, row => ({ ...noticeOf(row, seals), token }), log);
        const until = clock.now() + LEASE_MS;
        await putOff(db, { table: 'notices', ids: unopened, until, undo: 'attempts = attempts - 1' });
        // Nothing that opens, and yet there may be something behind it.
        if (opened.length > 0 || rows.length === 0) return opened;
      }
    },

    /** False when it is another's by now: then nothing is written. */
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

function noticeOf(row: NoticeRow, seals: Seals): Notice {
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

function cellOf(id: string): Cell {
  return { table: 'notices', column: 'sealed_payload', id };
}
