import { bytesColumn } from '../../db/columns.ts';
import type { Entity, Filter } from '../../query-model/row-selection.ts';
import type { SqlText } from './query-dialect.ts';

/**
 * SQL form of a field. `uint256` is a column of type `numeric`, `blob` holds bytes of a hexadecimal field, and
 * `time_ms` holds milliseconds of a field in seconds.
 */
export type Storage = 'integer' | 'uint256' | 'blob' | 'text' | 'time_ms';

const MAX_INTEGER = 2n ** 63n - 1n;

/**
 * Filter value in the form of its column; for `uint256` see `QueryDialect.amount`.
 * A value that no column can hold becomes one outside the column's range.
 */
export function filterValue(
  storage: Exclude<Storage, 'uint256'>,
  value: bigint | string,
): bigint | string | Buffer {
  switch (storage) {
    case 'blob':
      return bytesColumn(String(value));
    case 'text':
      return String(value);
    case 'integer':
      return withinInteger(BigInt(value));
    case 'time_ms':
      return withinInteger(BigInt(value) * 1000n);
  }
}

/** Clamps an integer to -1 … 2^63 - 1. No column holds either of these two values. */
function withinInteger(value: bigint): bigint {
  if (value < 0n) return -1n;
  return value > MAX_INTEGER ? MAX_INTEGER : value;
}

/** Fields that order rows like their keys: block times never decrease along a chain. */
export const RANGE_FIELDS: readonly string[] = ['block_number', 'block_timestamp'];

/** True for a field that sorts like the keys. A chain has one id. */
export function isInKeyOrder(field: string): boolean {
  return field === 'chain_id' || RANGE_FIELDS.includes(field);
}

/** Range of keys from `from` (inclusive) to `below` (exclusive), and a further condition. */
export interface PositionBounds {
  readonly from?: SqlText;
  readonly below?: SqlText;
  readonly also?: SqlText;
}

/** Block numbers have 33 bits (`indexer/schema/block-position.ts`), so this is above every block. */
const BEHIND_ALL = 2n ** 33n;

/**
 * Range of keys that a filter on a row's position selects, so that only this range is scanned. Null for other filters.
 * Block times never decrease along a chain, so a time span is a block range too.
 */
export function positionBounds(entity: Entity, filter: Filter): PositionBounds | null {
  const { field, operator, value } = filter;
  switch (field) {
    case 'block_number':
      return numberBounds(entity, filter);
    case 'block_timestamp':
      return timeBounds(entity, filter);
    case 'block_hash': {
      // The hash is a column of the block's own row.
      if (entity === 'blocks' || operator !== 'eq') return null;
      const bindings = [filterValue('blob', value)];
      return {
        from: { sql: '(select number << 20 from blocks where hash = ?)', bindings },
        below: { sql: '(select (number + 1) << 20 from blocks where hash = ?)', bindings },
      };
    }
    case 'transaction_hash':
      return entity === 'events' && operator === 'eq' ? transactionBounds(value) : null;
    default:
      return null;
  }
}

function numberBounds(entity: Entity, { operator, value }: Filter): PositionBounds {
  const number = BigInt(value);
  const start = (block: bigint): SqlText => {
    const within = block < 0n ? 0n : block > BEHIND_ALL ? BEHIND_ALL : block;
    return { sql: '?', bindings: [entity === 'blocks' ? within : within << 20n] };
  };
  switch (operator) {
    case 'eq':
      return { from: start(number), below: start(number + 1n) };
    case 'gte':
      return { from: start(number) };
    case 'gt':
      return { from: start(number + 1n) };
    case 'lte':
      return { below: start(number + 1n) };
    case 'lt':
      return { below: start(number) };
  }
}

function timeBounds(entity: Entity, { operator, value }: Filter): PositionBounds {
  const bindings = [filterValue('time_ms', value)];
  const key = entity === 'blocks' ? 'number' : 'number << 20';
  const first = (sign: '>=' | '>') =>
    `(select ${key} from blocks where timestamp ${sign} ? order by timestamp, number limit 1)`;
  // If there is no such block, a lower bound matches nothing and an upper bound matches everything.
  const from = (sign: '>=' | '>'): SqlText => ({ sql: first(sign), bindings });
  const below = (sign: '>=' | '>'): SqlText => ({ sql: `coalesce(${first(sign)}, ${2n ** 53n})`, bindings });
  switch (operator) {
    case 'eq':
      return { from: from('>='), below: below('>') };
    case 'gte':
      return { from: from('>=') };
    case 'gt':
      return { from: from('>') };
    case 'lte':
      return { below: below('>') };
    case 'lt':
      return { below: below('>=') };
  }
}

/** Logs of one transaction, bounded by its block too, so that any index that the database chooses selects few rows. */
function transactionBounds(hash: bigint | string): PositionBounds {
  const bindings = [filterValue('blob', hash)];
  const block = (offset: 0 | 1) => `(select ((id >> 20) + ${offset}) << 20 from transactions where hash = ?)`;
  return {
    from: { sql: block(0), bindings },
    below: { sql: block(1), bindings },
    also: {
      sql: 'l.transaction_id = (select id from transactions where hash = ?)',
      bindings,
    },
  };
}

/**
 * Separates filters by contract and first topic from the others. Both together select one kind of events, which is one
 * column of a log. `kind` is null without one of them.
 */
export function separatedKind(
  entity: Entity,
  filters: readonly Filter[],
): { kind: SqlText | null; others: readonly Filter[] } {
  const equalTo = (name: string) =>
    filters.find(({ field, operator }) => field === name && operator === 'eq');
  const [address, topic] = [equalTo('address'), equalTo('topic_0')];
  if (entity !== 'events' || address === undefined || topic === undefined)
    return { kind: null, others: filters };
  return {
    kind: {
      sql: '(select id from event_kinds where address = ? and topic0 = ?)',
      bindings: [filterValue('blob', address.value), filterValue('blob', topic.value)],
    },
    others: filters.filter(filter => filter !== address && filter !== topic),
  };
}
