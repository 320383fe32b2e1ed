import { filterValue, type PlaceBounds, placeBounds, type Storage } from './filters.ts';
import type { Entity, Filter, RowSelection } from './query.ts';
import type { KeyRange, QueryDialect, SqlText } from './query-dialect.ts';

/** A field in SQL. The text never contains input of a caller. */
export interface Column {
  readonly sql: string;
  readonly storage: Storage;
}

/** A field whose SQL may depend on the database. */
interface FieldColumn {
  readonly sql: string | ((dialect: QueryDialect) => string);
  readonly storage: Storage;
}

/** Tables of each entity. The key orders the rows by block and then by their position in it. */
export const TABLES = {
  blocks: { from: 'blocks b', key: 'b.number', details: 'block_details d on d.number = b.number' },
  transactions: { from: 'transactions t', key: 't.id', details: 'transaction_details d on d.id = t.id' },
  events: { from: 'logs l', key: 'l.id', details: null },
} as const satisfies Record<Entity, { from: string; key: string; details: string | null }>;

const integer = (sql: string): FieldColumn => ({ sql, storage: 'integer' });
const uint256 = (sql: FieldColumn['sql']): FieldColumn => ({ sql, storage: 'uint256' });
const blob = (sql: FieldColumn['sql']): FieldColumn => ({ sql, storage: 'blob' });
const time = (sql: string): FieldColumn => ({ sql, storage: 'time_ms' });

/** Details are in separate tables, because scans take longer over wide rows. */
const blockDetail = (name: string) => `(select ${name} from block_details where number = b.number)`;
const transactionDetail = (name: string) => `(select ${name} from transaction_details where id = t.id)`;
const ofBlock = (name: string, key: string) => `(select ${name} from blocks where number = ${key} >> 20)`;

const NO_BYTES = '0x';

/** Bloom filter from its column. */
export const bloomOf = (column: string) => `bloom_of(${column})`;

/** Integer from a column with a word. */
export const wordOf = (column: string) => (dialect: QueryDialect) =>
  dialect.expressions.integerOfBytes(column).sql;

const CHAIN_ID = '(select chain_id from index_state)';
/** The position in a block is in the lower bits of a key. */
const POSITION = 2 ** 20 - 1;

const COLUMNS: Readonly<Record<Entity, Readonly<Record<string, FieldColumn>>>> = {
  blocks: {
    chain_id: integer(CHAIN_ID),
    block_number: integer('b.number'),
    block_hash: blob('b.hash'),
    block_timestamp: time('b.timestamp'),
    parent_hash: blob('b.parent_hash'),
    nonce: blob('b.nonce'),
    sha3_uncles: blob(blockDetail('sha3_uncles')),
    mix_hash: blob(blockDetail('mix_hash')),
    miner: blob('b.miner'),
    state_root: blob('b.state_root'),
    transactions_root: blob(blockDetail('transactions_root')),
    receipts_root: blob(blockDetail('receipts_root')),
    logs_bloom: blob(blockDetail(bloomOf('logs_bloom'))),
    size: integer('b.size'),
    extra_data: blob('b.extra_data'),
    difficulty: uint256('b.difficulty'),
    total_difficulty: uint256('b.total_difficulty'),
    transaction_count: integer('b.transaction_count'),
    gas_limit: uint256('b.gas_limit'),
    gas_used: integer('b.gas_used'),
    withdrawals_root: blob(blockDetail('withdrawals_root')),
    base_fee_per_gas: uint256('b.base_fee_per_gas'),
  },
  transactions: {
    chain_id: integer(CHAIN_ID),
    block_number: integer('(t.id >> 20)'),
    block_hash: blob(ofBlock('hash', 't.id')),
    block_timestamp: time('t.timestamp'),
    hash: blob('t.hash'),
    nonce: uint256('t.nonce'),
    transaction_index: integer(`(t.id & ${POSITION})`),
    from_address: blob('t.from_address'),
    to_address: blob('t.to_address'),
    value: uint256('t.value'),
    gas_price: uint256('t.gas_price'),
    gas: uint256('t.gas_limit'),
    // Without a call, or with less data than a selector, the selector is empty.
    function_selector: blob(({ bytesLiteral }) => `coalesce(t.selector, ${bytesLiteral(NO_BYTES)})`),
    data: blob('t.input'),
    max_fee_per_gas: uint256('t.max_fee_per_gas'),
    max_priority_fee_per_gas: uint256('t.max_priority_fee_per_gas'),
    transaction_type: integer('t.type'),
    r: uint256(wordOf(transactionDetail('r'))),
    s: uint256(wordOf(transactionDetail('s'))),
    v: uint256(transactionDetail('v')),
    contract_address: blob('t.created_contract'),
    gas_used: integer('t.gas_used'),
    cumulative_gas_used: integer(transactionDetail('cumulative_gas_used')),
    effective_gas_price: uint256('t.gas_price'),
    blob_gas_used: integer('t.blob_gas_used'),
    blob_gas_price: uint256('t.blob_gas_price'),
    logs_bloom: blob(transactionDetail(bloomOf('logs_bloom'))),
    status: integer('t.status'),
  },
  events: {
    chain_id: integer(CHAIN_ID),
    block_number: integer('(l.id >> 20)'),
    block_hash: blob(ofBlock('hash', 'l.id')),
    block_timestamp: time('l.timestamp'),
    transaction_hash: blob('(select hash from transactions where id = l.transaction_id)'),
    transaction_index: integer(`(l.transaction_id & ${POSITION})`),
    log_index: integer(`(l.id & ${POSITION})`),
    address: blob('l.address'),
    data: blob('l.data'),
    topic_0: blob('l.topic0'),
    topic_1: blob('l.topic1'),
    topic_2: blob('l.topic2'),
    topic_3: blob('l.topic3'),
  },
};

