/*
 * The index on PostgreSQL, equal to SQLite's schema after `013-views`. Text compares by bytes. Amounts are `numeric`;
 * token ids are names and therefore text, as on SQLite.
 * Columns from the bits of a key are computed once, when the row is written.
 */

const TEXT = 'text collate "C"';
const AMOUNT = 'numeric(78, 0)';
const BLOCK_NUMBER = 'block_number bigint generated always as (id >> 20) stored';
const inBlock = (name: string) => `${name} bigint generated always as (id & 1048575) stored`;

const BLOCK_BODY = `
  hash bytea not null unique,
  parent_hash bytea not null,
  timestamp bigint not null,
  miner bytea not null,
  gas_limit ${AMOUNT} not null,
  gas_used bigint not null,
  base_fee_per_gas ${AMOUNT},
  difficulty ${AMOUNT} not null,
  total_difficulty ${AMOUNT},
  nonce bytea,
  extra_data bytea not null,
  state_root bytea not null,
  size bigint,
  uncles ${TEXT} not null,
  transaction_count bigint not null,
  withdrawals_count bigint,
  internal_transaction_count bigint,
  transaction_fees ${AMOUNT} not null,
  burnt_fees ${AMOUNT},
  priority_fees ${AMOUNT} not null,
  blob_gas_used bigint,
  excess_blob_gas ${AMOUNT}`;

export const TABLES = [
  `create table index_state (
    id bigint primary key check (id = 1),
    chain_id bigint not null,
    epoch bigint not null default 0,
    identity ${TEXT} not null default substr(replace(gen_random_uuid()::text, '-', ''), 1, 16),
    high_water bigint not null default -1
  )`,
  `create table blocks (number bigint primary key, ${BLOCK_BODY})`,
  `create table stale_blocks (
    id bigint generated always as identity primary key, kind ${TEXT} not null, number bigint not null, ${BLOCK_BODY}
  )`,
  `create table block_details (
    number bigint primary key,
    sha3_uncles bytea,
    mix_hash bytea,
    transactions_root bytea,
    receipts_root bytea,
    withdrawals_root bytea,
    logs_bloom bytea
  )`,
  `create table transactions (
    id bigint primary key,
    ${BLOCK_NUMBER},
    ${inBlock('position')},
    hash bytea not null unique,
    timestamp bigint not null,
    from_address bytea not null,
    to_address bytea,
    value ${AMOUNT} not null,
    nonce ${AMOUNT} not null,
    gas_limit ${AMOUNT} not null,
    gas_used bigint not null,
    gas_price ${AMOUNT} not null,
    max_fee_per_gas ${AMOUNT},
    max_priority_fee_per_gas ${AMOUNT},
    max_fee_per_blob_gas ${AMOUNT},
    blob_gas_used bigint,
    blob_gas_price ${AMOUNT},
    blob_hashes ${TEXT},
    authorization_list ${TEXT},
    type bigint not null,
    status bigint,
    fee ${AMOUNT} not null,
    input bytea not null,
    selector bytea,
    created_contract bytea,
    error ${TEXT},
    output bytea,
    has_internal_error bigint,
    facts bigint not null,
    token_transfer_count bigint not null
  )`,
  `create table transaction_details (
    id bigint primary key,
    r ${AMOUNT} not null,
    s ${AMOUNT} not null,
    v ${AMOUNT} not null,
    cumulative_gas_used bigint,
    access_list ${TEXT},
    logs_bloom bytea
  )`,
  `create table logs (
    id bigint primary key,
    ${BLOCK_NUMBER},
    ${inBlock('log_index')},
    transaction_id bigint not null,
    timestamp bigint not null,
    address bytea not null,
    topic0 bytea,
    topic1 bytea,
    topic2 bytea,
    topic3 bytea,
    data bytea not null
  )`,
  `create table token_transfers (
    id bigint primary key,
    ${BLOCK_NUMBER},
    transaction_id bigint not null,
    log_index bigint not null,
    batch_index bigint not null,
    token bytea not null,
    token_type bigint not null,
    from_address bytea not null,
    to_address bytea not null,
    token_id ${TEXT},
    amount ${AMOUNT}
  )`,
  `create table internal_transactions (
    id bigint primary key,
    ${BLOCK_NUMBER},
    transaction_id bigint not null,
    trace_index bigint not null,
    type ${TEXT} not null,
    from_address bytea not null,
    to_address bytea,
    created_contract bytea,
    value ${AMOUNT} not null,
    gas_limit ${AMOUNT} not null,
    gas_used ${AMOUNT} not null,
    error ${TEXT}
  )`,
  `create table withdrawals (
    id bigint primary key,
    ${BLOCK_NUMBER},
    withdrawal_index bigint not null,
    validator_index bigint not null,
    address bytea not null,
    amount ${AMOUNT} not null
  )`,
  `create table contracts (
    address bytea not null,
    transaction_id bigint not null,
    creator bytea not null,
    primary key (address, transaction_id)
  )`,
  `create table addresses (
    address bytea primary key,
    balance ${AMOUNT} not null,
    is_contract bigint not null,
    implementation bytea
  )`,
  `create table tokens (
    address bytea primary key,
    type bigint not null,
    name ${TEXT},
    symbol ${TEXT},
    decimals bigint,
    total_supply ${AMOUNT},
    holder_count bigint not null default 0,
    first_block bigint not null,
    is_read bigint not null default 0
  )`,
  `create table token_terms (term ${TEXT} not null, token bytea not null, primary key (term, token))`,
  `create table token_balances (
    token bytea not null,
    holder bytea not null,
    token_id ${TEXT} not null,
    value ${AMOUNT} not null,
    primary key (token, holder, token_id)
  )`,
  `create table token_instances (
    token bytea not null,
    token_id ${TEXT} not null,
    owner bytea not null,
    primary key (token, token_id)
  )`,
  `create table dirty (
    kind bigint not null,
    address bytea not null,
    holder bytea not null,
    token_id ${TEXT} not null,
    primary key (kind, address, holder, token_id)
  )`,
  `create table retyping (
    id bigint primary key check (id = 1),
    next_block bigint not null,
    end_block bigint not null
  )`,
] as const;

