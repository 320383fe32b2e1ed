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
 * `blocks` holds only the canonical chain, so no query has to exclude other blocks.
 * An orphaned block moves to `stale_blocks` with its header; its contents are deleted.
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

/** Rows decoded from a block's logs, traces and body. A batch transfer has one row per token id. */
export const TRANSFERS = [
  `create table token_transfers (
    id integer primary key,
    block_number integer generated always as (id >> 20) virtual,
    transaction_id integer not null,
    log_index integer not null,
    batch_index integer not null,
    token blob not null,
    token_type integer not null,
    from_address blob not null,
    to_address blob not null,
    token_id text,
    amount text
  ) strict`,
  `create table internal_transactions (
    id integer primary key,
    block_number integer generated always as (id >> 20) virtual,
    transaction_id integer not null,
    trace_index integer not null,
    type text not null,
    from_address blob not null,
    to_address blob,
    created_contract blob,
    value text not null,
    gas_limit text not null,
    gas_used text not null,
    error text
  ) strict`,
  `create table withdrawals (
    id integer primary key,
    block_number integer generated always as (id >> 20) virtual,
    withdrawal_index integer not null,
    validator_index integer not null,
    address blob not null,
    amount text not null
  ) strict`,
  `create table contracts (
    address blob not null,
    transaction_id integer not null,
    creator blob not null,
    primary key (address, transaction_id)
  ) strict, without rowid`,
] as const;

/** At most two balance rows of the same token and holder. An ERC-1155 holder has one row per token id. */
const OTHER_ROWS = (row: 'new' | 'old') =>
  `select 1 from token_balances where token = ${row}.token and holder = ${row}.holder limit 2`;

/**
 * State read from the chain, and `dirty`, the state to read again.
 * Zero balances are not stored, so a token's holder count is its number of distinct holders. Two triggers maintain it.
 */
export const BALANCES = [
  `create table addresses (
    address blob primary key,
    balance text not null,
    is_contract integer not null
  ) strict, without rowid`,
  `create table tokens (
    address blob primary key,
    type integer not null,
    name text,
    symbol text,
    decimals integer,
    total_supply text,
    holder_count integer not null default 0,
    first_block integer not null,
    is_read integer not null default 0
  ) strict, without rowid`,
  `create table token_balances (
    token blob not null,
    holder blob not null,
    token_id text not null,
    value text not null,
    primary key (token, holder, token_id)
  ) strict, without rowid`,
  `create table token_instances (
    token blob not null,
    token_id text not null,
    owner blob not null,
    primary key (token, token_id)
  ) strict, without rowid`,
  `create table dirty (
    kind integer not null,
    address blob not null,
    holder blob not null,
    token_id text not null,
    primary key (kind, address, holder, token_id)
  ) strict, without rowid`,
  `create trigger holder_gained after insert on token_balances
    when (select count(*) from (${OTHER_ROWS('new')})) = 1
    begin update tokens set holder_count = holder_count + 1 where address = new.token; end`,
  `create trigger holder_lost after delete on token_balances
    when not exists (${OTHER_ROWS('old')})
    begin update tokens set holder_count = holder_count - 1 where address = old.token; end`,
] as const;

/**
 * Every index ends in the row's key, which is its position on the chain. An equality on the indexed columns is
 * therefore already sorted newest first.
 */
export const INDEXES = [
  'create index blocks_by_miner on blocks (miner)',
  'create index blocks_by_timestamp on blocks (timestamp)',
  'create index stale_blocks_by_kind on stale_blocks (kind, number, hash)',
  'create index transactions_by_from on transactions (from_address)',
  'create index transactions_by_to on transactions (to_address)',
  'create index transactions_by_facts on transactions (facts)',
  'create index transactions_by_selector on transactions (selector, facts) where selector is not null',
  `create index transactions_by_created_contract on transactions (created_contract)
    where created_contract is not null`,
  'create index logs_by_transaction on logs (transaction_id)',
  'create index logs_by_address on logs (address)',
  'create index logs_by_topic on logs (topic0)',
  'create index token_transfers_by_transaction on token_transfers (transaction_id)',
  'create index token_transfers_by_type on token_transfers (token_type)',
  'create index token_transfers_by_token on token_transfers (token)',
  'create index token_transfers_by_from on token_transfers (from_address)',
  'create index token_transfers_by_to on token_transfers (to_address)',
  'create index internal_transactions_by_transaction on internal_transactions (transaction_id)',
  'create index internal_transactions_by_from on internal_transactions (from_address)',
  'create index internal_transactions_by_to on internal_transactions (to_address)',
  'create index withdrawals_by_address on withdrawals (address)',
  'create index contracts_by_transaction on contracts (transaction_id)',
  'create index addresses_by_balance on addresses (balance, address)',
  'create index tokens_by_first_block on tokens (first_block)',
  'create index token_balances_by_holder on token_balances (holder, token, token_id)',
  'create index token_balances_by_value on token_balances (token, value, holder)',
  'create index token_instances_by_owner on token_instances (owner, token, token_id)',
] as const;
