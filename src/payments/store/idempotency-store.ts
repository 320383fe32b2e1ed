import type { Handle } from '../../db/open.ts';
import { execute, rowsOf } from '../../db/query.ts';
import type { Cell, Seals } from '../../lib/sealed.ts';
import type { Owner } from '../model/owner.ts';

/** How long an answer is repeated, in milliseconds. Decision 106. */
export const IDEMPOTENCY_LIFETIME_MS = 24 * 60 * 60 * 1000;

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

/** Answers by idempotency key; a body may hold a secret, so bodies are sealed. */
export interface IdempotencyStore {
  /** What is kept, also when it is older than `IDEMPOTENCY_LIFETIME_MS` and not purged yet. @throws SealError */
  find(owner: Owner, key: string): Promise<(KeptAnswer & { createdAt: number }) | undefined>;
  /** False, and the transaction is as before, when another answer is kept that is not older than its lifetime. */
  insert(owner: Owner, key: string, answer: KeptAnswer, now: number): Promise<boolean>;
  /** Deletes what was kept before a time, in batches; answers with the number of answers. */
  purge(before: number): Promise<number>;
}

export function idempotencyStore(handle: Handle, seals: Seals): IdempotencyStore {
  return {
    async find(owner, key) {
      const [row] = await rowsOf<IdempotencyRow>(
        handle,
        `select fingerprint, status, sealed_body, created_at from idempotency_keys
         where organization_id = ? and mode = ? and key = ?`,
        [owner.organizationId, owner.mode, key],
      );
      if (row === undefined) return undefined;
      const body = seals.open(row.sealed_body, cellOf(owner, key));
      return { fingerprint: row.fingerprint, status: row.status, body, createdAt: row.created_at };
    },

    async insert(owner, key, { fingerprint, status, body }, now) {
      // One that fails would end a transaction of PostgreSQL.
      const written = await rowsOf(
        handle,
        `insert into idempotency_keys (organization_id, mode, key, fingerprint, status, sealed_body, created_at)
         values (?, ?, ?, ?, ?, ?, ?)
         on conflict (organization_id, mode, key) do update set fingerprint = excluded.fingerprint,
           status = excluded.status, sealed_body = excluded.sealed_body, created_at = excluded.created_at
         where idempotency_keys.created_at <= ?
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
        ],
      );
      return written.length === 1;
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
}

interface IdempotencyRow {
  fingerprint: Buffer;
  status: number;
  sealed_body: string;
  created_at: number;
}

/** The primary key as JSON: joined with a separator two of them could read the same. */
function cellOf({ organizationId, mode }: Owner, key: string): Cell {
  return {
    table: 'idempotency_keys',
    column: 'sealed_body',
    id: JSON.stringify([organizationId, mode, key]),
  };
}
