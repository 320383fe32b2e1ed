import { trigger } from './postgres-001-counters.ts';

/**
 * Blocks that were indexed without a part, because the node could not give it: the number of transactions that lack
 * their receipt, their trace or the code of their receiver. They are asked for again at `due_at`.
 * `index_state.fills` counts the blocks whose parts arrived later.
 */
const UNREAD_BLOCKS = (integer: string, text: string, afterTable: string) => [
  `create table unread_blocks (
    number ${integer} primary key,
    receipts ${integer} not null,
    traces ${integer} not null,
    codes ${integer} not null,
    reason ${text} not null,
    attempts ${integer} not null,
    due_at ${integer} not null
  )${afterTable}`,
  'create index unread_blocks_due on unread_blocks (due_at, number)',
  `alter table index_state add column fills ${integer} not null default 0`,
];

/** Columns that only a receipt can fill. */
const OF_RECEIPTS = [
  ['transactions', 'gas_used'],
  ['transactions', 'fee'],
  ['transactions', 'token_transfer_count'],
  ['blocks', 'transaction_fees'],
  ['blocks', 'priority_fees'],
  ['stale_blocks', 'transaction_fees'],
  ['stale_blocks', 'priority_fees'],
];
const OPTIONAL = OF_RECEIPTS.map(
  ([table, column]) => `alter table ${table} alter column ${column} drop not null`,
);

/** Digits per part of a sum of fees, and the parts, as in `fee_sums`. */
const PART_DIGITS = 10;
const PARTS = [0, 1, 2, 3, 4, 5, 6, 7] as const;

/** One part of fees; 0 for unknown fees. */
const partOf = (row: 'new' | 'old', part: number) =>
  `coalesce(cast(substr(substr(${row}.transaction_fees, 3), -${PART_DIGITS * (part + 1)}, ${PART_DIGITS}) as integer), 0)`;

/** Receiver of a transaction, or the contract that it creates. */
const RECEIVER = (row: 'new' | 'old') => `coalesce(${row}.to_address, ${row}.created_contract)`;
const GAS = (row: 'new' | 'old') => `coalesce(${row}.gas_used, 0)`;
const GAS_RECEIVED = (row: 'new' | 'old') => `iif(${row}.to_address is null, 0, ${GAS(row)})`;

const uncount = (address: string, { isOther, gas }: { isOther: string; gas: string }) => `
  update transaction_counts set transactions = transactions - ${isOther}, ${gas} where address = ${address};
  delete from transaction_counts where address = ${address} and transactions = 0;`;

const SWAP = `x'd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822'`;
const WORD_BYTES = 32;
/** Columns of a trade's running sums, with the first word of the swap that adds to them, lowest part first. */
const VOLUMES = [0, 1, 2, 3].flatMap(part => [
  { column: `first_${part}`, word: 0, part },
  { column: `second_${part}`, word: 1, part },
]);
const wordPart = (word: number, part: number) =>
  `(('0x' || hex(substr(new.data, ${WORD_BYTES * (word + 1) - 4 * part - 3}, 4))) ->> '$')`;
const amountOf = ({ word, part }: (typeof VOLUMES)[number]) =>
  `${wordPart(word, part)} + ${wordPart(word + 2, part)}`;

/**
 * A part that arrives later changes rows below the head: the triggers keep the running sums of later rows right.
 * Unknown gas and fees count as 0 in sums.
 */
