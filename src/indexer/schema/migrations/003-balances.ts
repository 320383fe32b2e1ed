/** Whether the token has another balance row of the same holder (an ERC-1155 holder has one a token id). */
const OTHER_ROWS = (row: 'new' | 'old') =>
  `select 1 from token_balances where token = ${row}.token and holder = ${row}.holder limit 2`;

/**
 * State that is read from the chain, and `dirty`: what has to be read again. A balance of zero is no row,
 * so the number of a token's holders is its rows' distinct holders, which two triggers keep counted.
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
