const DAY_MS = 86_400_000;

/** First topics of the events of a Uniswap V2 factory and its pairs. */
const PAIR_CREATED = `decode('0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9', 'hex')`;
const SWAP = `decode('d78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822', 'hex')`;

/** Trigger that runs once per statement, over the rows that it added, removed or both. */
export function trigger(name: string, on: string, body: string): string[] {
  const tables = [
    on.startsWith('delete') ? '' : ' new table as added',
    on.startsWith('insert') ? '' : ' old table as removed',
  ];
  return [
    `create function ${name}() returns trigger language plpgsql as $$ begin
      ${body}
      return null;
    end $$`,
    `create trigger ${name} after ${on} referencing${tables.join('')}
      for each statement execute function ${name}()`,
  ];
}

/** Adds blocks to the counters, or subtracts them when they leave the chain. */
const counted = (sign: '+' | '-', blocks: string) => `
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

const BY_DAY = (blocks: string) => `
  select timestamp / ${DAY_MS} as day, count(*) as blocks, sum(transaction_count) as transactions,
    sum(gas_used) as gas_used
  from ${blocks} group by 1`;

/** A transaction counts for its sender, and for its receiver or created contract if that is a different address. */
const PARTIES = (transactions: string) => `
  select address, count(*) as transactions from (
    select from_address as address from ${transactions}
    union all
    select coalesce(to_address, created_contract) from ${transactions}
      where coalesce(to_address, created_contract) <> from_address
  ) parties group by address`;

/**
 * Counts, per token, the holders whose balances of the token are all in these rows. After an insert the table has `as
 * many` rows of such a holder as these; after a delete it has `none`.
 */
const HOLDERS = (balances: string, others: 'as many' | 'none') => `
  select token, count(*) as holders from (
    select token, holder, count(*) as rows from ${balances} group by token, holder
  ) h
  where (select count(*) from token_balances b where b.token = h.token and b.holder = h.holder)
    = ${others === 'none' ? '0' : 'h.rows'}
  group by token`;

/** Lower half of a 32-byte word of the data. Reserves of a pair are below 2^112, so they fit. */
const amountIn = (word: number) => `uint_of(substr(n.data, ${32 * word + 17}, 16))`;

/**
 * Counters that are too expensive to count on read, and rows derived from other rows. Triggers maintain them, so they
 * are correct in the same transaction that writes or unwinds a block or stores a balance.
 */
export const COUNTERS = [
  // Unsigned integer of up to 32 bytes, in parts of 60 bits.
  `create function uint_of(bytes bytea) returns numeric language sql immutable strict parallel safe as $$
    select ('x' || substr(h, 1, 15))::bit(60)::bigint::numeric * 1766847064778384329583297500742918515827483896875618958121606201292619776
      + ('x' || substr(h, 16, 15))::bit(60)::bigint::numeric * 1532495540865888858358347027150309183618739122183602176
      + ('x' || substr(h, 31, 15))::bit(60)::bigint::numeric * 1329227995784915872903807060280344576
      + ('x' || substr(h, 46, 15))::bit(60)::bigint::numeric * 1152921504606846976
      + ('x' || substr(h, 61, 15))::bit(60)::bigint::numeric
    from (select lpad(encode(bytes, 'hex'), 75, '0') as h) digits
  $$`,
  `create table block_counters (
    id bigint primary key check (id = 1),
    blocks bigint not null,
    transactions bigint not null,
    gas_used bigint not null,
    filled_blocks bigint not null,
    untraced_blocks bigint not null
  )`,
  'insert into block_counters values (1, 0, 0, 0, 0, 0)',
  `create table days (
    day bigint primary key,
    blocks bigint not null,
    transactions bigint not null,
    gas_used bigint not null
  )`,
  ...trigger(
    'blocks_counted',
    'insert on blocks',
    `${counted('+', 'added')}
    insert into days ${BY_DAY('added')}
      on conflict (day) do update set blocks = days.blocks + excluded.blocks,
        transactions = days.transactions + excluded.transactions, gas_used = days.gas_used + excluded.gas_used;`,
  ),
  ...trigger(
    'blocks_uncounted',
    'delete on blocks',
    `${counted('-', 'removed')}
    update days d set blocks = d.blocks - n.blocks, transactions = d.transactions - n.transactions,
      gas_used = d.gas_used - n.gas_used from (${BY_DAY('removed')}) n where d.day = n.day;
    delete from days where blocks = 0;`,
  ),
  `create table address_counters (id bigint primary key check (id = 1), addresses bigint not null, coins numeric not null)`,
  'insert into address_counters values (1, 0, 0)',
  ...trigger(
    'addresses_gained',
    'insert on addresses',
    `update address_counters c set addresses = c.addresses + n.addresses, coins = c.coins + n.coins
      from (select count(*) as addresses, sum(balance) as coins from added) n where c.id = 1 and n.addresses > 0;`,
  ),
  ...trigger(
    'addresses_changed',
    'update on addresses',
    `update address_counters c set coins = c.coins + n.coins from (
        select (select coalesce(sum(balance), 0) from added) - (select coalesce(sum(balance), 0) from removed) as coins
      ) n where c.id = 1 and n.coins <> 0;`,
  ),
  ...trigger(
    'addresses_lost',
    'delete on addresses',
    `update address_counters c set addresses = c.addresses - n.addresses, coins = c.coins - n.coins
      from (select count(*) as addresses, sum(balance) as coins from removed) n where c.id = 1 and n.addresses > 0;`,
  ),
  `create view totals (blocks, transactions, gas_used, filled_blocks, untraced_blocks, addresses, supply_parts) as
    select b.blocks, b.transactions, b.gas_used::text, b.filled_blocks, b.untraced_blocks, a.addresses,
      '["' || a.coins || '"]'
    from block_counters b cross join address_counters a where b.id = 1 and a.id = 1`,
  'create table transaction_counts (address bytea primary key, transactions bigint not null)',
  ...trigger(
    'transactions_gained',
    'insert on transactions',
    `insert into transaction_counts ${PARTIES('added')} on conflict (address) do update
      set transactions = transaction_counts.transactions + excluded.transactions;`,
  ),
  ...trigger(
    'transactions_lost',
    'delete on transactions',
    `with lost as (${PARTIES('removed')}), gone as (
        delete from transaction_counts c using lost l
        where c.address = l.address and c.transactions = l.transactions
      )
      update transaction_counts c set transactions = c.transactions - l.transactions
      from lost l where c.address = l.address and c.transactions > l.transactions;`,
  ),
  ...trigger(
    'tokens_lost',
    'delete on tokens',
    'delete from token_terms t using removed r where t.token = r.address;',
  ),
  // Numbered in order of creation, and within a statement in this order, as on SQLite. Paging by that number shows each
  // balance once.
  `create table holdings (
    id bigint generated always as identity primary key,
    holder bytea not null,
    type bigint not null,
    token bytea not null,
    token_id text collate "C" not null,
    unique (token, holder, token_id)
  )`,
  ...trigger(
    'balances_gained',
    'insert on token_balances',
    `update tokens t set holder_count = t.holder_count + n.holders
      from (${HOLDERS('added', 'as many')}) n where t.address = n.token;
    insert into holdings (holder, type, token, token_id)
      select a.holder, t.type, a.token, a.token_id from added a join tokens t on t.address = a.token
      order by a.token, a.holder, a.token_id;`,
  ),
  ...trigger(
    'balances_lost',
    'delete on token_balances',
    `update tokens t set holder_count = t.holder_count - n.holders
      from (${HOLDERS('removed', 'none')}) n where t.address = n.token;
    delete from holdings h using removed r
      where h.token = r.token and h.holder = r.holder and h.token_id = r.token_id;`,
  ),
  `create table pairs (
    id bigint primary key,
    factory bytea not null,
    address bytea not null,
    first_token bytea not null,
    second_token bytea not null
  )`,
  `create table trades (
    id bigint primary key,
    pair bytea not null,
    timestamp bigint not null,
    first numeric not null,
    second numeric not null
  )`,
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
        select first, second from trades where pair = n.address order by timestamp desc, id desc limit 1
      ) last on true
      where n.topic0 = ${SWAP} and length(n.data) = 128
      window so_far as (partition by n.address order by n.timestamp, n.id);`,
  ),
  ...trigger(
    'logs_lost',
    'delete on logs',
    `delete from pairs p using removed r where p.id = r.id;
    delete from trades t using removed r where t.id = r.id;`,
  ),
  `create view pair_volumes (id, pair, timestamp, first_parts, second_parts) as
    select id, pair, timestamp, '[' || first || ']', '[' || second || ']' from trades`,
] as const;
