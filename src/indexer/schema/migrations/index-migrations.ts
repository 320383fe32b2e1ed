import type { Migration } from '#db/migrate.ts';
import { ADDRESSES } from './addresses.ts';
import { BALANCES } from './balances.ts';
import { BLOCKS } from './blocks.ts';
import { CONTRACTS } from './contracts.ts';
import { INDEXES } from './indexes.ts';
import { INSIGHTS } from './insights.ts';
import { MARKETS } from './markets.ts';
import { NFT_TRANSFERS } from './nft-transfers.ts';
import { RECEIVER_CODE } from './receiver-code.ts';
import { SEARCH } from './search.ts';
import { STATISTICS } from './statistics.ts';
import { TRANSFERS } from './transfers.ts';

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
