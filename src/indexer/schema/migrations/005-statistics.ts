const DAY_MS = 86_400_000;
/** Decimal digits of one part of the supply: 64 bits hold the sum of 9 × 10^8 such parts. */
const PART_DIGITS = 10;
/** 78 digits, the longest 256-bit integer, in parts of ten. */
const PARTS = 8;

/** One part of a balance, counted from the lowest digits; beyond its length a text gives '', which is 0. */
const partOf = (balance: string) =>
  `cast(substr(substr(${balance}, 3), -${PART_DIGITS} * (part + 1), ${PART_DIGITS}) as integer)`;

/** The parts that a balance has; the others need not be touched. */
const hasPart = (balance: string) => `part < (length(${balance}) + ${PART_DIGITS - 3}) / ${PART_DIGITS}`;

/** What one block adds to the counters, or takes from them when it leaves the chain. */
const counted = (sign: '+' | '-', row: 'new' | 'old') => `
  update block_counters set
    blocks = blocks ${sign} 1,
    transactions = transactions ${sign} ${row}.transaction_count,
    gas_used = gas_used ${sign} ${row}.gas_used,
    filled_blocks = filled_blocks ${sign} (${row}.transaction_count > 0),
    untraced_blocks = untraced_blocks ${sign} (${row}.internal_transaction_count is null)
  where id = 1;`;

/**
 * Counters that no reader could afford to count. Triggers keep them, so they are right in the very transaction
 * that writes a block, unwinds one or stores a balance, whoever does it. SQLite has no 256-bit sum: the coins
 * of all addresses are summed in parts of ten digits, and the reader puts the parts together.
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
