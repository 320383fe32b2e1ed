import { trigger } from './postgres-001-counters.ts';

/** Transfers from or to an address, transfers of the token at the address, and blocks that it validated. */
const COUNTERS = ['token_transfers', 'transfers_of_token', 'validated_blocks'] as const;
type Counter = (typeof COUNTERS)[number];

const COLUMNS = COUNTERS.join(', ');
const ARE_ZERO = COUNTERS.map(counter => `${counter} = 0`).join(' and ');

/** Counts 1 per row for an address, in one of the counters. */
const each = (address: string, counted: Counter) =>
  `select ${address} as address, ${COUNTERS.map(counter => `${Number(counter === counted)} as ${counter}`).join(', ')}`;

/** Counts from token transfers. A transfer from an address to itself counts once. */
const OF_TRANSFERS = (transfers: string) => `
  ${each('from_address', 'token_transfers')} from ${transfers}
  union all ${each('to_address', 'token_transfers')} from ${transfers} where to_address <> from_address
  union all ${each('token', 'transfers_of_token')} from ${transfers}`;

/** Counts from blocks. */
const OF_BLOCKS = (blocks: string) => `${each('miner', 'validated_blocks')} from ${blocks}`;

const summed = (counts: string) => `
  select address, ${COUNTERS.map(counter => `sum(${counter}) as ${counter}`).join(', ')}
  from (${counts}) as counted group by address`;

const GAS_OF_FORMER = `insert into transaction_counts (address, transactions, gas_sent, gas_received)
    select address, 0, sum(gas_sent), sum(gas_received) from (
      select from_address as address, gas_used as gas_sent, 0 as gas_received from transactions
      union all select to_address, 0, gas_used from transactions where to_address is not null) as moved
    group by address
    on conflict (address) do update set gas_sent = excluded.gas_sent, gas_received = excluded.gas_received`;

const COUNTS_OF_FORMER = `insert into address_counts (address, ${COLUMNS})
  ${summed(`${OF_TRANSFERS('token_transfers')} union all ${OF_BLOCKS('blocks')}`)}`;

/** Receiver of a transaction, or the contract that it creates. */
const RECEIVER = (row: 'new' | 'old') => `coalesce(${row}.to_address, ${row}.created_contract)`;
const GAS_RECEIVED = (row: 'new' | 'old') => `iif(${row}.to_address is null, 0, ${row}.gas_used)`;

/** Rows whose counters are zero are deleted. */
const uncountTransaction = (address: string, { isOther, gas }: { isOther: string; gas: string }) => `
  update transaction_counts set transactions = transactions - ${isOther}, ${gas} where address = ${address};
  delete from transaction_counts where address = ${address} and transactions = 0;`;

const count = (counter: Counter, address: string, condition = 'true') => `
  insert into address_counts (address, ${counter}) select ${address}, 1 where ${condition}
    on conflict (address) do update set ${counter} = ${counter} + 1;`;

const uncount = (counter: Counter, address: string) => `
  update address_counts set ${counter} = ${counter} - 1 where address = ${address};
  delete from address_counts where address = ${address} and ${ARE_ZERO};`;

/**
 * Activity counters of addresses, maintained on write: gas is stored with the transaction count, the rest in its own
 * table.
 * A transaction of an address to itself counts once, with its gas on both sides.
 */
