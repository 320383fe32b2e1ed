import type { Migration } from '../../db/migrate.ts';
import { ADDRESSES } from './migrations/addresses.ts';
import { BALANCES } from './migrations/balances.ts';
import { BLOCKS } from './migrations/blocks.ts';
import { CONTRACTS } from './migrations/contracts.ts';
import { INDEXES } from './migrations/indexes.ts';
import { INSIGHTS } from './migrations/insights.ts';
import { MARKETS } from './migrations/markets.ts';
import { NFT_TRANSFERS } from './migrations/nft-transfers.ts';
import { RECEIVER_CODE } from './migrations/receiver-code.ts';
import { SEARCH } from './migrations/search.ts';
import { STATISTICS } from './migrations/statistics.ts';
import { TRANSFERS } from './migrations/transfers.ts';

/** The index's schema, step by step. Only ever append. */
export const INDEX_MIGRATIONS: readonly Migration[] = [
  { name: '1-blocks', up: BLOCKS },
  { name: '2-transfers', up: TRANSFERS },
  { name: '3-balances', up: BALANCES },
  { name: '4-indexes', up: INDEXES },
  { name: 'statistics-counters', up: STATISTICS },
  { name: 'search-token-terms', up: SEARCH },
  { name: 'contracts-implementations', up: CONTRACTS },
  { name: 'addresses-lists', up: ADDRESSES },
  { name: 'insights-details', up: INSIGHTS },
  { name: 'insights-markets', up: MARKETS },
  { name: 'nft-transfers-by-instance', up: NFT_TRANSFERS },
  { name: 'types-by-receiver-code', up: RECEIVER_CODE },
];
