import { DIRTY_KINDS } from '../stale-state.ts';

const DAY_MS = 86_400_000;
/** Decimal digits per part of the supply. 64 bits hold the sum of 9 × 10^8 such parts. */
const PART_DIGITS = 10;
/** Parts of 10 digits for 78 digits, the longest 256-bit integer. */
const PARTS = 8;

/** One part of a balance, counted from the lowest digits. A part beyond the text's length is '', which casts to 0. */
const partOf = (balance: string) =>
  `cast(substr(substr(${balance}, 3), -${PART_DIGITS} * (part + 1), ${PART_DIGITS}) as integer)`;

/** True for the parts that a balance has. The others need no update. */
const hasPart = (balance: string) => `part < (length(${balance}) + ${PART_DIGITS - 3}) / ${PART_DIGITS}`;

/** Adds one block to the counters, or subtracts it when it leaves the chain. */
const counted = (sign: '+' | '-', row: 'new' | 'old') => `
  update block_counters set
    blocks = blocks ${sign} 1,
    transactions = transactions ${sign} ${row}.transaction_count,
    gas_used = gas_used ${sign} ${row}.gas_used,
    filled_blocks = filled_blocks ${sign} (${row}.transaction_count > 0),
    untraced_blocks = untraced_blocks ${sign} (${row}.internal_transaction_count is null)
  where id = 1;`;

/**
 * Counters that are too expensive to count on read. Triggers maintain them, so they are correct in the same transaction
 * that writes or unwinds a block or stores a balance.
 * SQLite has no 256-bit sum: the balances of all addresses are summed in parts of ten digits, which the reader
 * combines.
 */
export const STATISTICS = [
  `create table block_counters (
    id integer primary key check (id = 1),
    blocks integer not null,
    transactions integer not null,
    gas_used integer not null,
    filled_blocks integer not null,
    untraced_blocks integer not null
  ) strict`,
  `insert into block_counters
    select 1, count(*), coalesce(sum(transaction_count), 0), coalesce(sum(gas_used), 0),
      coalesce(sum(transaction_count > 0), 0), coalesce(sum(internal_transaction_count is null), 0) from blocks`,
  `create table days (
    day integer primary key,
    blocks integer not null,
    transactions integer not null,
    gas_used integer not null
  ) strict`,
  `insert into days select timestamp / ${DAY_MS}, count(*), sum(transaction_count), sum(gas_used)
    from blocks group by 1`,
  `create trigger block_counted after insert on blocks begin
    ${counted('+', 'new')}
    insert into days values (new.timestamp / ${DAY_MS}, 1, new.transaction_count, new.gas_used)
      on conflict (day) do update set blocks = blocks + 1, transactions = transactions + excluded.transactions,
        gas_used = gas_used + excluded.gas_used;
  end`,
  `create trigger block_uncounted after delete on blocks begin
    ${counted('-', 'old')}
    update days set blocks = blocks - 1, transactions = transactions - old.transaction_count,
      gas_used = gas_used - old.gas_used where day = old.timestamp / ${DAY_MS};
    delete from days where day = old.timestamp / ${DAY_MS} and blocks = 0;
  end`,
  `create table address_counters (id integer primary key check (id = 1), addresses integer not null) strict`,
  'insert into address_counters select 1, count(*) from addresses',
  'create table coin_supply (part integer primary key, amount integer not null) strict',
  `insert into coin_supply
    select part, coalesce((select sum(${partOf('balance')}) from addresses), 0) from (
      with recursive parts (part) as (select 0 union all select part + 1 from parts where part < ${PARTS - 1})
      select part from parts)`,
  `create trigger address_gained after insert on addresses begin
    update address_counters set addresses = addresses + 1 where id = 1;
    update coin_supply set amount = amount + ${partOf('new.balance')} where ${hasPart('new.balance')};
  end`,
  `create trigger address_changed after update of balance on addresses when new.balance <> old.balance begin
    update coin_supply set amount = amount - ${partOf('old.balance')} + ${partOf('new.balance')}
      where ${hasPart('max(old.balance, new.balance)')};
  end`,
  `create trigger address_lost after delete on addresses begin
    update address_counters set addresses = addresses - 1 where id = 1;
    update coin_supply set amount = amount - ${partOf('old.balance')} where ${hasPart('old.balance')};
  end`,
] as const;