export const ADDRESS_COUNTS = [
  'alter table transaction_counts add column gas_sent integer not null default 0',
  'alter table transaction_counts add column gas_received integer not null default 0',
  GAS_OF_FORMER,
  'drop trigger transaction_gained',
  'drop trigger transaction_lost',
  `create trigger transaction_gained after insert on transactions begin
    insert into transaction_counts (address, transactions, gas_sent, gas_received)
      values (new.from_address, 1, new.gas_used, 0)
      on conflict (address) do update set transactions = transactions + 1, gas_sent = gas_sent + excluded.gas_sent;
    insert into transaction_counts (address, transactions, gas_sent, gas_received)
      select ${RECEIVER('new')}, ${RECEIVER('new')} <> new.from_address, 0, ${GAS_RECEIVED('new')}
      where ${RECEIVER('new')} is not null
      on conflict (address) do update set transactions = transactions + excluded.transactions,
        gas_received = gas_received + excluded.gas_received;
  end`,
  `create trigger transaction_lost after delete on transactions begin
    ${uncountTransaction('old.from_address', { isOther: '1', gas: 'gas_sent = gas_sent - old.gas_used' })}
    ${uncountTransaction(RECEIVER('old'), {
      isOther: `(${RECEIVER('old')} <> old.from_address)`,
      gas: `gas_received = gas_received - ${GAS_RECEIVED('old')}`,
    })}
  end`,
  `create table address_counts (
    address blob primary key,
    ${COUNTERS.map(counter => `${counter} integer not null default 0`).join(', ')}
  ) strict, without rowid`,
  COUNTS_OF_FORMER,
  `create trigger transfer_gained after insert on token_transfers begin
    ${count('token_transfers', 'new.from_address')}
    ${count('token_transfers', 'new.to_address', 'new.to_address <> new.from_address')}
    ${count('transfers_of_token', 'new.token')}
  end`,
  `create trigger transfer_lost after delete on token_transfers begin
    ${uncount('token_transfers', 'old.from_address')}
    ${uncount('token_transfers', 'iif(old.to_address <> old.from_address, old.to_address, null)')}
    ${uncount('transfers_of_token', 'old.token')}
  end`,
  `create trigger validated_block_gained after insert on blocks begin
    ${count('validated_blocks', 'new.miner')}
  end`,
  `create trigger validated_block_lost after delete on blocks begin
    ${uncount('validated_blocks', 'old.miner')}
  end`,
] as const;

/** Counts of the senders and receivers of transactions. */
const PARTIES = (transactions: string) => `
  select address, sum(transactions) as transactions, sum(gas_sent) as gas_sent, sum(gas_received) as gas_received from (
    select from_address as address, 1 as transactions, gas_used as gas_sent, 0 as gas_received from ${transactions}
    union all
    select coalesce(to_address, created_contract),
      case when coalesce(to_address, created_contract) = from_address then 0 else 1 end, 0,
      case when to_address is null then 0 else gas_used end
    from ${transactions} where coalesce(to_address, created_contract) is not null
  ) parties group by address`;

const PARTY_COLUMNS = ['transactions', 'gas_sent', 'gas_received'] as const;

const added = (table: string, columns: readonly string[]) =>
  columns.map(column => `${column} = ${table}.${column} + excluded.${column}`).join(', ');
const subtracted = (columns: readonly string[]) =>
  columns.map(column => `${column} = c.${column} - lost.${column}`).join(', ');

/** Triggers that add the counts of inserted rows and subtract those of deleted rows. */
const counting = (name: string, table: string, adds: (rows: string) => string) => [
  ...trigger(
    `${name}_counted`,
    `insert on ${table}`,
    `insert into address_counts (address, ${COLUMNS}) ${summed(adds('added'))}
      on conflict (address) do update set ${added('address_counts', COUNTERS)};`,
  ),
  ...trigger(
    `${name}_uncounted`,
    `delete on ${table}`,
    `update address_counts c set ${subtracted(COUNTERS)}
      from (${summed(adds('removed'))}) lost where c.address = lost.address;
    delete from address_counts c using (${adds('removed')}) lost
      where c.address = lost.address and ${COUNTERS.map(counter => `c.${counter} = 0`).join(' and ')};`,
  ),
];

/** Address counts on PostgreSQL. */
export const POSTGRES_ADDRESS_COUNTS = [
  'alter table transaction_counts add column gas_sent bigint not null default 0',
  'alter table transaction_counts add column gas_received bigint not null default 0',
  GAS_OF_FORMER,
  'drop function transactions_gained cascade',
  'drop function transactions_lost cascade',
  ...trigger(
    'transactions_gained',
    'insert on transactions',
    `insert into transaction_counts (address, transactions, gas_sent, gas_received) ${PARTIES('added')}
      on conflict (address) do update set ${added('transaction_counts', PARTY_COLUMNS)};`,
  ),
  ...trigger(
    'transactions_lost',
    'delete on transactions',
    `with lost as (${PARTIES('removed')}), gone as (
        delete from transaction_counts c using lost
        where c.address = lost.address and c.transactions = lost.transactions
      )
      update transaction_counts c set ${subtracted(PARTY_COLUMNS)}
      from lost where c.address = lost.address and c.transactions > lost.transactions;`,
  ),
  `create table address_counts (
    address bytea primary key,
    ${COUNTERS.map(counter => `${counter} bigint not null default 0`).join(', ')}
  )`,
  COUNTS_OF_FORMER,
  ...counting('transfers', 'token_transfers', OF_TRANSFERS),
  ...counting('validated_blocks', 'blocks', OF_BLOCKS),
];
