import type { Migration } from '#db/migrate.ts';

/** Rows with a lease, to find one that is further ahead than its own length (Decision 313). */
export const LEASES_MIGRATION: Migration = {
  name: 'leases of deliveries and notices',
  up: ['deliveries', 'notices'].map(
    table => `create index ${table}_leased on ${table} (locked_until) where locked_until is not null`,
  ),
};
