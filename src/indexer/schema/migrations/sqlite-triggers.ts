const DAY_MS = 86_400_000;

/*
 * SQLite has no integers beyond 64 bits. Amounts are summed in parts of ten digits, and 64 bits hold the sum of 9 × 10^8
 * of them. Views put the parts into lists, which the reader combines.
 */

const PART_DIGITS = 10;
/** Parts for 78 digits, the longest 256-bit integer, lowest first. */
const PARTS = [0, 1, 2, 3, 4, 5, 6, 7] as const;

/** One part of an amount. A part beyond the text's length is '', which casts to 0. */
const partOf = (amount: string, part: number | string) =>
  `cast(substr(substr(${amount}, 3), -${PART_DIGITS} * (${part} + 1), ${PART_DIGITS}) as integer)`;

/** True for the parts that a balance has. The others need no update. */
const hasPart = (balance: string) => `part < (length(${balance}) + ${PART_DIGITS - 3}) / ${PART_DIGITS}`;

type Row = 'new' | 'old';

/** Adds one block to the counters, or subtracts it when it leaves the chain. */
const countBlock = (sign: '+' | '-', row: Row) => `
  update block_counters set
    blocks = blocks ${sign} 1,
    transactions = transactions ${sign} ${row}.transaction_count,
    gas_used = gas_used ${sign} ${row}.gas_used,
    filled_blocks = filled_blocks ${sign} (${row}.transaction_count > 0),
    untraced_blocks = untraced_blocks ${sign} (${row}.internal_transaction_count is null)
  where id = 1;`;

const BLOCK_COUNTERS = [
  'insert into block_counters values (1, 0, 0, 0, 0, 0)',
  `create trigger block_counted after insert on blocks begin
    ${countBlock('+', 'new')}
    insert into days values (new.timestamp / ${DAY_MS}, 1, new.transaction_count, new.gas_used)
      on conflict (day) do update set blocks = blocks + 1, transactions = transactions + excluded.transactions,
        gas_used = gas_used + excluded.gas_used;
  end`,
  `create trigger block_uncounted after delete on blocks begin
    ${countBlock('-', 'old')}
    update days set blocks = blocks - 1, transactions = transactions - old.transaction_count,
      gas_used = gas_used - old.gas_used where day = old.timestamp / ${DAY_MS};
    delete from days where day = old.timestamp / ${DAY_MS} and blocks = 0;
  end`,
  `create trigger block_traced after update of internal_transaction_count on blocks begin
    update block_counters set untraced_blocks = untraced_blocks + (new.internal_transaction_count is null)
      - (old.internal_transaction_count is null) where id = 1;
  end`,
];

const ADDRESS_COUNTERS = [
  `create table address_counters (
    id integer primary key check (id = 1),
    addresses integer not null,
    contracts integer not null
  ) strict`,
  'insert into address_counters values (1, 0, 0)',
  'create table coin_supply (part integer primary key, amount integer not null) strict',
  `insert into coin_supply values ${PARTS.map(part => `(${part}, 0)`).join(', ')}`,
  `create trigger address_gained after insert on addresses begin
    update address_counters set addresses = addresses + 1, contracts = contracts + new.is_contract where id = 1;
    update coin_supply set amount = amount + ${partOf('new.balance', 'part')} where ${hasPart('new.balance')};
  end`,
  `create trigger address_changed after update of balance on addresses when new.balance <> old.balance begin
    update coin_supply set amount = amount - ${partOf('old.balance', 'part')} + ${partOf('new.balance', 'part')}
      where ${hasPart('max(old.balance, new.balance)')};
  end`,
  `create trigger contract_changed after update of is_contract on addresses
    when new.is_contract <> old.is_contract begin
    update address_counters set contracts = contracts + new.is_contract - old.is_contract where id = 1;
  end`,
  `create trigger address_lost after delete on addresses begin
    update address_counters set addresses = addresses - 1, contracts = contracts - old.is_contract where id = 1;
    update coin_supply set amount = amount - ${partOf('old.balance', 'part')} where ${hasPart('old.balance')};
  end`,
  `create view totals (
    blocks, transactions, gas_used, filled_blocks, untraced_blocks, addresses, supply_parts, contracts
  ) as
    select b.blocks, b.transactions, cast(b.gas_used as text), b.filled_blocks, b.untraced_blocks, a.addresses,
      (select json_group_array(cast(amount as text)) from
        (select amount from coin_supply where part >= 0 order by part desc)), a.contracts
    from block_counters b cross join address_counters a where b.id = 1 and a.id = 1`,
];

