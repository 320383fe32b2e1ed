import { bytesColumn } from '../../db/columns.ts';
import type { Entity, Filter } from './query.ts';
import type { SqlText } from './query-dialect.ts';

/**
 * How a field lies in SQL: `uint256` is a column of the type `numeric`, `blob` is what hexadecimal stands for, `time_ms`
 * are milliseconds where the field is in seconds.
 */
export type Storage = 'integer' | 'uint256' | 'blob' | 'text' | 'time_ms';

const MAX_INTEGER = 2n ** 63n - 1n;

/**
 * The value of a filter in the form of the column it is compared with; for a `uint256` see `QueryDialect.amount`. What no
 * column holds is beyond all of them.
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

/** Integers of a column have 64 bits, and none holds the outermost of them. */
function withinInteger(value: bigint): bigint {
  if (value < 0n) return -1n;
  return value > MAX_INTEGER ? MAX_INTEGER : value;
}

/** A range of keys, from the first on and below the second, and what else must hold in it. */
export interface PlaceBounds {
  readonly from?: SqlText;
  readonly below?: SqlText;
  readonly also?: SqlText;
}

/** Block numbers have 33 bits (`indexer/schema/block-position.ts`), so this is behind every block. */
const BEHIND_ALL = 2n ** 33n;

/**
 * The range of keys that a filter on a row's place means, so that only that range is walked; null when
 * the filter is on something else. A chain's clock never goes back, so a span of time is one of blocks as well.
 */
export function placeBounds(entity: Entity, filter: Filter): PlaceBounds | null {
  const { field, operator, value } = filter;
  switch (field) {
    case 'block_number':
      return numberBounds(entity, filter);
    case 'block_timestamp':
      return timeBounds(entity, filter);
    case 'block_hash': {
      // A block has its own hash in its row.
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

function numberBounds(entity: Entity, { operator, value }: Filter): PlaceBounds {
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

function timeBounds(entity: Entity, { operator, value }: Filter): PlaceBounds {
  const bindings = [filterValue('time_ms', value)];
  const key = entity === 'blocks' ? 'number' : 'number << 20';
  const first = (sign: '>=' | '>') =>
    `(select ${key} from blocks where timestamp ${sign} ? order by timestamp, number limit 1)`;
  // No such block leaves nothing from it on, and everything below it.
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

/** Bounded by the block as well: then any index that is preferred leads to few rows. */
function transactionBounds(hash: bigint | string): PlaceBounds {
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
