import type { Migration } from '#db/migrate.ts';
import { BLOCKS } from './001-blocks.ts';
import { TRANSFERS } from './002-transfers.ts';
import { BALANCES } from './003-balances.ts';
import { INDEXES } from './004-indexes.ts';
import { STATISTICS } from './005-statistics.ts';
import { SEARCH } from './006-search.ts';
import { ADDRESSES, CONTRACTS } from './007-addresses.ts';
import { INSIGHTS } from './009-insights.ts';
import { MARKETS } from './010-markets.ts';
import { RECEIVER_CODE } from './012-receiver-code.ts';

/** Index over the transfers of one id of a token. The other leads through all of a collection's. */
const NFT_TRANSFERS =
  'create index token_transfers_by_instance on token_transfers (token, token_id) where token_id is not null';

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
  { name: 'nft-transfers-by-instance', up: [NFT_TRANSFERS] },
  { name: 'types-by-receiver-code', up: RECEIVER_CODE },
];
