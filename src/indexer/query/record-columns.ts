import { columnOf } from './entities.ts';
import type { Storage } from './filters.ts';
import type { Entity } from './query.ts';

/** A value as it leaves the engine: integers are bigints, hex is lower-case text. */
export type Cell = bigint | string | null;

/** How one field of the rows of a page is selected, and what becomes of it. */
export interface RecordColumn {
  readonly field: string;
  readonly sql: string;
  readonly storage: Storage;
}

/** What else a page's rows are joined with, once their keys are known; `p.id` is the key. */
export const JOINED: Readonly<Record<Entity, string>> = {
  blocks: 'cross join blocks b on b.number = p.id left join block_details d on d.number = p.id',
  transactions: `cross join transactions t on t.id = p.id left join transaction_details d on d.id = p.id
    left join blocks k on k.number = p.id >> 20`,
  events: `cross join logs l on l.id = p.id left join transactions x on x.id = l.transaction_id
    left join blocks k on k.number = p.id >> 20`,
};

const BLOOM = `iif(d.logs_bloom = x'', zeroblob(256), d.logs_bloom)`;

/** What `columnOf` finds row by row and a page has joined. */
const FROM_JOINED: Readonly<Record<Entity, Readonly<Record<string, string>>>> = {
  blocks: {
    sha3_uncles: 'd.sha3_uncles',
    mix_hash: 'd.mix_hash',
    transactions_root: 'd.transactions_root',
    receipts_root: 'd.receipts_root',
    withdrawals_root: 'd.withdrawals_root',
    logs_bloom: BLOOM,
  },
  transactions: {
    block_hash: 'k.hash',
    r: 'd.r',
    s: 'd.s',
    v: 'd.v',
    cumulative_gas_used: 'd.cumulative_gas_used',
    logs_bloom: BLOOM,
  },
  events: { block_hash: 'k.hash', transaction_hash: 'x.hash' },
};

const PLACE = ['chain_id', 'block_number', 'block_hash', 'block_timestamp'];

/** Every field of the records. */
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

/** Lists, which can be shown and not searched by. */
const LISTS: readonly RecordColumn[] = [
  { field: 'access_list_json', sql: 'd.access_list', storage: 'text' },
  { field: 'authorization_list_json', sql: 't.authorization_list', storage: 'text' },
];

/** All that a record shows, over `JOINED`. */
export function recordColumns(entity: Entity): readonly RecordColumn[] {
  const columns = FIELDS[entity].map(field => {
    const { sql, storage } = columnOf(entity, field);
    return { field, sql: shown(FROM_JOINED[entity][field] ?? sql, storage), storage };
  });
  return entity === 'transactions' ? [...columns, ...LISTS] : columns;
}

/** SQLite makes text of bytes several times faster than the driver makes a Buffer of them. */
function shown(sql: string, storage: Storage): string {
  if (storage === 'blob') return `iif(${sql} is null, null, '0x' || lower(hex(${sql})))`;
  return storage === 'time_ms' ? `${sql} / 1000` : sql;
}

/** A value as SQLite gives it, by its column. @throws TypeError for what such a column never holds. */
export function cellOf(storage: Storage, value: unknown): Cell {
  if (value === null || typeof value === 'bigint') return value;
  if (typeof value === 'string') return storage === 'uint256' ? BigInt(value.slice(2)) : value;
  throw new TypeError(`A column of kind ${storage} gave ${typeof value}.`);
}
