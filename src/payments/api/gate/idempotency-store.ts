import type { Handle } from '#db/open.ts';
import { execute, rowsOf } from '#db/query.ts';
import { DAY_MS } from '#lib/clock.ts';
import type { Owner } from '../../model/owner.ts';
import type { Cell, Seals } from '../../secrets/sealed.ts';
import type { IdempotencyRow } from '../../tables/organization-tables.ts';

/** How long an answer is repeated, in milliseconds. Decision 106. */
export const IDEMPOTENCY_LIFETIME_MS = DAY_MS;

/** How long a key is taken by an effect outside of the database that nobody has told the end of, in milliseconds. Decision 106. */
export const STARTED_LIFETIME_MS = 60_000;

/** In place of a status, as long as such an effect goes on. */
const STARTED = 0;

/** Rows that one statement of `purge` deletes: others write between two of them. */
const PURGE_BATCH = 1_000;

/** What was answered to a request with an idempotency key. */
export interface KeptAnswer {
  /** Tells the request from others with the same key. */
  readonly fingerprint: Buffer;
  readonly status: number;
  /** As it was sent. */
  readonly body: string;
}

/** What is known under a key. `createdAt` is UTC milliseconds. */
export type KeptRow = { readonly createdAt: number } & (
  | ({ readonly isStarted: false } & KeptAnswer)
  | { readonly isStarted: true; readonly fingerprint: Buffer }
);

/** Whether a key still stands for what is kept under it; `now` in UTC milliseconds. */
export function isHeld({ isStarted, createdAt }: KeptRow, now: number): boolean {
  return createdAt > now - (isStarted ? STARTED_LIFETIME_MS : IDEMPOTENCY_LIFETIME_MS);
}

/** Answers by idempotency key; a body may hold a secret, so bodies are sealed. */
export interface IdempotencyStore {
  /** What is kept, also when it is not held any more and not purged yet. @throws SealError */
  find(owner: Owner, key: string): Promise<KeptRow | undefined>;
  /** False, and the transaction is as before, when the key is held by what is kept under it. */
  insert(owner: Owner, key: string, answer: KeptAnswer, now: number): Promise<boolean>;
  /** Takes a key for an effect whose answer comes later; false as for `insert`. */
  start(owner: Owner, key: string, fingerprint: Buffer, now: number): Promise<boolean>;
  /** Keeps the answer of the effect that was started at this time; nothing when another one has the key by now. */
  finish(
    owner: Owner,
    key: string,
    answer: Omit<KeptAnswer, 'fingerprint'>,
    startedAt: number,
  ): Promise<void>;
  /** Frees the key of the effect that was started at this time. */
  cancel(owner: Owner, key: string, startedAt: number): Promise<void>;
  /** Deletes what was kept before a time, in batches; answers with the number of answers. */
  purge(before: number): Promise<number>;
}

export function idempotencyStore(handle: Handle, seals: Seals): IdempotencyStore {
  return {
    async find(owner, key) {
      const [row] = await rowsOf<
        Pick<IdempotencyRow, 'fingerprint' | 'status' | 'sealed_body' | 'created_at'>
      >(
        handle,
        `select fingerprint, status, sealed_body, created_at from idempotency_keys
         where organization_id = ? and mode = ? and key = ?`,
        [owner.organizationId, owner.mode, key],
      );
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
    { fingerprint, status, body }: KeptAnswer,
    now: number,
  ): Promise<boolean> {
    // One that fails would end a transaction of PostgreSQL.
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

/** Of an effect that has not ended. No later one of the same key was started at the same time. */
function startedAs({ organizationId, mode }: Owner, key: string, startedAt: number) {
  return {
    organization_id: organizationId,
    mode,
    key,
    status: STARTED,
    created_at: startedAt,
  } satisfies Partial<IdempotencyRow>;
}

/** The primary key as JSON: joined with a separator two of them could read the same. */
function cellOf({ organizationId, mode }: Owner, key: string): Cell {
  return {
    table: 'idempotency_keys',
    column: 'sealed_body',
    id: JSON.stringify([organizationId, mode, key]),
  };
}
