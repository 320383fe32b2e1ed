import { type Migration, table } from '#db/migrate.ts';

/** Dashboard sessions. A key is exchanged for a session (Decision 244), and only the cookie's hash is stored (245). */
export const DASHBOARD_SESSIONS_MIGRATION: Migration = {
  name: 'dashboard sessions',
  up: [
    table('dashboard_sessions', {
      // SHA-256 of the cookie's value.
      token_hash: ['bytes', 'primary key'],
      key_id: ['text', 'not null references api_keys (id) on delete cascade'],
      created_at: ['time', 'not null'],
      expires_at: ['time', 'not null'],
    }),
    'create index dashboard_sessions_of_key on dashboard_sessions (key_id)',
    'create index dashboard_sessions_by_end on dashboard_sessions (expires_at)',
  ],
};
