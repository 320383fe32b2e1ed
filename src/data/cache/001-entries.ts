import type { Migration, Schema } from '../../db/migrate.ts';

/** Table of cached answers: an entry's facts as JSON, and its bodies as bytes. */
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

/** Path of the setting for the second layer. */
export const CACHE_SETTING = 'data.cache.store';

/** Schema of the SQLite file, with its title for messages and its setting. */
export const CACHE_SCHEMA: Schema = { title: 'cache', migrations: CACHE_MIGRATIONS, setting: CACHE_SETTING };
