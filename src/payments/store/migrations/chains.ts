import type { Migration } from '#db/migrate.ts';
import { addColumn } from '#db/table.ts';

/** Up to where what was settled on a chain was compared with it, so that a watcher knows where the last one left off. */
export const SETTLED_BLOCK_MIGRATION: Migration = {
  name: 'settled blocks',
  up: [
    addColumn('chain_cursors', 'settled_block', 'count'),
    'update chain_cursors set settled_block = block_number',
  ],
};
