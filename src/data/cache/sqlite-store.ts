import { statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { KeyvStoreAdapter } from 'keyv';
import type { Tables } from 'knex/types/tables.js';
import type { Binding } from '../../db/columns.ts';
import type { Db, Handle } from '../../db/open.ts';
import { execute, rowsOf } from '../../db/query.ts';
import { type RowIn, selectFrom } from '../../db/select/select.ts';
import { transaction } from '../../db/transaction.ts';
import type { Clock } from '../../lib/clock.ts';
import { entrySize } from './entry.ts';
import type { StoredEntry } from './intact-entry.ts';

declare module 'knex/types/tables.js' {
  /** Table of cached answers. */
  interface Tables {
    entries: {
      key: string;
      expires_at: number;
      facts: string;
      identity: Buffer;
      br: Buffer | null;
      gzip: Buffer | null;
    };
  }
}

/** Value passed to the store by a Keyv without serialization. */
interface Envelope<Value> {
  readonly value: Value;
  readonly expires?: number | undefined;
}

const ENTRY = selectFrom<Tables>()({ from: 'entries', columns: ['facts', 'identity', 'br', 'gzip'] });
type KeptColumns = RowIn<typeof ENTRY>;

/** Parts of the size of the file on disk (Decision 270). */
export interface StoreParts {
  readonly databasePages: number;
  /** Size of the write-ahead log. */
  readonly logBytes: number;
  readonly largestEntryBytes: number;
}

/** SQLite's default size of a page. */
const PAGE_BYTES = 4_096;
/** SQLite empties the log from 4 MB on. Each half has room for that and for a large entry. */
const LEAST_LOG_BYTES = 16_000_000;
const LOG_SHARE = 16;
const ENTRY_SHARE = 32;
/** For the file that shares the log's index among processes. */
const OTHER_SHARE = 128;

/** Divides the size of the file on disk among its parts. */
export function storeParts(sizeBytes: number): StoreParts {
  const logBytes = Math.max(LEAST_LOG_BYTES, Math.ceil(sizeBytes / LOG_SHARE));
  return {
    databasePages: Math.floor((sizeBytes - logBytes - sizeBytes / OTHER_SHARE) / PAGE_BYTES),
    logBytes,
    largestEntryBytes: Math.floor(sizeBytes / ENTRY_SHARE),
  };
}

/**
 * Makes SQLite refuse to grow the database beyond its part. A larger one, of a time when the size was not limited or
 * larger, is emptied first: its pages would be used again, but never returned.
 */
export async function limitDatabase(db: Db, { databasePages }: StoreParts): Promise<void> {
  const [database] = await rowsOf<{ page_count: number }>(db, 'pragma page_count');
  if (database !== undefined && database.page_count > databasePages) {
    await execute(db, 'delete from entries');
    await execute(db, 'vacuum');
    await execute(db, 'pragma wal_checkpoint(truncate)');
  }
  await db.raw(`pragma max_page_count = ${databasePages}`);
}

/** Entries removed in one transaction, which takes a few milliseconds. */
const MAX_EVICTED = 100;
/** Pages that a transaction writes in addition to those of its entry: the removed ones' neighbours, and indexes. */
const EXTRA_PAGES = 300;
/** Transactions of a write that needs the room of many small entries. */
const MAX_STEPS = 50;
/** Longest wait for a writer in another process, in milliseconds. */
const RETRY_FOR_MS = 1_000;

interface SqliteStoreOptions {
  readonly clock: Clock;
  readonly version: string;
  readonly parts: StoreParts;
  /** Path of the file without symbolic links; undefined for a database in memory. */
  readonly file?: string | undefined;
}

/**
 * Keyv store in an SQLite file, for a second layer that outlives the process. Entries of another `version` are not
 * found. When there is no room, entries that expire first are removed.
 */
export function sqliteStore(db: Db, { clock, version, parts, file }: SqliteStoreOptions): KeyvStoreAdapter {
  const stored = (key: string) => `${version} ${key}`;
  return {
    opts: {},
    namespace: undefined,
    on() {
      return this;
    },
    async get<Value>(key: string) {
      const [row] = await ENTRY.rows(db, 'where key = ? and expires_at > ?', [stored(key), clock.now()]);
      return row === undefined ? undefined : (envelopeOf(key, row) as Value);
    },
    async set(key: string, { value }: Envelope<StoredEntry>) {
      const { representation, key: _, ...facts } = value; // the key has its own column
      const { identity, br = null, gzip = null, etag } = representation;
      const columns = [stored(key), facts.keepUntil, JSON.stringify({ ...facts, etag }), identity, br, gzip];
      const pages = Math.ceil(entrySize(key, value) / PAGE_BYTES) + EXTRA_PAGES;
      // Half of the log is left to other processes that write at the same moment.
      const isLogShort = logSize() + pages * PAGE_BYTES <= parts.logBytes / 2;
      if (!isLogShort || !(await insert(db, columns, pages))) await makeRoomAndInsert(columns, pages);
      return true;
    },
    async delete(key: string) {
      await execute(db, 'delete from entries where key = ?', [stored(key)]);
      return true;
    },
    async clear() {
      await execute(db, 'delete from entries');
    },
  };

  /** Inserts an entry if the database has room for it. Returns false if not. */
  async function insert(handle: Handle, columns: readonly Binding[], pages: number): Promise<boolean> {
    const inserted = await execute(
      handle,
      `insert into entries (key, expires_at, facts, identity, br, gzip)
       select ?, ?, ?, ?, ?, ? from pragma_page_count, pragma_freelist_count
       where page_count - freelist_count + ? <= ?
       on conflict (key) do update set expires_at = excluded.expires_at, facts = excluded.facts,
         identity = excluded.identity, br = excluded.br, gzip = excluded.gzip`,
      [...columns, pages, parts.databasePages],
    );
    return inserted > 0;
  }

  /** @throws Error when no room can be made */
  async function makeRoomAndInsert(columns: readonly Binding[], pages: number): Promise<void> {
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const outcome = await transaction(db, handle => evictOrInsert(handle, columns, pages), RETRY_FOR_MS);
      if (outcome === 'inserted') return;
      if (outcome === 'log full' && !(await emptyLog()))
        throw new Error('the log of the cache cannot be emptied: another process is reading it');
      await setImmediate(); // requests go on between two steps
    }
    throw new Error('the file of the cache has no room for an entry');
  }

  async function evictOrInsert(handle: Handle, columns: readonly Binding[], pages: number) {
    // During the transaction nothing else can grow the log.
    if (logSize() + pages * PAGE_BYTES > parts.logBytes) return 'log full';
    if (await insert(handle, columns, pages)) return 'inserted';
    await evict(handle, pages * PAGE_BYTES);
    return 'evicted';
  }

  /** Returns false while another process is reading or writing. Waiting for it would block this process. */
  async function emptyLog(): Promise<boolean> {
    await execute(db, 'pragma busy_timeout = 0'); // the next transaction restores it
    const [outcome] = await rowsOf<{ busy: number }>(db, 'pragma wal_checkpoint(truncate)');
    return outcome?.busy === 0;
  }

  function logSize(): number {
    return file === undefined ? 0 : (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0);
  }
}

/** Removes the entries that expire first: as many as free this many bytes, up to `MAX_EVICTED`. */
async function evict(handle: Handle, bytes: number): Promise<void> {
  await execute(
    handle,
    `delete from entries where key in (
       select key from (
         select key, sum(bytes) over (order by expires_at, key rows unbounded preceding) - bytes as freed from (
           select key, expires_at, length(identity) + coalesce(length(br), 0) + coalesce(length(gzip), 0) as bytes
           from entries order by expires_at limit ?))
       where freed < ?)`,
    [MAX_EVICTED, bytes],
  );
}

function envelopeOf(key: string, { facts, identity, br, gzip }: KeptColumns): Envelope<StoredEntry> {
  const { etag, ...rest } = JSON.parse(facts);
  const forms = { ...(br === null ? {} : { br }), ...(gzip === null ? {} : { gzip }) };
  return { value: { ...rest, key, representation: { etag, identity, ...forms } } };
}
