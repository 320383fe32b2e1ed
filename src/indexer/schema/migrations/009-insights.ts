/** Tables with data from blocks, children first. Triggers delete the rows that were derived from them. */
const FROM_BLOCKS = [
  'token_balances',
  'token_instances',
  'tokens',
  'addresses',
  'contracts',
  'withdrawals',
  'internal_transactions',
  'token_transfers',
  'logs',
  'transactions',
  'blocks',
  'dirty',
];

/**
 * Fields of blocks and transactions that document 2 shows but nothing searches by. They are in separate tables because
 * scans take longer over wide rows. An empty bloom filter is stored without bytes.
 * An existing index does not contain these fields. It is emptied, gets a new identity, and syncs the chain again. The
 * identity prevents answers of the old index from counting as fresh.
 */
export const INSIGHTS = [
  ...FROM_BLOCKS.map(table => `delete from ${table}`),
  'update index_state set identity = lower(hex(randomblob(8))), epoch = 0, high_water = -1',
  `create table block_details (
    number integer primary key,
    sha3_uncles blob,
    mix_hash blob,
    transactions_root blob,
    receipts_root blob,
    withdrawals_root blob,
    logs_bloom blob
  ) strict`,
  `create table transaction_details (
    id integer primary key,
    r text not null,
    s text not null,
    v text not null,
    cumulative_gas_used integer,
    access_list text,
    logs_bloom blob
  ) strict`,
  // The other index over selectors has `facts` in between, so rows of one selector are not in chain order.
  'create index transactions_by_function on transactions (selector) where selector is not null',
  // Finds events of a contract. Replaces the two indexes dropped below, which covered parts of this.
  'drop index logs_by_topic',
  'drop index logs_upgraded',
  'create index logs_by_event on logs (address, topic0)',
  'create index logs_by_topic1 on logs (address, topic0, topic1) where topic1 is not null',
  'create index logs_by_topic2 on logs (address, topic0, topic2) where topic2 is not null',
  'create index logs_by_topic3 on logs (address, topic0, topic3) where topic3 is not null',
] as const;

/** First topics of the events of a Uniswap V2 factory and its pairs. */
const PAIR_CREATED = `x'0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9'`;
const SWAP = `x'd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822'`;
const SYNC = `x'1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1'`;

/** An amount in parts of four bytes; 64 bits hold the sum of 2^31 such parts. Reserves of a pair are below 2^112. */
const PARTS = [0, 1, 2, 3] as const;
const WORD_BYTES = 32;

const columns = PARTS.flatMap(part => [`first_${part}`, `second_${part}`]);

/** One part of a word of the data, counted from its lowest bytes. SQLite parses hexadecimal numbers only as JSON5. */
const partOf = (word: number, part: number) =>
  `(('0x' || hex(substr(new.data, ${WORD_BYTES * (word + 1) - 4 * part - 3}, 4))) ->> '$')`;

/** The words of a swap are: first token in, second token in, first out, second out. */
const sumOf = (column: string, word: number, part: number) =>
  `coalesce(last.${column}, 0) + ${partOf(word, part)} + ${partOf(word + 2, part)}`;

const sums = PARTS.flatMap(part => [sumOf(`first_${part}`, 0, part), sumOf(`second_${part}`, 1, part)]);

/**
 * Pairs and trades of any exchange contract, derived from the logs as they are written and unwound. The reader decides
 * which contracts count. Reserves are read from the logs.
 * Each trade holds the running volume of its pair, so the volume between two moments is the difference of two rows.
 */
export const MARKETS = [
  `create table pairs (
    id integer primary key,
    factory blob not null,
    address blob not null,
    first_token blob not null,
    second_token blob not null
  ) strict`,
  'create index pairs_by_tokens on pairs (factory, first_token, second_token)',
  `create table trades (
    id integer primary key,
    pair blob not null,
    timestamp integer not null,
    ${columns.map(column => `${column} integer not null`).join(', ')}
  ) strict`,
  'create index trades_by_pair on trades (pair, timestamp)',
  // SQLite uses a partial index only for an identical condition.
  `create index logs_sync on logs (address, timestamp) where topic0 = ${SYNC}`,
  `create trigger pair_gained after insert on logs
    when new.topic0 = ${PAIR_CREATED} and length(new.data) = 64 and new.topic2 is not null begin
    insert into pairs values
      (new.id, new.address, substr(new.data, 13, 20), substr(new.topic1, 13), substr(new.topic2, 13));
  end`,
  `create trigger pair_lost after delete on logs when old.topic0 = ${PAIR_CREATED} begin
    delete from pairs where id = old.id;
  end`,
  `create trigger trade_gained after insert on logs when new.topic0 = ${SWAP} and length(new.data) = 128 begin
    insert into trades (id, pair, timestamp, ${columns.join(', ')})
      select new.id, new.address, new.timestamp, ${sums.join(', ')}
      from (select 1) left join
        (select * from trades where pair = new.address order by timestamp desc, id desc limit 1) as last;
  end`,
  `create trigger trade_lost after delete on logs when old.topic0 = ${SWAP} begin
    delete from trades where id = old.id;
  end`,
] as const;
