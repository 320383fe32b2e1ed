import type { Migration } from '../../db/migrate.ts';
import { BALANCES } from './migrations/balances.ts';
import { BLOCKS } from './migrations/blocks.ts';
import { INDEXES } from './migrations/indexes.ts';
import { TRANSFERS } from './migrations/transfers.ts';

/** The index's schema, step by step. Only ever append. */
export const INDEX_MIGRATIONS: readonly Migration[] = [
  { name: '1-blocks', up: BLOCKS },
  { name: '2-transfers', up: TRANSFERS },
  { name: '3-balances', up: BALANCES },
  { name: '4-indexes', up: INDEXES },
];
