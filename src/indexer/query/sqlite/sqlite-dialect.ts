import { hexOf, uintColumn } from '#db/columns.ts';
import { sqliteDialect } from '#db/dialect.ts';
import type { ExpressionDialect, QueryDialect } from '../query-dialect.ts';
import { integerOf, sortable } from './functions.ts';

const CALLS = {
  '+': 'exact_add',
  '-': 'exact_subtract',
  '*': 'exact_multiply',
  '%': 'exact_remainder',
} as const;

/** Long integers are `sortable` text, for the functions of `registerFunctions`. */
const expressions: ExpressionDialect = {
  widened: short => `exact(${short})`,
  literal: (form, value) => ({ sql: '?', bindings: [form === 'long' ? sortable(value) : value] }),
  text: '?',
  integerOfBytes(bytes) {
    // Text reaches JavaScript several times faster than bytes. A sum takes it directly, without the intermediate text
    // of `exact`.
    const digits = `'0x' || hex(substr(${bytes}, -32))`;
    return { sql: `exact(${digits})`, summed: digits };
  },
  longArithmetic: (operator, left, right) => `${CALLS[operator]}(${left}, ${right})`,
  shortArithmetic: (operator, left, right) => `(${left} ${operator} ${right})`,
  real: ({ form, sql }) => (form === 'short' ? `cast(${sql} as real)` : `as_real(${sql})`),
  realArithmetic: (operator, left, right) => `(${left} ${operator} ${right})`,
  startOfMonth: seconds => `unixepoch(${seconds}, 'unixepoch', 'start of month')`,
  sum(compiled, trustsIntegers) {
    const { form, sql } = compiled;
    if (form === 'short') return trustsIntegers ? `sum(${sql})` : `exact_sum(${sql})`;
    return form === 'real' ? `sum(${sql})` : `exact_sum(${compiled.summed ?? sql})`;
  },
  comparable: ({ sql }) => sql,
};

const MAX_UINT256 = 2n ** 256n - 1n;
/** Texts that sort before and after every text of `uintColumn`. */
const BELOW_ALL = '';
const ABOVE_ALL = '99';

/** One row in this many checks for cancellation. A prime, so that no pattern of keys avoids it. */
const ROWS_PER_TICK = 4093;

/** Queries over `openQueryDatabase`. */
export const sqliteQueries: QueryDialect = {
  bytesLiteral: sqliteDialect.bytesLiteral,
  nestedJoin: sqliteDialect.nestedJoin,
  expressions,
  keepsOrder: true,
  mergesUnions: true,
  walksAllValues: false,
  amount(value) {
    if (value < 0n) return BELOW_ALL;
    return value > MAX_UINT256 ? ABOVE_ALL : uintColumn(value);
  },
  // A unary plus hides an index from the planner.
  unindexed: column => `+${column}`,
  // SQLite converts bytes to text several times faster than the driver creates Buffers.
  recordBytes: bytes => `iif(${bytes} is null, null, '0x' || lower(hex(${bytes})))`,
  partsOf: ({ from, below, step }) => ({
    sql: `(with recursive parts(first, below) as (
        select ${from.sql}, ${below.sql}
        union all select first + ${step}, below from parts where first + ${step} < below)
      select first, below from parts where tick())`,
    bindings: [...from.bindings, ...below.bindings],
  }),
  interruption: key => [{ sql: `(${key} % ${ROWS_PER_TICK} or tick())`, bindings: [] }],
  // The first two digits are the length.
  digitsOf: text => text.slice(2),
  integerOf,
  hexOf(value) {
    if (!Buffer.isBuffer(value)) throw new TypeError('Expected bytes from a column of bytes.');
    return hexOf(value);
  },
};
