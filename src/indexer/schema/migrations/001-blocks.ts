const BLOCK_BODY = `
  hash blob not null unique,
  parent_hash blob not null,
  timestamp integer not null,
  miner blob not null,
  gas_limit text not null,
  gas_used integer not null,
  base_fee_per_gas text,
  difficulty text not null,
  total_difficulty text,
  nonce blob,
  extra_data blob not null,
  state_root blob not null,
  size integer,
  uncles text not null,
  transaction_count integer not null,
  withdrawals_count integer,
  internal_transaction_count integer,
  transaction_fees text not null,
  burnt_fees text,
  priority_fees text not null,
  blob_gas_used integer,
  excess_blob_gas text`;

/**
 * `blocks` is the canonical chain and nothing else, so no read has to remember to leave something out.
 * A block that lost its place moves to `stale_blocks` with all its header facts; what was inside it goes.
 */
export const BLOCKS = [
  `create table index_state (
    id integer primary key check (id = 1),
    chain_id integer not null,
    epoch integer not null default 0,
    identity text not null default (lower(hex(randomblob(8)))),
    high_water integer not null default -1
  ) strict`,
  `create table blocks (number integer primary key, ${BLOCK_BODY}) strict`,
  `create table stale_blocks (
    id integer primary key, kind text not null, number integer not null, ${BLOCK_BODY}
  ) strict`,
  `create table transactions (
    id integer primary key,
    block_number integer generated always as (id >> 20) virtual,
    position integer generated always as (id & 1048575) virtual,
    hash blob not null unique,
    timestamp integer not null,
    from_address blob not null,
    to_address blob,
    value text not null,
    nonce text not null,
    gas_limit text not null,
    gas_used integer not null,
    gas_price text not null,
    max_fee_per_gas text,
    max_priority_fee_per_gas text,
    max_fee_per_blob_gas text,
    blob_gas_used integer,
    blob_gas_price text,
    blob_hashes text,
    authorization_list text,
    type integer not null,
    status integer,
    fee text not null,
    input blob not null,
    selector blob,
    created_contract blob,
    error text,
    output blob,
    has_internal_error integer,
    facts integer not null,
    token_transfer_count integer not null
  ) strict`,
  `create table logs (
    id integer primary key,
    block_number integer generated always as (id >> 20) virtual,
    log_index integer generated always as (id & 1048575) virtual,
    transaction_id integer not null,
    timestamp integer not null,
    address blob not null,
    topic0 blob,
    topic1 blob,
    topic2 blob,
    topic3 blob,
    data blob not null
  ) strict`,
] as const;
