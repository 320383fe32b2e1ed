import { LEADER_MIGRATION } from '#db/leader.ts';
import type { Migration, Schema } from '#db/migrate.ts';
import { type DatabaseOptions, remakeable } from '#db/open.ts';
import { BALANCES, BLOCKS, INDEXES, TRANSFERS } from './001-chain.ts';
import { ADDRESSES, CONTRACTS, SEARCH, STATISTICS } from './005-explorer.ts';
import { INSIGHTS, MARKETS } from './009-insights.ts';
import { VIEWS } from './013-views.ts';
import { POSTGRES_TRANSFERS_OF_ADDRESSES, TRANSFERS_OF_ADDRESSES } from './014-transfers-of-addresses.ts';
import { POSTGRES_TOKEN_LIST, TOKEN_LIST } from './017-token-list.ts';
import { CONTRACT_COUNTERS, POSTGRES_CONTRACT_COUNTERS } from './018-contract-counters.ts';
import { ADDRESS_COUNTS, POSTGRES_ADDRESS_COUNTS } from './019-address-counts.ts';
import { BLOCK_SUMS, POSTGRES_BLOCK_SUMS } from './020-block-sums.ts';
import { PARTS_LATER, POSTGRES_PARTS_LATER } from './022-unread-blocks.ts';
import { POSTGRES_STATE_ATTEMPTS, STATE_ATTEMPTS } from './023-state-attempts.ts';
import { COUNTERS } from './postgres-001-counters.ts';
import { FUNCTIONS } from './postgres-001-functions.ts';
import { INDEXES as POSTGRES_INDEXES, TABLES } from './postgres-001-tables.ts';

/** Transfers of one token id. The index by token would scan the transfers of the whole collection. */
const NFT_TRANSFERS =
  'create index token_transfers_by_instance on token_transfers (token, token_id) where token_id is not null';

/**
 * Blocks of an existing index whose transactions still have the old types, from `next_block` (inclusive) to `end_block`
 * (exclusive). No row when there are none.
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

/** Events of one kind from all contracts, newest first. The other indexes with a topic start with the contract. */
const eventsByTopic = (columns: string) => [`create index logs_by_topic on logs (${columns})`];

/** Balances of one token id by value. */
const INSTANCE_HOLDERS = [
  `create index token_balances_by_instance_value on token_balances (token, token_id, value, holder)
    where token_id <> ''`,
];

/** Schema of the index on SQLite, in steps. Append only. */
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
  { name: '013-views', up: VIEWS },
  { name: '014-transfers-of-addresses', up: TRANSFERS_OF_ADDRESSES },
  { name: '016-events-by-topic', up: eventsByTopic('topic0') },
  { name: '017-token-list', up: TOKEN_LIST },
  { name: '018-contract-counters', up: CONTRACT_COUNTERS },
  { name: '019-address-counts', up: ADDRESS_COUNTS },
  { name: '020-block-sums', up: BLOCK_SUMS },
  { name: '021-instance-holders', up: INSTANCE_HOLDERS },
  { name: '022-unread-blocks', up: PARTS_LATER },
  { name: '023-state-attempts', up: STATE_ATTEMPTS },
];

/** Balances of a token by value and the rest of their key. An SQLite index includes the key automatically. */
const POSTGRES_TOKEN_HOLDERS = [
  'drop index token_balances_by_value',
  'create index token_balances_by_value on token_balances (token, value, holder, token_id)',
];

/** Schema on PostgreSQL. Its first steps equal the state of SQLite's at that time. Append only, to both. */
const POSTGRES_MIGRATIONS: readonly Migration[] = [
  { name: '001-tables', up: TABLES },
  { name: '001-counters', up: COUNTERS },
  { name: '001-indexes', up: POSTGRES_INDEXES },
  LEADER_MIGRATION,
  { name: '001-functions', up: FUNCTIONS },
  { name: '014-transfers-of-addresses', up: POSTGRES_TRANSFERS_OF_ADDRESSES },
  { name: '015-token-holders', up: POSTGRES_TOKEN_HOLDERS },
  { name: '016-events-by-topic', up: eventsByTopic('topic0, id') },
  { name: '017-token-list', up: POSTGRES_TOKEN_LIST },
  { name: '018-contract-counters', up: POSTGRES_CONTRACT_COUNTERS },
  { name: '019-address-counts', up: POSTGRES_ADDRESS_COUNTS },
  { name: '020-block-sums', up: POSTGRES_BLOCK_SUMS },
  { name: '021-instance-holders', up: INSTANCE_HOLDERS },
  { name: '022-unread-blocks', up: POSTGRES_PARTS_LATER },
  { name: '023-state-attempts', up: POSTGRES_STATE_ATTEMPTS },
];

/** Options to open the database of a chain's index. On PostgreSQL each chain has its own schema. */
export function indexOptions(database: DatabaseOptions, chainId: number): DatabaseOptions {
  return remakeable(database, `chain_${chainId}`);
}

const MIGRATIONS = { sqlite: INDEX_MIGRATIONS, postgres: POSTGRES_MIGRATIONS };

/** Schema of a chain's index. `setting` is the path of the setting that names the database. */
export function indexSchema(chainId: number, { kind = 'sqlite' }: DatabaseOptions, setting?: string): Schema {
  return {
    title: `index of chain ${chainId}`,
    migrations: MIGRATIONS[kind],
    ...(setting === undefined ? {} : { setting }),
  };
}
