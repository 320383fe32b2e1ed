import type { KeyvStoreAdapter } from 'keyv';
import type { Tables } from 'knex/types/tables.js';
import type { Db } from '../../db/open.ts';
import { execute, rowsOf } from '../../db/query.ts';
import type { Clock } from '../../lib/clock.ts';
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

type KeptColumns = Pick<Tables['entries'], 'facts' | 'identity' | 'br' | 'gzip'>;

/** Number of writes between two deletions of expired entries. */
const SWEEP_EVERY = 500;

/**
 * Keyv store in an SQLite file, for a second layer that outlives the process. Entries of another `version` are not
 * found.
 */
export function sqliteStore(db: Db, { clock, version }: { clock: Clock; version: string }): KeyvStoreAdapter {
  let writes = 0;
  const stored = (key: string) => `${version} ${key}`;
  return {
    opts: {},
    namespace: undefined,
    on() {
      return this;
    },
    async get<Found>(key: string) {
      const sql = 'select facts, identity, br, gzip from entries where key = ? and expires_at > ?';
      const [row] = await rowsOf<KeptColumns>(db, sql, [stored(key), clock.now()]);
      return row === undefined ? undefined : (envelopeOf(key, row) as Found);
    },
    async set(key: string, envelope: Envelope<StoredEntry>) {
      const { representation, key: _, ...facts } = envelope.value; // the key has its own column
      const { identity, br = null, gzip = null, etag } = representation;
      await execute(
        db,
        `insert into entries (key, expires_at, facts, identity, br, gzip) values (?, ?, ?, ?, ?, ?)
         on conflict (key) do update set expires_at = excluded.expires_at, facts = excluded.facts,
           identity = excluded.identity, br = excluded.br, gzip = excluded.gzip`,
        [stored(key), facts.keepUntil, JSON.stringify({ ...facts, etag }), identity, br, gzip],
      );
      writes += 1;
      if (writes % SWEEP_EVERY === 0)
        await execute(db, 'delete from entries where expires_at <= ?', [clock.now()]);
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
}

function envelopeOf(key: string, { facts, identity, br, gzip }: KeptColumns): Envelope<StoredEntry> {
  const { etag, ...rest } = JSON.parse(facts);
  const forms = { ...(br === null ? {} : { br }), ...(gzip === null ? {} : { gzip }) };
  return { value: { ...rest, key, representation: { etag, identity, ...forms } } };
}
