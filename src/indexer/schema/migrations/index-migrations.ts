import type { Migration, Schema } from '#db/migrate.ts';
import { BALANCES, BLOCKS, INDEXES, TRANSFERS } from './001-chain.ts';
import { ADDRESSES, CONTRACTS, SEARCH, STATISTICS } from './005-explorer.ts';
import { INSIGHTS, MARKETS } from './009-insights.ts';

/** Index over the transfers of one id of a token. The other leads through all of a collection's. */
const NFT_TRANSFERS =
  'create index token_transfers_by_instance on token_transfers (token, token_id) where token_id is not null';

/**
 * Blocks of an index from before, whose transactions do not know yet that a receiver had code: from `next_block` to just
 * below `end_block`. No row when there are none.
 */
const RECEIVER_CODE = [
  `create table retyping (
    id integer primary key check (id = 1),
    next_block integer not null,
    end_block integer not null
  ) strict`,
  `insert into retyping
    select 1, min(number), max(number) + 1 from blocks where number >= 0 having count(*) > 0`,
] as const;

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

/** The schema of the index of a chain. */
export const indexSchema = (chainId: number): Schema => ({
  title: `index of chain ${chainId}`,
  migrations: INDEX_MIGRATIONS,
});
