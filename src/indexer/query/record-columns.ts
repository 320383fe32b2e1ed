import { bloomOf, columnOf, wordOf } from './entities.ts';
import type { Storage } from './filters.ts';
import type { Entity } from './query.ts';
import type { QueryDialect } from './query-dialect.ts';

/** Value of a row. Integers of up to 64 bits are bigints, longer ones decimal digits; hex is lower-case text. */
export type Cell = bigint | string | null;

/** SQL and storage form of one field of a page's rows. */
export interface RecordColumn {
  readonly field: string;
  readonly sql: string;
  readonly storage: Storage;
}

/** Tables joined to the keys of a page. `p.id` is the key. */
const JOINED: Readonly<Record<Entity, readonly [table: string, ...details: string[]]>> = {
  blocks: ['blocks b on b.number = p.id', 'block_details d on d.number = p.id'],
  transactions: [
    'transactions t on t.id = p.id',
    'transaction_details d on d.id = p.id',
    'blocks k on k.number = p.id >> 20',
  ],
  events: [
    'logs l on l.id = p.id',
    'transactions x on x.id = l.transaction_id',
    'blocks k on k.number = p.id >> 20',
  ],
};

/** Joins of a page, after `from (…) p`. */
export function joinsOf(entity: Entity, { nestedJoin }: QueryDialect): string {
  const [table, ...details] = JOINED[entity];
  return [`${nestedJoin} ${table}`, ...details.map(detail => `left join ${detail}`)].join(' ');
}

/** Joined columns of a page, for fields that `columnOf` looks up per row. */
const FROM_JOINED: Readonly<
  Record<Entity, Readonly<Record<string, string | ((dialect: QueryDialect) => string)>>>
> = {
  blocks: {
    sha3_uncles: 'd.sha3_uncles',
    mix_hash: 'd.mix_hash',
    transactions_root: 'd.transactions_root',
    receipts_root: 'd.receipts_root',
    withdrawals_root: 'd.withdrawals_root',
    logs_bloom: bloomOf('d.logs_bloom'),
  },
  transactions: {
    block_hash: 'k.hash',
    r: wordOf('d.r'),
    s: wordOf('d.s'),
    v: 'd.v',
    cumulative_gas_used: 'd.cumulative_gas_used',
    logs_bloom: bloomOf('d.logs_bloom'),
  },
  events: { block_hash: 'k.hash', transaction_hash: 'x.hash' },
};

const PLACE = ['chain_id', 'block_number', 'block_hash', 'block_timestamp'];

/** Fields of the records. */
const FIELDS: Readonly<Record<Entity, readonly string[]>> = {
  blocks: [
    ...PLACE,
    'parent_hash',
    'nonce',
    'sha3_uncles',
    'mix_hash',
    'miner',
    'state_root',
    'transactions_root',
    'receipts_root',
    'logs_bloom',
    'size',
    'extra_data',
    'difficulty',
    'total_difficulty',
    'transaction_count',
    'gas_limit',
    'gas_used',
    'withdrawals_root',
    'base_fee_per_gas',
  ],
  transactions: [
    ...PLACE,
    'hash',
    'nonce',
    'transaction_index',
    'from_address',
    'to_address',
    'value',
    'gas_price',
    'gas',
    'function_selector',
    'data',
    'max_fee_per_gas',
    'max_priority_fee_per_gas',
    'transaction_type',
    'r',
    's',
    'v',
    'contract_address',
    'gas_used',
    'cumulative_gas_used',
    'effective_gas_price',
    'blob_gas_used',
    'blob_gas_price',
    'logs_bloom',
    'status',
  ],
  events: [
    ...PLACE,
    'transaction_hash',
    'transaction_index',
    'log_index',
    'address',
    'data',
    'topic_0',
    'topic_1',
    'topic_2',
    'topic_3',
  ],
};

/** Lists, which are shown but cannot be filtered. */
const LISTS: readonly RecordColumn[] = [
  { field: 'access_list_json', sql: 'd.access_list', storage: 'text' },
  { field: 'authorization_list_json', sql: 't.authorization_list', storage: 'text' },
];

/** Columns of a record, over `joinsOf`. */
export function recordColumns(entity: Entity, dialect: QueryDialect): readonly RecordColumn[] {
  const columns = FIELDS[entity].map(field => {
    const { sql, storage } = columnOf(entity, field, dialect);
    const joined = FROM_JOINED[entity][field] ?? sql;
    const read = typeof joined === 'string' ? joined : joined(dialect);
    return { field, sql: shown(read, storage, dialect), storage };
  });
  return entity === 'transactions' ? [...columns, ...LISTS] : columns;
}

function shown(sql: string, storage: Storage, { recordBytes }: QueryDialect): string {
  if (storage === 'blob') return recordBytes(sql);
  return storage === 'time_ms' ? `${sql} / 1000` : sql;
}

/**
 * Converts a driver's value by its column.
 * @throws TypeError for a type that such a column never holds
 */
export function cellOf(storage: Storage, value: unknown, { digitsOf }: QueryDialect): Cell {
  if (value === null || typeof value === 'bigint') return value;
  if (typeof value === 'string') return storage === 'uint256' ? digitsOf(value) : value;
  throw new TypeError(`A column of kind ${storage} gave ${typeof value}.`);
}