/**
 * Search terms: names and symbols of tokens in the form of `searchKey`. A prefix search is a range of this table.
 * SQL cannot compute this form, so the tokens of an existing index are read from the chain again.
 */
export const SEARCH = [
  `create table token_terms (
    term text not null,
    token blob not null,
    primary key (term, token)
  ) strict, without rowid`,
  'create index token_terms_by_token on token_terms (token, term)',
  `create trigger token_terms_lost after delete on tokens
    begin delete from token_terms where token = old.address; end`,
  `insert into dirty select ${DIRTY_KINDS.token}, address, x'', '' from tokens where is_read = 1
    on conflict do nothing`,
  'update tokens set is_read = 0',
] as const;

/**
 * Implementation of a proxy. A minimal proxy (EIP-1167) names it in its code, which is read with the coin balance.
 * A proxy with storage (EIP-1967) names it in an event at each change; an index finds the last such event.
 */
export const CONTRACTS = [
  'alter table addresses add column implementation blob',
  // keccak256('Upgraded(address)'). SQLite uses a partial index only for an identical condition.
  `create index logs_upgraded on logs (address)
    where topic0 = x'bc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b'`,
  // Code is read only for accounts not known as contracts.
  `insert into dirty select 1, address, x'', '' from addresses where is_contract = 1 on conflict do nothing`,
  'update addresses set is_contract = 0 where is_contract = 1',
] as const;

/** A transaction counts for its sender, and for its receiver or created contract if that is a different address. */
const RECEIVER = (row: string) => `coalesce(${row}to_address, ${row}created_contract)`;

/** Rows whose counter is zero are deleted. */
const uncount = (address: string) => `
  update transaction_counts set transactions = transactions - 1 where address = ${address};
  delete from transaction_counts where address = ${address} and transactions = 0;`;

/**
 * Tables and indexes that make pages of an address's lists cost the same for every address. Two triggers count
 * transactions.
 * `holdings` numbers the balances in order of creation. Paging by that number shows each balance once; paging by amount
 * would lose its position whenever an amount changes.
 */
export const ADDRESSES = [
  `create table transaction_counts (
    address blob primary key,
    transactions integer not null
  ) strict, without rowid`,
  `insert into transaction_counts select address, count(*) from (
    select from_address as address from transactions
    union all select ${RECEIVER('')} from transactions where ${RECEIVER('')} <> from_address) group by address`,
  `create trigger transaction_gained after insert on transactions begin
    insert into transaction_counts values (new.from_address, 1)
      on conflict (address) do update set transactions = transactions + 1;
    insert into transaction_counts select ${RECEIVER('new.')}, 1
      where ${RECEIVER('new.')} <> new.from_address
      on conflict (address) do update set transactions = transactions + 1;
  end`,
  `create trigger transaction_lost after delete on transactions begin
    ${uncount('old.from_address')}
    ${uncount(`iif(${RECEIVER('old.')} <> old.from_address, ${RECEIVER('old.')}, null)`)}
  end`,
  `create table holdings (
    id integer primary key autoincrement,
    holder blob not null,
    type integer not null,
    token blob not null,
    token_id text not null,
    unique (token, holder, token_id)
  ) strict`,
  `insert into holdings (holder, type, token, token_id)
    select b.holder, t.type, b.token, b.token_id from token_balances b join tokens t on t.address = b.token`,
  'create index holdings_by_holder on holdings (holder, type)',
  `create trigger holding_gained after insert on token_balances begin
    insert into holdings (holder, type, token, token_id)
      select new.holder, type, new.token, new.token_id from tokens where address = new.token;
  end`,
  `create trigger holding_lost after delete on token_balances begin
    delete from holdings where token = old.token and holder = old.holder and token_id = old.token_id;
  end`,
  // Only ERC-1155 balances have an id. SQLite uses these partial indexes only for an identical condition.
  `create index token_balances_by_instance on token_balances (token, token_id, holder, value)
    where token_id <> ''`,
  `create index token_balances_with_id on token_balances (holder, token, token_id) where token_id <> ''`,
  'create index withdrawals_by_index on withdrawals (withdrawal_index)',
  'create index withdrawals_by_receiver on withdrawals (address, withdrawal_index)',
  `create index internal_transactions_by_created_contract on internal_transactions (created_contract)
    where created_contract is not null`,
] as const;