const FEES = PARTS.map(part => ({ column: `fees_${part}`, part }));
/** One part of fees; 0 while they are unknown. */
const feesOf = (row: Row, part: number) => `coalesce(${partOf(`${row}.transaction_fees`, part)}, 0)`;

/**
 * Running number and fees of transactions per block. Blocks are written after their parent and removed before it. Fees
 * that become known later change the sums of all later blocks.
 */
const BLOCK_SUMS = [
  `create table fee_sums (
    number integer primary key,
    transactions integer not null,
    ${FEES.map(({ column }) => `${column} integer not null`).join(',\n    ')}
  ) strict`,
  `create trigger fees_gained after insert on blocks begin
    insert into fee_sums select new.number, coalesce(parent.transactions, 0) + new.transaction_count,
        ${FEES.map(({ column, part }) => `coalesce(parent.${column}, 0) + ${feesOf('new', part)}`).join(', ')}
      from (select 1) left join fee_sums parent on parent.number = new.number - 1;
  end`,
  `create trigger fees_known after update of transaction_fees on blocks begin
    update fee_sums set
        ${FEES.map(({ column, part }) => `${column} = ${column} + ${feesOf('new', part)} - ${feesOf('old', part)}`).join(', ')}
      where number >= new.number;
  end`,
  'create trigger fees_lost after delete on blocks begin delete from fee_sums where number = old.number; end',
  `create view block_sums (number, transactions, fee_parts) as
    select number, transactions,
      json_array(${FEES.map(({ column }) => `cast(${column} as text)`)
        .toReversed()
        .join(', ')})
    from fee_sums`,
];

/** Receiver of a transaction, or the contract that it creates. */
const receiver = (row: Row) => `coalesce(${row}.to_address, ${row}.created_contract)`;
/** Unknown gas counts as 0. */
const gas = (row: Row) => `coalesce(${row}.gas_used, 0)`;
const gasReceived = (row: Row) => `iif(${row}.to_address is null, 0, ${gas(row)})`;

/** Rows whose counters are zero are deleted. */
const uncountTransaction = (
  address: string,
  { isOther, counters }: { isOther: string; counters: string },
) => `
  update transaction_counts set transactions = transactions - ${isOther}, ${counters} where address = ${address};
  delete from transaction_counts where address = ${address} and transactions = 0;`;

/**
 * A transaction counts for its sender, and for its receiver or created contract if that is a different address. One of
 * an address to itself counts once, with its gas on both sides.
 */
const TRANSACTION_COUNTS = [
  `create trigger transaction_gained after insert on transactions begin
    insert into transaction_counts (address, transactions, gas_sent, gas_received)
      values (new.from_address, 1, ${gas('new')}, 0)
      on conflict (address) do update set transactions = transactions + 1, gas_sent = gas_sent + excluded.gas_sent;
    insert into transaction_counts (address, transactions, gas_sent, gas_received)
      select ${receiver('new')}, ${receiver('new')} <> new.from_address, 0, ${gasReceived('new')}
      where ${receiver('new')} is not null
      on conflict (address) do update set transactions = transactions + excluded.transactions,
        gas_received = gas_received + excluded.gas_received;
  end`,
  `create trigger transaction_lost after delete on transactions begin
    ${uncountTransaction('old.from_address', { isOther: '1', counters: `gas_sent = gas_sent - ${gas('old')}` })}
    ${uncountTransaction(receiver('old'), {
      isOther: `(${receiver('old')} <> old.from_address)`,
      counters: `gas_received = gas_received - ${gasReceived('old')}`,
    })}
  end`,
];

type Counter = 'token_transfers' | 'transfers_of_token' | 'validated_blocks';

const count = (counter: Counter, address: string, condition = 'true') => `
  insert into address_counts (address, ${counter}) select ${address}, 1 where ${condition}
    on conflict (address) do update set ${counter} = ${counter} + 1;`;

const uncount = (counter: Counter, address: string) => `
  update address_counts set ${counter} = ${counter} - 1 where address = ${address};
  delete from address_counts
    where address = ${address} and token_transfers = 0 and transfers_of_token = 0 and validated_blocks = 0;`;

/** A transfer from an address to itself counts once. */
const ADDRESS_COUNTS = [
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
];

/** At most two balance rows of the same token and holder. An ERC-1155 holder has one row per token id. */
const othersOf = (row: Row) =>
  `select 1 from token_balances where token = ${row}.token and holder = ${row}.holder limit 2`;