/**
 * Column of a field by its public name, over the tables of `selectionOf`.
 * @throws RangeError for an unknown name
 */
export function columnOf(entity: Entity, field: string, dialect: QueryDialect): Column {
  const column = Object.hasOwn(COLUMNS[entity], field) ? COLUMNS[entity][field] : undefined;
  if (column === undefined) throw new RangeError(`${entity} have no field ${field}.`);
  const { sql, storage } = column;
  return { sql: typeof sql === 'string' ? sql : sql(dialect), storage };
}

/** Options of a selection. `isShort` is for a scan that need not be cancellable before its limit. */
export interface SelectionOptions {
  readonly dialect: QueryDialect;
  readonly isShort?: boolean;
}

/** Keys per part of a range: those of 256 blocks, or of 4,096 if a block has one key. */
const PART_KEYS: Readonly<Record<Entity, number>> = {
  blocks: 2 ** 12,
  transactions: 2 ** 28,
  events: 2 ** 28,
};

/**
 * Same rows as `selectionOf`. The scan is divided into parts where the filters select one range of keys and the
 * database needs parts to cancel a statement. A condition on every row would take a fifth of a counting scan.
 */
export function walkOf(
  selected: RowSelection,
  dialect: QueryDialect,
): { from: string; where: string; bindings: unknown[] } {
  const range = rangeOf(selected);
  const parts = range === null ? null : dialect.partsOf(range);
  if (range === null || parts === null) return selectionOf(selected, { dialect });
  const { from, key } = TABLES[selected.entity];
  return {
    from: `${parts.sql} p ${dialect.nestedJoin} ${from}`,
    where: `${key} >= p.first and ${key} < min(p.first + ${range.step}, p.below)`,
    bindings: [...parts.bindings],
  };
}

/** Single range of keys that the filters select, limited to existing keys; null for other filters. */
function rangeOf(selected: RowSelection): KeyRange | null {
  const { entity, filters, wallet } = selected;
  const bounds = filters.map(filter => placeBounds(entity, filter));
  if (bounds.length === 0 || wallet !== undefined) return null;
  if (bounds.some(bound => bound === null || bound.also !== undefined)) return null;
  const { from, key } = TABLES[entity];
  const some = (place: 'from' | 'below') => bounds.flatMap(bound => bound?.[place] ?? []);
  return {
    from: outermost('max', [{ sql: `(select min(${key}) from ${from})`, bindings: [] }, ...some('from')]),
    below: outermost('min', [
      { sql: `(select max(${key}) + 1 from ${from})`, bindings: [] },
      ...some('below'),
    ]),
    step: PART_KEYS[entity],
  };
}

