import { trigger } from './postgres-functions.ts';

const DAY_MS = 86_400_000;

/** Adds blocks to the counters, or subtracts them when they leave the chain. */
const countBlocks = (sign: '+' | '-', blocks: string) => `
  update block_counters c set
      blocks = c.blocks ${sign} n.blocks,
      transactions = c.transactions ${sign} n.transactions,
      gas_used = c.gas_used ${sign} n.gas_used,
      filled_blocks = c.filled_blocks ${sign} n.filled_blocks,
      untraced_blocks = c.untraced_blocks ${sign} n.untraced_blocks
    from (
      select count(*) as blocks, sum(transaction_count) as transactions, sum(gas_used) as gas_used,
        count(*) filter (where transaction_count > 0) as filled_blocks,
        count(*) filter (where internal_transaction_count is null) as untraced_blocks
      from ${blocks}
    ) n
    where c.id = 1 and n.blocks > 0;`;

const byDay = (blocks: string) => `
  select timestamp / ${DAY_MS} as day, count(*) as blocks, sum(transaction_count) as transactions,
    sum(gas_used) as gas_used
  from ${blocks} group by 1`;

const BLOCK_COUNTERS = [
  'insert into block_counters values (1, 0, 0, 0, 0, 0)',
  ...trigger(
    'blocks_counted',
    'insert on blocks',
    `${countBlocks('+', 'added')}
    insert into days ${byDay('added')}
      on conflict (day) do update set blocks = days.blocks + excluded.blocks,
        transactions = days.transactions + excluded.transactions, gas_used = days.gas_used + excluded.gas_used;`,
  ),
  ...trigger(
    'blocks_uncounted',
    'delete on blocks',
    `${countBlocks('-', 'removed')}
    update days d set blocks = d.blocks - n.blocks, transactions = d.transactions - n.transactions,
      gas_used = d.gas_used - n.gas_used from (${byDay('removed')}) n where d.day = n.day;
    delete from days where blocks = 0;`,
  ),
];

/** Adds the rows of a statement to the counters, or subtracts them. */
const countAddresses = (sign: '+' | '-', rows: string) => `
  update address_counters c set addresses = c.addresses ${sign} n.addresses, coins = c.coins ${sign} n.coins,
      contracts = c.contracts ${sign} n.contracts
    from (
      select count(*) as addresses, sum(balance) as coins, coalesce(sum(is_contract), 0) as contracts from ${rows}
    ) n where c.id = 1 and n.addresses > 0;`;

const ADDRESS_COUNTERS = [
  `create table address_counters (
    id bigint primary key check (id = 1),
    addresses bigint not null,
    contracts bigint not null,
    coins numeric not null
  )`,
  'insert into address_counters values (1, 0, 0, 0)',
  ...trigger('addresses_gained', 'insert on addresses', countAddresses('+', 'added')),
  ...trigger(
    'addresses_changed',
    'update on addresses',
    `update address_counters c set coins = c.coins + n.coins, contracts = c.contracts + n.contracts from (
        select a.coins - r.coins as coins, a.contracts - r.contracts as contracts
        from (select coalesce(sum(balance), 0) as coins, coalesce(sum(is_contract), 0) as contracts from added) a
        cross join (select coalesce(sum(balance), 0) as coins, coalesce(sum(is_contract), 0) as contracts from removed) r
      ) n where c.id = 1 and (n.coins <> 0 or n.contracts <> 0);`,
  ),
  ...trigger('addresses_lost', 'delete on addresses', countAddresses('-', 'removed')),
  `create view totals (
    blocks, transactions, gas_used, filled_blocks, untraced_blocks, addresses, supply_parts, contracts
  ) as
    select b.blocks, b.transactions, b.gas_used::text, b.filled_blocks, b.untraced_blocks, a.addresses,
      '["' || a.coins || '"]', a.contracts
    from block_counters b cross join address_counters a where b.id = 1 and a.id = 1`,
];

