import { addColumn, type Migration } from '#db/migrate.ts';

/** A deleted webhook is marked, and removed with its deliveries in the background (Decision 324). */
export const DELETED_WEBHOOKS_MIGRATION: Migration = {
  name: 'deleted webhooks',
  up: [
    addColumn('webhooks', 'deleted_at', 'time'),
    'create index webhooks_deleted on webhooks (deleted_at) where deleted_at is not null',
  ],
};