export const PARTS_LATER = [
  ...UNREAD_BLOCKS('integer', 'text', ' strict'),
  ...OPTIONAL,
  'drop trigger transaction_gained',
  'drop trigger transaction_lost',
  `create trigger transaction_gained after insert on transactions begin
    insert into transaction_counts (address, transactions, gas_sent, gas_received)
      values (new.from_address, 1, ${GAS('new')}, 0)
      on conflict (address) do update set transactions = transactions + 1, gas_sent = gas_sent + excluded.gas_sent;
    insert into transaction_counts (address, transactions, gas_sent, gas_received)
      select ${RECEIVER('new')}, ${RECEIVER('new')} <> new.from_address, 0, ${GAS_RECEIVED('new')}
      where ${RECEIVER('new')} is not null
      on conflict (address) do update set transactions = transactions + excluded.transactions,
        gas_received = gas_received + excluded.gas_received;
  end`,
  `create trigger transaction_lost after delete on transactions begin
    ${uncount('old.from_address', { isOther: '1', gas: `gas_sent = gas_sent - ${GAS('old')}` })}
    ${uncount(RECEIVER('old'), {
      isOther: `(${RECEIVER('old')} <> old.from_address)`,
      gas: `gas_received = gas_received - ${GAS_RECEIVED('old')}`,
    })}
  end`,
  'drop trigger fees_gained',
  `create trigger fees_gained after insert on blocks begin
    insert into fee_sums select new.number, coalesce(parent.transactions, 0) + new.transaction_count,
        ${PARTS.map(part => `coalesce(parent.fees_${part}, 0) + ${partOf('new', part)}`).join(', ')}
      from (select 1) left join fee_sums parent on parent.number = new.number - 1;
  end`,
  `create trigger fees_known after update of transaction_fees on blocks begin
    update fee_sums set ${PARTS.map(part => `fees_${part} = fees_${part} + ${partOf('new', part)} - ${partOf('old', part)}`).join(', ')}
      where number >= new.number;
  end`,
  `create trigger block_traced after update of internal_transaction_count on blocks begin
    update block_counters set untraced_blocks = untraced_blocks + (new.internal_transaction_count is null)
      - (old.internal_transaction_count is null) where id = 1;
  end`,
  'drop trigger trade_gained',
  `create trigger trade_gained after insert on logs when new.topic0 = ${SWAP} and length(new.data) = 128 begin
    insert into trades (id, pair, timestamp, ${VOLUMES.map(({ column }) => column).join(', ')})
      select new.id, new.address, new.timestamp,
        ${VOLUMES.map(volume => `coalesce(last.${volume.column}, 0) + ${amountOf(volume)}`).join(', ')}
      from (select 1) left join
        (select * from trades where pair = new.address and (timestamp, id) < (new.timestamp, new.id)
          order by timestamp desc, id desc limit 1) as last;
    update trades set ${VOLUMES.map(volume => `${volume.column} = ${volume.column} + ${amountOf(volume)}`).join(', ')}
      where pair = new.address and (timestamp, id) > (new.timestamp, new.id);
  end`,
] as const;

/** Statement that replaces the body of a trigger function. */
const replaced = (name: string, body: string) =>
  `create or replace function ${name}() returns trigger language plpgsql as $$ begin
    ${body}
    return null;
  end $$`;

/** Counts of the senders and receivers of transactions. */
const PARTIES = (transactions: string) => `
  select address, sum(transactions) as transactions, sum(gas_sent) as gas_sent, sum(gas_received) as gas_received from (
    select from_address as address, 1 as transactions, coalesce(gas_used, 0) as gas_sent, 0 as gas_received
      from ${transactions}
    union all
    select coalesce(to_address, created_contract),
      case when coalesce(to_address, created_contract) = from_address then 0 else 1 end, 0,
      case when to_address is null then 0 else coalesce(gas_used, 0) end
    from ${transactions} where coalesce(to_address, created_contract) is not null
  ) parties group by address`;

const COUNTED = ['transactions', 'gas_sent', 'gas_received'] as const;

const POSTGRES_SWAP = `decode('d78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822', 'hex')`;
const PAIR_CREATED = `decode('0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9', 'hex')`;
/** Lower half of a word of a log's data. */
const amountIn = (word: number) => `uint_of(substr(n.data, ${32 * word + 17}, 16))`;

/** Same on PostgreSQL. Logs that arrive later are inserted by transaction, so no trade lies between them. */
export const POSTGRES_PARTS_LATER = [
  ...UNREAD_BLOCKS('bigint', 'text collate "C"', ''),
  ...OPTIONAL,
  replaced(
    'transactions_gained',
    `insert into transaction_counts (address, transactions, gas_sent, gas_received) ${PARTIES('added')}
      on conflict (address) do update set
        ${COUNTED.map(column => `${column} = transaction_counts.${column} + excluded.${column}`).join(', ')};`,
  ),
  replaced(
    'transactions_lost',
    `with lost as (${PARTIES('removed')}), gone as (
        delete from transaction_counts c using lost
        where c.address = lost.address and c.transactions = lost.transactions
      )
      update transaction_counts c set ${COUNTED.map(column => `${column} = c.${column} - lost.${column}`).join(', ')}
      from lost where c.address = lost.address and c.transactions > lost.transactions;`,
  ),
  replaced(
    'fees_gained',
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
  replaced(
    'logs_gained',
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
      where n.topic0 = ${POSTGRES_SWAP} and length(n.data) = 128
      window so_far as (partition by n.address order by n.timestamp, n.id);
    if exists (select 1 from trades where id > (select max(id) from added)) then
      update trades t set first = t.first + s.first, second = t.second + s.second
      from (
        select n.address, max(n.timestamp) as timestamp, max(n.id) as id,
          sum(${amountIn(0)} + ${amountIn(2)}) as first, sum(${amountIn(1)} + ${amountIn(3)}) as second
        from added n where n.topic0 = ${POSTGRES_SWAP} and length(n.data) = 128 group by n.address
      ) s where t.pair = s.address and (t.timestamp, t.id) > (s.timestamp, s.id);
    end if;`,
  ),
] as const;
