/** First topics of the events of a Uniswap V2 factory and its pairs. */
const PAIR_CREATED = `x'0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9'`;
const SWAP = `x'd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822'`;
const SYNC = `x'1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1'`;

/** An amount in parts of four bytes: 64 bits hold the sum of 2^31 such parts. What a pair can hold is below 2^112. */
const PARTS = [0, 1, 2, 3] as const;
const WORD_BYTES = 32;

const columns = PARTS.flatMap(part => [`first_${part}`, `second_${part}`]);

/** One part of a word of the data, counted from its lowest bytes. SQLite reads hexadecimal numbers as JSON5 only. */
const partOf = (word: number, part: number) =>
  `(('0x' || hex(substr(new.data, ${WORD_BYTES * (word + 1) - 4 * part - 3}, 4))) ->> '$')`;

/** Words of a swap are: first token in, second token in, first out, second out. */
const sumOf = (column: string, word: number, part: number) =>
  `coalesce(last.${column}, 0) + ${partOf(word, part)} + ${partOf(word + 2, part)}`;

const sums = PARTS.flatMap(part => [sumOf(`first_${part}`, 0, part), sumOf(`second_${part}`, 1, part)]);

/**
 * Where tokens are exchanged, taken from the logs as they are written and unwound: any contract's, which of them count
 * is for the reader to say. The reserves are in the logs themselves. A trade carries what was traded in its pair up to
 * and with it, so that the volume between two moments is the difference of two rows, however many lie between.
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
  // SQLite takes a partial index only for the very same condition.
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