/** Running number and fees of transactions per block. Fees that become known later change the sums of later blocks. */
const BLOCK_SUMS = [
  'create table fee_sums (number bigint primary key, transactions bigint not null, fees numeric not null)',
  ...trigger(
    'fees_gained',
    'insert on blocks',
    `insert into fee_sums
      select b.number, coalesce(parent.transactions, 0) + sum(b.transaction_count) over so_far,
        coalesce(parent.fees, 0) + sum(coalesce(b.transaction_fees, 0)) over so_far
      from added b left join fee_sums parent on parent.number = (select min(number) - 1 from added)
      window so_far as (order by b.number);`,
  ),
  ...trigger(
    'parts_known',
    'update on blocks',
    `update fee_sums s set fees = s.fees + (
        select coalesce(sum(coalesce(a.transaction_fees, 0) - coalesce(r.transaction_fees, 0)), 0)
        from added a join removed r on r.number = a.number where a.number <= s.number)
      where s.number >= (
        select min(a.number) from added a join removed r on r.number = a.number
        where a.transaction_fees is distinct from r.transaction_fees);
    update block_counters set untraced_blocks = untraced_blocks
      + (select count(*) from added where internal_transaction_count is null)
      - (select count(*) from removed where internal_transaction_count is null) where id = 1;`,
  ),
  ...trigger(
    'fees_lost',
    'delete on blocks',
    'delete from fee_sums s using removed r where s.number = r.number;',
  ),
  `create view block_sums (number, transactions, fee_parts) as
    select number, transactions, '["' || fees || '"]' from fee_sums`,
];

const addedTo = (table: string, columns: readonly string[]) =>
  columns.map(column => `${column} = ${table}.${column} + excluded.${column}`).join(', ');
const subtracted = (columns: readonly string[]) =>
  columns.map(column => `${column} = c.${column} - lost.${column}`).join(', ');

/**
 * Counts of the senders of transactions, and of their receivers or created contracts. A transaction of an address to
 * itself counts once, with its gas on both sides. Unknown gas counts as 0.
 */
const partiesOf = (transactions: string) => `
  select address, sum(transactions) as transactions, sum(gas_sent) as gas_sent, sum(gas_received) as gas_received from (
    select from_address as address, 1 as transactions, coalesce(gas_used, 0) as gas_sent, 0 as gas_received
      from ${transactions}
    union all
    select coalesce(to_address, created_contract),
      case when coalesce(to_address, created_contract) = from_address then 0 else 1 end, 0,
      case when to_address is null then 0 else coalesce(gas_used, 0) end
    from ${transactions} where coalesce(to_address, created_contract) is not null
  ) parties group by address`;

const PARTY_COUNTERS = ['transactions', 'gas_sent', 'gas_received'] as const;

/** Rows whose counters are zero are deleted. */
const TRANSACTION_COUNTS = [
  ...trigger(
    'transactions_gained',
    'insert on transactions',
    `insert into transaction_counts (address, transactions, gas_sent, gas_received) ${partiesOf('added')}
      on conflict (address) do update set ${addedTo('transaction_counts', PARTY_COUNTERS)};`,
  ),
  ...trigger(
    'transactions_lost',
    'delete on transactions',
    `with lost as (${partiesOf('removed')}), gone as (
        delete from transaction_counts c using lost
        where c.address = lost.address and c.transactions = lost.transactions
      )
      update transaction_counts c set ${subtracted(PARTY_COUNTERS)}
      from lost where c.address = lost.address and c.transactions > lost.transactions;`,
  ),
];

const COUNTERS = ['token_transfers', 'transfers_of_token', 'validated_blocks'] as const;

/** Counts 1 per row for an address, in one of the counters. */
const countEach = (address: string, counted: (typeof COUNTERS)[number]) =>
  `select ${address} as address, ${COUNTERS.map(counter => `${Number(counter === counted)} as ${counter}`).join(', ')}`;

/** A transfer from an address to itself counts once. */
const ofTransfers = (transfers: string) => `
  ${countEach('from_address', 'token_transfers')} from ${transfers}
  union all ${countEach('to_address', 'token_transfers')} from ${transfers} where to_address <> from_address
  union all ${countEach('token', 'transfers_of_token')} from ${transfers}`;
const ofBlocks = (blocks: string) => `${countEach('miner', 'validated_blocks')} from ${blocks}`;

const summed = (counts: string) => `
  select address, ${COUNTERS.map(counter => `sum(${counter}) as ${counter}`).join(', ')}
  from (${counts}) as counted group by address`;

/** Triggers that add the counts of inserted rows and subtract those of deleted rows. */
const counting = (name: string, table: string, countsOf: (rows: string) => string) => [
  ...trigger(
    `${name}_counted`,
    `insert on ${table}`,
    `insert into address_counts (address, ${COUNTERS.join(', ')}) ${summed(countsOf('added'))}
      on conflict (address) do update set ${addedTo('address_counts', COUNTERS)};`,
  ),
  ...trigger(
    `${name}_uncounted`,
    `delete on ${table}`,
    `update address_counts c set ${subtracted(COUNTERS)}
      from (${summed(countsOf('removed'))}) lost where c.address = lost.address;
    delete from address_counts c using (${countsOf('removed')}) lost
      where c.address = lost.address and ${COUNTERS.map(counter => `c.${counter} = 0`).join(' and ')};`,
  ),
];

/**
 * Counts, per token, the holders whose balances of the token are all in these rows. After an insert the table has `as
 * many` rows of such a holder as these; after a delete it has `none`.
 */