/** Greatest or least of several scalars; null when one of them is null. */
function outermost(choose: 'max' | 'min', scalars: readonly SqlText[]): SqlText {
  return scalars.reduce((one, other) => ({
    sql: `${choose}(${one.sql}, ${other.sql})`,
    bindings: [...one.bindings, ...other.bindings],
  }));
}

/** Selected rows, for `select … from ${from} where ${where}`; see `conditionsOf`. */
export function selectionOf(
  selected: RowSelection,
  options: SelectionOptions,
): { from: string; where: string; bindings: unknown[] } {
  const conditions = conditionsOf(selected, options);
  const { wallet } = selected;
  // Each side has an index, and both databases combine the two without duplicate rows.
  if (wallet !== undefined)
    conditions.push({
      sql: '(t.from_address = ? or t.to_address = ?)',
      bindings: [filterValue('blob', wallet), filterValue('blob', wallet)],
    });
  return { from: TABLES[selected.entity].from, ...allOf(conditions) };
}

/** Joins conditions with `and`. */
export function allOf(conditions: readonly SqlText[]): { where: string; bindings: unknown[] } {
  return {
    where: conditions.length === 0 ? 'true' : conditions.map(({ sql }) => sql).join(' and '),
    bindings: conditions.flatMap(({ bindings }) => [...bindings]),
  };
}

/**
 * Conditions of the filters, without the wallet. SQLite checks them in this order, so every row reaches the
 * interruption, which takes about a third of a scan that does nothing else.
 */
export function conditionsOf(selected: RowSelection, { dialect, isShort }: SelectionOptions): SqlText[] {
  const { entity, filters } = selected;
  return [
    ...(isShort ? [] : dialect.interruption(TABLES[entity].key)),
    ...filters.map(filter => conditionOf(selected, filter, dialect)),
  ];
}

/** True when the filters select one range of keys, so that every scanned row matches. */
export function isOneRange({ entity, filters, wallet }: RowSelection): boolean {
  return wallet === undefined && filters.every(filter => placeBounds(entity, filter) !== null);
}

const SIGNS = { eq: '=', gte: '>=', gt: '>', lte: '<=', lt: '<' } as const;

function conditionOf(selected: RowSelection, filter: Filter, dialect: QueryDialect): SqlText {
  const { entity } = selected;
  const bounds = placeBounds(entity, filter);
  if (bounds !== null) return boundedBy(TABLES[entity].key, bounds);
  const { field, operator, value } = filter;
  if (field === 'function_selector' && operator === 'eq' && value !== NO_BYTES) {
    // The bare column, because the index is over it. With an address filter the index is avoided, because the address
    // selects fewer rows.
    const column = isOfAddress(selected) ? dialect.unindexed('t.selector') : 't.selector';
    return { sql: `${column} = ?`, bindings: [filterValue('blob', value)] };
  }
  const { sql, storage } = columnOf(entity, field, dialect);
  const bound = storage === 'uint256' ? dialect.amount(BigInt(value)) : filterValue(storage, value);
  return { sql: `${sql} ${SIGNS[operator]} ?`, bindings: [bound] };
}

function isOfAddress({ filters, wallet }: RowSelection): boolean {
  const fields = ['from_address', 'to_address'];
  return (
    wallet !== undefined || filters.some(({ field, operator }) => operator === 'eq' && fields.includes(field))
  );
}

function boundedBy(key: string, { from, below, also }: PlaceBounds): SqlText {
  const parts: SqlText[] = [];
  if (from !== undefined) parts.push({ sql: `${key} >= ${from.sql}`, bindings: from.bindings });
  if (below !== undefined) parts.push({ sql: `${key} < ${below.sql}`, bindings: below.bindings });
  if (also !== undefined) parts.push(also);
  const { where, bindings } = allOf(parts);
  return { sql: where, bindings };
}
