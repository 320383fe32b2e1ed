import { type Migration, table } from '#db/migrate.ts';

/** One row for each encryption key, with a text that only this key decrypts. */
export const SECRET_KEYS_MIGRATION: Migration = {
  name: 'secret keys',
  up: [table('secret_keys', { id: ['text', 'primary key'], canary: ['text', 'not null'] })],
};