const holdersIn = (balances: string, others: 'as many' | 'none') => `
  select token, count(*) as holders from (
    select token, holder, count(*) as rows from ${balances} group by token, holder
  ) h
  where (select count(*) from token_balances b where b.token = h.token and b.holder = h.holder)
    = ${others === 'none' ? '0' : 'h.rows'}
  group by token`;

const TOKENS = [
  ...trigger(
    'tokens_lost',
    'delete on tokens',
    'delete from token_terms t using removed r where t.token = r.address;',
  ),
  // Holdings are numbered within a statement in the same order as on SQLite.
  ...trigger(
    'balances_gained',
    'insert on token_balances',
    `update tokens t set holder_count = t.holder_count + n.holders
      from (${holdersIn('added', 'as many')}) n where t.address = n.token;
    insert into holdings (holder, type, token, token_id)
      select a.holder, t.type, a.token, a.token_id from added a join tokens t on t.address = a.token
      order by a.token, a.holder, a.token_id;`,
  ),
  ...trigger(
    'balances_lost',
    'delete on token_balances',
    `update tokens t set holder_count = t.holder_count - n.holders
      from (${holdersIn('removed', 'none')}) n where t.address = n.token;
    delete from holdings h using removed r
      where h.token = r.token and h.holder = r.holder and h.token_id = r.token_id;`,
  ),
];

/** First topics of the events of a Uniswap V2 factory and its pairs. */
const PAIR_CREATED = `decode('0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9', 'hex')`;
const SWAP = `decode('d78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822', 'hex')`;

/** Lower half of a 32-byte word of the data. Reserves of a pair are below 2^112, so they fit. */
const amountIn = (word: number) => `uint_of(substr(n.data, ${32 * word + 17}, 16))`;
const IS_TRADE = `n.topic0 = ${SWAP} and length(n.data) = 128`;

/**
 * Pairs, and trades with the running volume of their pair. Logs that arrive later change the volumes of later trades.
 * They are inserted by transaction, so no trade lies between them.
 */
const MARKETS = [
  `create table trades (
    id bigint primary key,
    pair bytea not null,
    timestamp bigint not null,
    first numeric not null,
    second numeric not null
  )`,
  'create index trades_by_pair on trades (pair, timestamp, id)',
  ...trigger(
    'logs_gained',
    'insert on logs',
    `insert into pairs
      select id, address, substr(data, 13, 20), substr(topic1, 13), substr(topic2, 13) from added
      where topic0 = ${PAIR_CREATED} and length(data) = 64 and topic2 is not null;
    insert into trades
      select n.id, n.address, n.timestamp,
        coalesce(last.first, 0) + sum(${amountIn(0)} + ${amountIn(2)}) over so_far,
        coalesce(last.second, 0) + sum(${amountIn(1)} + ${amountIn(3)}) over so_far
      from added n left join lateral (
        select first, second from trades where pair = n.address and (timestamp, id) < (n.timestamp, n.id)
        order by timestamp desc, id desc limit 1
      ) last on true
      where ${IS_TRADE}
      window so_far as (partition by n.address order by n.timestamp, n.id);
    if exists (select 1 from trades where id > (select max(id) from added)) then
      update trades t set first = t.first + s.first, second = t.second + s.second
      from (
        select n.address, max(n.timestamp) as timestamp, max(n.id) as id,
          sum(${amountIn(0)} + ${amountIn(2)}) as first, sum(${amountIn(1)} + ${amountIn(3)}) as second
        from added n where ${IS_TRADE} group by n.address
      ) s where t.pair = s.address and (t.timestamp, t.id) > (s.timestamp, s.id);
    end if;`,
  ),
  ...trigger(
    'logs_lost',
    'delete on logs',
    `delete from pairs p using removed r where p.id = r.id;
    delete from trades t using removed r where t.id = r.id;`,
  ),
  `create view pair_volumes (id, pair, timestamp, first_parts, second_parts) as
    select id, pair, timestamp, '[' || first || ']', '[' || second || ']' from trades`,
];

/**
 * Counters that are too expensive to count on read, rows derived from other rows, and the tables and views of PostgreSQL
 * alone. Triggers keep them in the transaction that writes or unwinds a block or stores a balance.
 */
export const POSTGRES_TRIGGERS = [
  ...BLOCK_COUNTERS,
  ...ADDRESS_COUNTERS,
  ...BLOCK_SUMS,
  ...TRANSACTION_COUNTS,
  ...counting('transfers', 'token_transfers', ofTransfers),
  ...counting('validated_blocks', 'blocks', ofBlocks),
  ...TOKENS,
  ...MARKETS,
];
