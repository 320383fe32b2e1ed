/** What is read out of a block's logs, traces and body. One row of a batch transfer is one token id. */
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
