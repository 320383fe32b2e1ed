import type { OwnColumns, Table } from '../indexer/schema/tables.ts';
import type { ValueType } from './expression.ts';
import type { Entity, EntityRecords } from './row-selection.ts';

/**
 * Kinds of fields, which give the type, the JSON form and the reading of the column. The first are JSON numbers:
 * - `number`; `uint64` with all digits; `status`, which is 0 or 1; `time`, in seconds
 * - `block` and `index`: the number of the block and the position in it, from a position key
 *
 * The others are text:
 * - `amount`; `word`, an integer of 32 bytes
 * - `hex`; `bloom`, a filter stored by its bits; `selector`, which is empty where the column has none
 * - `list`: JSON text, which cannot be sorted by, grouped or aggregated
 */
export type FieldKind = NumberKind | TextKind;
type NumberKind = 'number' | 'uint64' | 'status' | 'time' | 'block' | 'index';
type TextKind = 'amount' | 'word' | 'hex' | 'bloom' | 'selector' | 'list';

/** Types of the columns that hold each kind. */
interface ColumnTypes {
  number: 'count' | 'numeric';
  uint64: 'numeric';
  status: 'count';
  time: 'time';
  block: 'count';
  index: 'count';
  amount: 'count' | 'numeric';
  word: 'bytes';
  hex: 'bytes';
  bloom: 'bytes';
  selector: 'bytes';
  list: 'json';
}

/** Column of an index as `table.column`, of one of these types. */
type ColumnName<Type extends string> = {
  [Name in Table]: {
    [Column in keyof OwnColumns<Name> & string]: OwnColumns<Name>[Column] extends Type | `${Type}?`
      ? `${Name}.${Column}`
      : never;
  }[keyof OwnColumns<Name> & string];
}[Table];

/** Field of a record: its kind, its column in an index, and its form in a record without a value. */
export interface Field {
  readonly kind: FieldKind;
  readonly column: `${Table}.${string}`;
  /** Absent when every record has a value. */
  readonly absent?: 'null' | 'omitted';
  /** List of the record that holds the value. */
  readonly in?: 'topics';
}

type FieldOfKind<Kind extends FieldKind> = {
  [Name in Kind]: { readonly kind: Name; readonly column: ColumnName<ColumnTypes[Name]> };
}[Kind];

/** Kinds that write values of the contract's type. */
type KindOf<Value> = [Value] extends [string]
  ? TextKind
  : bigint extends Value
    ? 'uint64'
    : Exclude<NumberKind, 'uint64'>;

type AbsenceOf<Members, Name extends keyof Members> =
  Partial<Pick<Members, Name>> extends Pick<Members, Name>
    ? { readonly absent: 'omitted' }
    : null extends Members[Name]
      ? { readonly absent: 'null' }
      : { readonly absent?: never };

/** Description of each member of a record with one value, in the contract's terms. */
type FieldsOf<Members> = {
  readonly [Name in Exclude<keyof Members, 'decoded' | 'topics'>]-?: FieldOfKind<
    KindOf<NonNullable<Members[Name]>>
  > &
    AbsenceOf<Members, Name>;
};
type Topic = FieldOfKind<'hex'> & { readonly in: 'topics' };

/**
 * Fields of the records of document 2, in their order. Filters, orders, expressions, columns and records follow from
 * this table. It compiles only with every field of the contract, and with columns that an index has.
 */