/** An equality on the columns before the key returns rows already sorted newest first. */
export const INDEXES = [
  'create index blocks_by_miner on blocks (miner, number)',
  'create index blocks_by_timestamp on blocks (timestamp, number)',
  'create index stale_blocks_by_kind on stale_blocks (kind, number, hash)',
  'create index transactions_by_from on transactions (from_address, id)',
  'create index transactions_by_to on transactions (to_address, id)',
  'create index transactions_by_facts on transactions (facts, id)',
  'create index transactions_by_selector on transactions (selector, facts, id) where selector is not null',
  'create index transactions_by_function on transactions (selector, id) where selector is not null',
  `create index transactions_by_created_contract on transactions (created_contract, id)
    where created_contract is not null`,
  'create index logs_by_transaction on logs (transaction_id, id)',
  'create index logs_by_address on logs (address, id)',
  'create index logs_by_event on logs (address, topic0, id)',
  'create index logs_by_topic1 on logs (address, topic0, topic1, id) where topic1 is not null',
  'create index logs_by_topic2 on logs (address, topic0, topic2, id) where topic2 is not null',
  'create index logs_by_topic3 on logs (address, topic0, topic3, id) where topic3 is not null',
  `create index logs_sync on logs (address, timestamp, id)
    where topic0 = decode('1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1', 'hex')`,
  `create index logs_upgraded on logs (address, id)
    where topic0 = decode('bc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b', 'hex')`,
  'create index token_transfers_by_transaction on token_transfers (transaction_id, id)',
  'create index token_transfers_by_type on token_transfers (token_type, id)',
  'create index token_transfers_by_token on token_transfers (token, id)',
  'create index token_transfers_by_instance on token_transfers (token, token_id, id) where token_id is not null',
  'create index token_transfers_by_from on token_transfers (from_address, id)',
  'create index token_transfers_by_to on token_transfers (to_address, id)',
  'create index internal_transactions_by_transaction on internal_transactions (transaction_id, id)',
  'create index internal_transactions_by_from on internal_transactions (from_address, id)',
  'create index internal_transactions_by_to on internal_transactions (to_address, id)',
  `create index internal_transactions_by_created_contract on internal_transactions (created_contract, id)
    where created_contract is not null`,
  'create index withdrawals_by_address on withdrawals (address, id)',
  'create index withdrawals_by_index on withdrawals (withdrawal_index)',
  'create index withdrawals_by_receiver on withdrawals (address, withdrawal_index)',
  'create index contracts_by_transaction on contracts (transaction_id)',
  'create index addresses_by_balance on addresses (balance, address)',
  'create index tokens_by_first_block on tokens (first_block)',
  'create index token_terms_by_token on token_terms (token, term)',
  `create index token_balances_by_instance on token_balances (token, token_id, holder) where token_id <> ''`,
  'create index token_balances_by_holder on token_balances (holder, token, token_id)',
  `create index token_balances_with_id on token_balances (holder, token, token_id) where token_id <> ''`,
  'create index token_balances_by_value on token_balances (token, value, holder)',
  'create index token_instances_by_owner on token_instances (owner, token, token_id)',
  'create index holdings_by_holder on holdings (holder, type, id)',
  'create index pairs_by_tokens on pairs (factory, first_token, second_token)',
  'create index trades_by_pair on trades (pair, timestamp, id)',
] as const;
