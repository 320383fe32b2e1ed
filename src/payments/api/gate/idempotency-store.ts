import type { Handle } from '#db/open.ts';
import { execute, rowsOf } from '#db/query.ts';
import { DAY_MS } from '#lib/clock.ts';
import type { Owner } from '../../model/owner.ts';
import type { SealedCell, Seals } from '../../secrets/sealed.ts';
import type { IdempotencyRow } from '../../tables/organization-tables.ts';
import { select } from '../../tables/select.ts';

/** Time for which an answer is repeated, in milliseconds (Decision 106). */
export const IDEMPOTENCY_LIFETIME_MS = DAY_MS;

/** Time for which an unfinished effect outside the database holds its key, in milliseconds (Decision 106). */
const STARTED_LIFETIME_MS = 60_000;

/** Status of an effect that has not ended. */
const STARTED = 0;

/** Rows that one statement of `purge` deletes. Other statements run in between. */
const PURGE_BATCH = 1_000;

/** Answer to a request with an idempotency key. */
export interface KeyedAnswer {
  /** Tells the request from others with the same key. */
  readonly fingerprint: Buffer;
  readonly status: number;
  /** Body as it was sent. */
  readonly body: string;
}

/** Record of a key. `createdAt` is UTC milliseconds. */
export type KeyRecord = { readonly createdAt: number } & (
  | ({ readonly isStarted: false } & KeyedAnswer)
  | { readonly isStarted: true; readonly fingerprint: Buffer }
);

/** True while the record of a key is valid; `now` in UTC milliseconds. */
export function isHeld({ isStarted, createdAt }: KeyRecord, now: number): boolean {
  return createdAt > now - (isStarted ? STARTED_LIFETIME_MS : IDEMPOTENCY_LIFETIME_MS);
}

/** Answers by idempotency key. Bodies may contain secrets, so they are sealed. */
export interface IdempotencyStore {
  /** The record of a key, even an expired one that is not purged yet. @throws SealError */
  find(owner: Owner, key: string): Promise<KeyRecord | undefined>;
  /** Stores an answer. Returns false and writes nothing when the key has a valid record. */
  insert(owner: Owner, key: string, answer: KeyedAnswer, now: number): Promise<boolean>;
  /** Takes a key for an effect whose answer comes later. Returns false like `insert`. */
  start(owner: Owner, key: string, fingerprint: Buffer, now: number): Promise<boolean>;
  /**
   * Stores the answer of the effect that was started at this time. Does nothing when the key now belongs to another
   * effect.
   */
  finish(
    owner: Owner,
    key: string,
    answer: Omit<KeyedAnswer, 'fingerprint'>,
    startedAt: number,
  ): Promise<void>;
  /** Replaces the body of a stored answer. */
  replaceBody(owner: Owner, key: string, body: string): Promise<void>;
  /** Releases the key of the effect that was started at this time. */
  cancel(owner: Owner, key: string, startedAt: number): Promise<void>;
  /** Deletes records from before a time, in batches. Returns their number. */
  purge(before: number): Promise<number>;
}

export function idempotencyStore(handle: Handle, seals: Seals): IdempotencyStore {
  return {
    async find(owner, key) {
      const [row] = await select({
        from: 'idempotency_keys',
        columns: ['fingerprint', 'status', 'sealed_body', 'created_at'],
      }).rows(handle, `where organization_id = ? and mode = ? and key = ?`, [
        owner.organizationId,
        owner.mode,
        key,
      ]);
      if (row === undefined) return undefined;
      const { fingerprint, created_at: createdAt } = row;
      if (row.status === STARTED) return { isStarted: true, fingerprint, createdAt };
      const body = seals.open(row.sealed_body, cellOf(owner, key));
      return { isStarted: false, fingerprint, status: row.status, body, createdAt };
    },

    insert: (owner, key, answer, now) => write(owner, key, answer, now),
    start: (owner, key, fingerprint, now) =>
      write(owner, key, { fingerprint, status: STARTED, body: '' }, now),

    async finish(owner, key, { status, body }, startedAt) {
      const values = { status, sealed_body: seals.seal(body, cellOf(owner, key)) };
      await handle('idempotency_keys')
        .where(startedAs(owner, key, startedAt))
        .update(values);
    },

    async replaceBody(owner, key, body) {
      const { organizationId, mode } = owner;
      await handle('idempotency_keys')
        .where({ organization_id: organizationId, mode, key })
        .update({ sealed_body: seals.seal(body, cellOf(owner, key)) });
    },

    async cancel(owner, key, startedAt) {
      await handle('idempotency_keys')
        .where(startedAs(owner, key, startedAt))
        .delete();
    },

    async purge(before) {
      let purged = 0;
      for (let last = PURGE_BATCH; last === PURGE_BATCH; purged += last) {
        last = await execute(
          handle,
          `delete from idempotency_keys where (organization_id, mode, key) in (
             select organization_id, mode, key from idempotency_keys
             where created_at < ? order by created_at limit ?
           )`,
          [before, PURGE_BATCH],
        );
      }
      return purged;
    },
  };

  async function write(
    owner: Owner,
    key: string,
    { fingerprint, status, body }: KeyedAnswer,
    now: number,
  ): Promise<boolean> {
    // Uses `on conflict`, because a failed insert would end a transaction of PostgreSQL.
    const written = await rowsOf(
      handle,
      `insert into idempotency_keys (organization_id, mode, key, fingerprint, status, sealed_body, created_at)
         values (?, ?, ?, ?, ?, ?, ?)
         on conflict (organization_id, mode, key) do update set fingerprint = excluded.fingerprint,
           status = excluded.status, sealed_body = excluded.sealed_body, created_at = excluded.created_at
         where idempotency_keys.created_at <= ?
           or (idempotency_keys.status = ${STARTED} and idempotency_keys.created_at <= ?)
         returning created_at`,
      [
        owner.organizationId,
        owner.mode,
        key,
        fingerprint,
        status,
        seals.seal(body, cellOf(owner, key)),
        now,
        now - IDEMPOTENCY_LIFETIME_MS,
        now - STARTED_LIFETIME_MS,
      ],
    );
    return written.length === 1;
  }
}

/** Condition for an effect that has not ended. No two effects of a key have the same start. */
function startedAs({ organizationId, mode }: Owner, key: string, startedAt: number) {
  return {
    organization_id: organizationId,
    mode,
    key,
    status: STARTED,
    created_at: startedAt,
  } satisfies Partial<IdempotencyRow>;
}

/** The primary key as JSON: joined with a separator, two keys could give the same text. */
function cellOf({ organizationId, mode }: Owner, key: string): SealedCell {
  return {
    table: 'idempotency_keys',
    column: 'sealed_body',
    id: JSON.stringify([organizationId, mode, key]),
  };
}
