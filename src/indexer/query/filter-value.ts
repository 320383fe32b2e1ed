import { bytesColumn, uintColumn } from '../../db/columns.ts';

/**
 * How a field lies in SQL: `uint256` is the text of `uintColumn`, `blob` is what hexadecimal stands for, `time_ms` are
 * milliseconds where the field is in seconds.
 */
export type Storage = 'integer' | 'uint256' | 'blob' | 'text' | 'time_ms';

const MAX_INTEGER = 2n ** 63n - 1n;
const MAX_UINT256 = 2n ** 256n - 1n;
/** Before and behind every text of `uintColumn`. */
const BELOW_ALL = '';
const ABOVE_ALL = '99';

/** The value of a filter in the form of the column it is compared with. What no column holds is beyond all of them. */
export function filterValue(storage: Storage, value: bigint | string): bigint | string | Buffer {
  switch (storage) {
    case 'blob':
      return bytesColumn(String(value));
    case 'text':
      return String(value);
    case 'integer':
      return withinInteger(BigInt(value));
    case 'time_ms':
      return withinInteger(BigInt(value) * 1000n);
    case 'uint256': {
      const integer = BigInt(value);
      if (integer < 0n) return BELOW_ALL;
      return integer > MAX_UINT256 ? ABOVE_ALL : uintColumn(integer);
    }
  }
}

/** SQLite's integers have 64 bits, and no column holds the outermost of them. */
function withinInteger(value: bigint): bigint {
  if (value < 0n) return -1n;
  return value > MAX_INTEGER ? MAX_INTEGER : value;
}
