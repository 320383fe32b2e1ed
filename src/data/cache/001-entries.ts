import type { Migration, Schema } from '../../db/migrate.ts';

/** The table of kept answers: what an entry knows of itself as JSON, its bytes beside it. */
export const CACHE_MIGRATIONS: readonly Migration[] = [
  {
    name: '001-entries',
    up: [
      `create table entries (
        key text primary key,
        expires_at integer not null,
        facts text not null,
        identity blob not null,
        br blob,
        gzip blob
      ) strict`,
      'create index entries_by_expiry on entries (expires_at)',
    ],
  },
];

/** Path of the setting that names the second layer. */
export const CACHE_SETTING = 'data.cache.store';

/** The same, with its name in sentences and settings. */
export const CACHE_SCHEMA: Schema = { title: 'cache', migrations: CACHE_MIGRATIONS, setting: CACHE_SETTING };