const FIELDS: {
  readonly blocks: FieldsOf<EntityRecords['blocks']>;
  readonly transactions: FieldsOf<EntityRecords['transactions']>;
  readonly events: FieldsOf<EntityRecords['events']> & {
    readonly [Name in `topic_${0 | 1 | 2 | 3}`]: Topic;
  };
} = {
  blocks: {
    chain_id: { kind: 'number', column: 'index_state.chain_id' },
    block_number: { kind: 'number', column: 'blocks.number' },
    block_hash: { kind: 'hex', column: 'blocks.hash' },
    parent_hash: { kind: 'hex', column: 'blocks.parent_hash' },
    block_timestamp: { kind: 'time', column: 'blocks.timestamp' },
    nonce: { kind: 'hex', column: 'blocks.nonce', absent: 'null' },
    sha3_uncles: { kind: 'hex', column: 'block_details.sha3_uncles', absent: 'null' },
    mix_hash: { kind: 'hex', column: 'block_details.mix_hash', absent: 'null' },
    miner: { kind: 'hex', column: 'blocks.miner' },
    state_root: { kind: 'hex', column: 'blocks.state_root' },
    transactions_root: { kind: 'hex', column: 'block_details.transactions_root', absent: 'null' },
    receipts_root: { kind: 'hex', column: 'block_details.receipts_root', absent: 'null' },
    logs_bloom: { kind: 'bloom', column: 'block_details.logs_bloom', absent: 'null' },
    size: { kind: 'number', column: 'blocks.size', absent: 'null' },
    extra_data: { kind: 'hex', column: 'blocks.extra_data' },
    difficulty: { kind: 'amount', column: 'blocks.difficulty' },
    total_difficulty: { kind: 'amount', column: 'blocks.total_difficulty', absent: 'null' },
    transaction_count: { kind: 'number', column: 'blocks.transaction_count' },
    gas_limit: { kind: 'number', column: 'blocks.gas_limit' },
    gas_used: { kind: 'number', column: 'blocks.gas_used' },
    withdrawals_root: { kind: 'hex', column: 'block_details.withdrawals_root', absent: 'null' },
    base_fee_per_gas: { kind: 'number', column: 'blocks.base_fee_per_gas', absent: 'null' },
  },
  transactions: {
    chain_id: { kind: 'amount', column: 'index_state.chain_id' },
    block_number: { kind: 'block', column: 'transactions.id' },
    block_hash: { kind: 'hex', column: 'blocks.hash' },
    block_timestamp: { kind: 'time', column: 'transactions.timestamp' },
    hash: { kind: 'hex', column: 'transactions.hash' },
    nonce: { kind: 'uint64', column: 'transactions.nonce' },
    transaction_index: { kind: 'index', column: 'transactions.id' },
    from_address: { kind: 'hex', column: 'transactions.from_address' },
    to_address: { kind: 'hex', column: 'transactions.to_address', absent: 'null' },
    value: { kind: 'amount', column: 'transactions.value' },
    gas_price: { kind: 'amount', column: 'transactions.gas_price' },
    gas: { kind: 'uint64', column: 'transactions.gas_limit' },
    function_selector: { kind: 'selector', column: 'transactions.selector' },
    data: { kind: 'hex', column: 'transactions.input' },
    max_fee_per_gas: { kind: 'amount', column: 'transactions.max_fee_per_gas', absent: 'null' },
    max_priority_fee_per_gas: {
      kind: 'amount',
      column: 'transactions.max_priority_fee_per_gas',
      absent: 'null',
    },
    transaction_type: { kind: 'number', column: 'transactions.type' },
    r: { kind: 'word', column: 'transaction_details.r' },
    s: { kind: 'word', column: 'transaction_details.s' },
    v: { kind: 'amount', column: 'transaction_details.v' },
    access_list_json: { kind: 'list', column: 'transaction_details.access_list', absent: 'omitted' },
    authorization_list_json: { kind: 'list', column: 'transactions.authorization_list', absent: 'omitted' },
    contract_address: { kind: 'hex', column: 'transactions.created_contract', absent: 'omitted' },
    gas_used: { kind: 'number', column: 'transactions.gas_used', absent: 'omitted' },
    cumulative_gas_used: {
      kind: 'number',
      column: 'transaction_details.cumulative_gas_used',
      absent: 'omitted',
    },
    effective_gas_price: { kind: 'amount', column: 'transactions.gas_price', absent: 'omitted' },
    blob_gas_used: { kind: 'number', column: 'transactions.blob_gas_used', absent: 'omitted' },
    blob_gas_price: { kind: 'amount', column: 'transactions.blob_gas_price', absent: 'omitted' },
    logs_bloom: { kind: 'bloom', column: 'transaction_details.logs_bloom', absent: 'omitted' },
    status: { kind: 'status', column: 'transactions.status', absent: 'omitted' },
  },
  events: {
    chain_id: { kind: 'amount', column: 'index_state.chain_id' },
    block_number: { kind: 'block', column: 'logs.id' },
    block_hash: { kind: 'hex', column: 'blocks.hash' },
    block_timestamp: { kind: 'time', column: 'logs.timestamp' },
    transaction_hash: { kind: 'hex', column: 'transactions.hash' },
    transaction_index: { kind: 'index', column: 'logs.transaction_id' },
    log_index: { kind: 'index', column: 'logs.id' },
    address: { kind: 'hex', column: 'logs.address' },
    data: { kind: 'hex', column: 'logs.data' },
    topic_0: { kind: 'hex', column: 'logs.topic0', in: 'topics' },
    topic_1: { kind: 'hex', column: 'logs.topic1', in: 'topics' },
    topic_2: { kind: 'hex', column: 'logs.topic2', in: 'topics' },
    topic_3: { kind: 'hex', column: 'logs.topic3', in: 'topics' },
  },
};

