import { type Migration, table } from '#db/migrate.ts';

/** One row for each key that values may be sealed with, holding a text that only this key opens. */
export const SECRET_KEYS_MIGRATION: Migration = {
  name: 'secret keys',
  up: [table('secret_keys', { id: ['text', 'primary key'], canary: ['text', 'not null'] })],
};