const TOKENS = [
  `create trigger token_terms_lost after delete on tokens
    begin delete from token_terms where token = old.address; end`,
  `create trigger holder_gained after insert on token_balances
    when (select count(*) from (${othersOf('new')})) = 1
    begin update tokens set holder_count = holder_count + 1 where address = new.token; end`,
  `create trigger holder_lost after delete on token_balances
    when not exists (${othersOf('old')})
    begin update tokens set holder_count = holder_count - 1 where address = old.token; end`,
  `create trigger holding_gained after insert on token_balances begin
    insert into holdings (holder, type, token, token_id)
      select new.holder, type, new.token, new.token_id from tokens where address = new.token;
  end`,
  `create trigger holding_lost after delete on token_balances begin
    delete from holdings where token = old.token and holder = old.holder and token_id = old.token_id;
  end`,
];

/** First topics of the events of a Uniswap V2 factory and its pairs. */
const PAIR_CREATED = `x'0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9'`;
const SWAP = `x'd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822'`;
const WORD_BYTES = 32;

/**
 * Columns of a trade's running sums: parts of four bytes, lowest first. 64 bits hold the sum of 2^31 such parts. Reserves
 * of a pair are below 2^112. `word` is the first word of a swap that adds to the column.
 */
const VOLUMES = [0, 1, 2, 3].flatMap(part => [
  { column: `first_${part}`, word: 0, part },
  { column: `second_${part}`, word: 1, part },
]);
const VOLUME_COLUMNS = VOLUMES.map(({ column }) => column).join(', ');

/** One part of a word of the data. SQLite parses hexadecimal numbers only as JSON5. */
const wordPart = (word: number, part: number) =>
  `(('0x' || hex(substr(new.data, ${WORD_BYTES * (word + 1) - 4 * part - 3}, 4))) ->> '$')`;
/** The words of a swap are: first token in, second token in, first out, second out. */
const amountOf = ({ word, part }: (typeof VOLUMES)[number]) =>
  `${wordPart(word, part)} + ${wordPart(word + 2, part)}`;

/**
 * Pairs, and trades with the running volume of their pair: the volume between two moments is the difference of two
 * rows. Logs that arrive later change the volumes of later trades.
 */
const MARKETS = [
  `create trigger pair_gained after insert on logs
    when new.topic0 = ${PAIR_CREATED} and length(new.data) = 64 and new.topic2 is not null begin
    insert into pairs values
      (new.id, new.address, substr(new.data, 13, 20), substr(new.topic1, 13), substr(new.topic2, 13));
  end`,
  `create trigger pair_lost after delete on logs when old.topic0 = ${PAIR_CREATED} begin
    delete from pairs where id = old.id;
  end`,
  `create table trades (
    id integer primary key,
    pair blob not null,
    timestamp integer not null,
    ${VOLUMES.map(({ column }) => `${column} integer not null`).join(',\n    ')}
  ) strict`,
  'create index trades_by_pair on trades (pair, timestamp)',
  `create trigger trade_gained after insert on logs when new.topic0 = ${SWAP} and length(new.data) = 128 begin
    insert into trades (id, pair, timestamp, ${VOLUME_COLUMNS})
      select new.id, new.address, new.timestamp,
        ${VOLUMES.map(volume => `coalesce(last.${volume.column}, 0) + ${amountOf(volume)}`).join(', ')}
      from (select 1) left join
        (select * from trades where pair = new.address and (timestamp, id) < (new.timestamp, new.id)
          order by timestamp desc, id desc limit 1) as last;
    update trades set ${VOLUMES.map(volume => `${volume.column} = ${volume.column} + ${amountOf(volume)}`).join(', ')}
      where pair = new.address and (timestamp, id) > (new.timestamp, new.id);
  end`,
  `create trigger trade_lost after delete on logs when old.topic0 = ${SWAP} begin
    delete from trades where id = old.id;
  end`,
  `create view pair_volumes (id, pair, timestamp, first_parts, second_parts) as
    select id, pair, timestamp, json_array(first_3, first_2, first_1, first_0),
      json_array(second_3, second_2, second_1, second_0)
    from trades`,
];

/**
 * Counters that are too expensive to count on read, rows derived from other rows, and the tables and views of SQLite
 * alone. Triggers keep them in the transaction that writes or unwinds a block or stores a balance.
 */
export const SQLITE_TRIGGERS = [
  ...BLOCK_COUNTERS,
  ...ADDRESS_COUNTERS,
  ...BLOCK_SUMS,
  ...TRANSACTION_COUNTS,
  ...ADDRESS_COUNTS,
  ...TOKENS,
  ...MARKETS,
];