/** Type of a field in expressions. `isNumber` is true when the record holds a JSON number. */
export interface FieldShape {
  readonly type: ValueType;
  readonly isNumber: boolean;
}

const NUMBER: FieldShape = { type: 'integer', isNumber: true };
const AMOUNT: FieldShape = { type: 'integer', isNumber: false };
const HEX: FieldShape = { type: 'hex', isNumber: false };

const SHAPES: Readonly<Record<FieldKind, FieldShape | undefined>> = {
  number: NUMBER,
  uint64: NUMBER,
  status: NUMBER,
  block: NUMBER,
  index: NUMBER,
  time: { type: 'time', isNumber: true },
  amount: AMOUNT,
  word: AMOUNT,
  hex: HEX,
  bloom: HEX,
  selector: HEX,
  list: undefined,
};

/** Names of the same fields in the tables of the original service. Source: the names that its clients use. */
const ALIASES: Readonly<Record<Entity, Readonly<Record<string, string>>>> = {
  blocks: { hash: 'block_hash', number: 'block_number', timestamp: 'block_timestamp' },
  transactions: { transaction_hash: 'hash', type: 'transaction_type', timestamp: 'block_timestamp' },
  events: {
    topic0: 'topic_0',
    topic1: 'topic_1',
    topic2: 'topic_2',
    topic3: 'topic_3',
    timestamp: 'block_timestamp',
  },
};

/** Fields of an entity with their names, in order. */
export function entityFields(entity: Entity): [name: string, field: Field][] {
  return Object.entries<Field>(FIELDS[entity]);
}

/** Description of a field by its name; undefined for an unknown one. */
export function fieldOf(entity: Entity, name: string): Field | undefined {
  const fields: Readonly<Record<string, Field>> = FIELDS[entity];
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** Shape of a field that can be sorted by, grouped and aggregated; undefined for lists and other names. */
export function fieldShape(entity: Entity, name: string): FieldShape | undefined {
  const field = fieldOf(entity, name);
  return field && SHAPES[field.kind];
}

/** Resolves a name or an alias to the name of a field that has a shape. Undefined for an unknown name. */
export function fieldNamed(entity: Entity, name: string): string | undefined {
  if (fieldShape(entity, name) !== undefined) return name;
  const aliases = ALIASES[entity];
  return Object.hasOwn(aliases, name) ? aliases[name] : undefined;
}

/** Names of the fields that can be sorted by, grouped and aggregated, in order. */
export const SORTABLE: Readonly<Record<Entity, readonly string[]>> = {
  blocks: sortable('blocks'),
  transactions: sortable('transactions'),
  events: sortable('events'),
};

function sortable(entity: Entity): string[] {
  return Object.keys(FIELDS[entity]).filter(name => fieldShape(entity, name) !== undefined);
}
