import fc from 'fast-check';
import type { TransactionRow } from '../../indexer/query/grouped-rows.ts';

/** Reference model of expressions: an expression as text, and a plain function over rows. */

export type Row = TransactionRow & { readonly block_number: bigint };
export type Plain = bigint | string | null;

/** An expression over a row; `isNumber` is true when small integers are JSON numbers. */
export interface RowModel<V extends Plain = Plain> {
  readonly text: string;
  readonly isNumber: boolean;
  readonly of: (row: Row) => V;
}
type IntegerModel = RowModel<bigint | null>;

/** An expression over the rows of a group. `written` is the JSON value; a real is compared within `slack`. */
export interface GroupModel {
  readonly text: string;
  readonly isReal: boolean;
  readonly written: (rows: readonly Row[]) => Plain | number;
  /** The value to sort by, where sorting is possible. */
  readonly sorted: ((rows: readonly Row[]) => Plain) | null;
}

const spelling = (...words: string[]) =>
  fc.constantFrom(...words.flatMap(word => [word, word.toUpperCase(), word.toLowerCase()]));
const blank = fc.constantFrom('', ' ', '  ', '\t');

const field = <V extends Plain>(name: keyof Row & string, isNumber: boolean, of: (row: Row) => V) => ({
  text: name,
  isNumber,
  of,
});

const integerFields: IntegerModel[] = [
  field('gas_used', true, row => row.gas_used),
  field('block_number', true, row => row.block_number),
  field('transaction_type', true, row => row.transaction_type),
  field('status', true, row => row.status),
  field('block_timestamp', true, row => row.block_timestamp),
  field('gas', true, row => row.gas),
  field('value', false, row => row.value),
  field('gas_price', false, row => row.gas_price),
  field('max_fee_per_gas', false, row => row.max_fee_per_gas),
  {
    text: 'reinterpretAsUInt256(reverse(unhex(substring(data, 3))))',
    isNumber: false,
    of: ({ data }) => BigInt(`0x${data.slice(2).slice(-64) || '0'}`),
  },
];

const literals = [0n, 1n, 3n, 10n ** 18n, 2n ** 63n, 2n ** 200n].map(
  (value): IntegerModel => ({ text: String(value), isNumber: true, of: () => value }),
);

const EXACT = {
  '+': (a: bigint, b: bigint) => a + b,
  '-': (a: bigint, b: bigint) => a - b,
  '*': (a: bigint, b: bigint) => a * b,
  '%': (a: bigint, b: bigint) => (b === 0n ? null : a % b),
} as const;

const leaf = fc.constantFrom(...integerFields, ...integerFields, ...literals);

/** Exact arithmetic, up to three operators deep. */
const integer: fc.Arbitrary<IntegerModel> = fc.letrec<{ node: IntegerModel }>(tie => ({
  node: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    leaf,
    fc
      .tuple(tie('node'), fc.constantFrom('+', '-', '*', '%'), tie('node'), blank)
      .map(([left, operator, right, space]) => ({
        text: `(${left.text}${space}${operator}${space}${right.text})`,
        isNumber: left.isNumber && right.isNumber,
        of: (row: Row) => {
          const [a, b] = [left.of(row), right.of(row)];
          return a === null || b === null ? null : EXACT[operator](a, b);
        },
      })),
  ),
})).node;

const start = (seconds: bigint, length: bigint, from = 0n) => ((seconds - from) / length) * length + from;
const monthOf = (seconds: bigint) => {
  const date = new Date(Number(seconds) * 1000);
  return BigInt(Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / 1000);
};
/** Monday, 29 December 1969. */
const FIRST_MONDAY = -259_200n;

/** Starts of time spans, in seconds. */
const BUCKETS: Record<string, (seconds: bigint) => bigint> = {
  minute: seconds => start(seconds, 60n),
  hour: seconds => start(seconds, 3600n),
  day: seconds => start(seconds, 86_400n),
  'toStartOfDay(toDate(block_timestamp))': seconds => start(seconds, 86_400n),
  'toDateTime(timestamp)': seconds => seconds,
  week: seconds => start(seconds, 604_800n, FIRST_MONDAY),
  'toStartOfWeek(block_timestamp)': seconds => start(seconds, 604_800n, FIRST_MONDAY),
  month: monthOf,
  'toStartOfWeek(month)': seconds => start(monthOf(seconds), 604_800n, FIRST_MONDAY),
};

const isoText = (seconds: bigint) => new Date(Number(seconds) * 1000).toISOString();

const bucket = fc
  .constantFrom(...Object.entries(BUCKETS))
  .map(([text, of]) => ({ text, isNumber: false, of: (row: Row) => isoText(of(row.block_timestamp)) }));

const hex: RowModel<string | null>[] = [
  field('from_address', false, row => row.from_address),
  field('to_address', false, row => row.to_address),
  field('data', false, row => row.data),
];

/** Keys to group by; times are text, which sorts in the same order. */
export const key: fc.Arbitrary<RowModel> = fc.oneof(
  fc.constantFrom<RowModel>(...hex, ...integerFields),
  bucket,
  integer.filter(({ text }) => text.includes('_')),
);

const anything: fc.Arbitrary<RowModel> = fc.oneof(fc.constantFrom<RowModel>(...hex), bucket, integer);

const valuesOf = <V extends Plain>(model: RowModel<V>, rows: readonly Row[]) =>
  rows.map(row => model.of(row)).filter(value => isThere(value));
function isThere<V>(value: V): value is V & {} {
  return value !== null;
}

export function writtenPlain(value: Plain, isNumber: boolean): Plain | number {
  if (typeof value !== 'bigint') return value;
  const isSafe = value <= BigInt(Number.MAX_SAFE_INTEGER) && value >= BigInt(Number.MIN_SAFE_INTEGER);
  return isNumber && isSafe ? Number(value) : String(value);
}

function exactly(text: string, isNumber: boolean, of: (rows: readonly Row[]) => Plain): GroupModel {
  return { text, isReal: false, written: rows => writtenPlain(of(rows), isNumber), sorted: of };
}

function real(text: string, of: (rows: readonly Row[]) => number | null): GroupModel {
  const finite = (value: number | null) => (value !== null && Number.isFinite(value) ? value : null);
  return { text, isReal: true, written: rows => finite(of(rows)), sorted: null };
}

const total = (values: readonly bigint[]) =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0n);
const extreme = (sign: 1 | -1) => (values: readonly (bigint | string)[]) =>
  values.reduce<bigint | string | null>(
    (best, value) => (best === null || (sign === 1 ? value > best : value < best) ? value : best),
    null,
  );
const smallest = extreme(-1);
const largest = extreme(1);

const count = spelling('count').map(name => exactly(`${name}()`, true, rows => BigInt(rows.length)));
const counted = fc
  .tuple(spelling('count'), anything, blank)
  .map(([name, of, space]) =>
    exactly(`${name}(${space}${of.text})`, true, rows => BigInt(valuesOf(of, rows).length)),
  );
const distinct = fc
  .tuple(fc.constantFrom('count(distinct ', 'COUNT( DISTINCT ', 'countDistinct(', 'uniq('), anything)
  .map(([call, of]) => exactly(`${call}${of.text})`, true, rows => BigInt(new Set(valuesOf(of, rows)).size)));
const sum = fc
  .tuple(spelling('sum'), integer)
  .map(([name, of]) => exactly(`${name}(${of.text})`, of.isNumber, rows => total(valuesOf(of, rows))));
const minimum = fc
  .tuple(spelling('min'), anything)
  .map(([name, of]) => exactly(`${name}(${of.text})`, of.isNumber, rows => smallest(valuesOf(of, rows))));
const maximum = fc
  .tuple(spelling('max'), anything)
  .map(([name, of]) => exactly(`${name}(${of.text})`, of.isNumber, rows => largest(valuesOf(of, rows))));
const average = fc.tuple(spelling('avg'), integer).map(([name, of]) =>
  real(`${name}(${of.text})`, rows => {
    const values = valuesOf(of, rows);
    return values.length === 0 ? null : Number(total(values)) / values.length;
  }),
);
/** Only positive quotients, which do not cancel out, so that a rounded sum is close to the exact one. */
const quotients = fc.tuple(leaf, leaf).map(([left, right]) =>
  real(`sum(${left.text} / ${right.text})`, rows => {
    const values = rows
      .map(row => [left.of(row), right.of(row)] as const)
      .filter(([a, b]) => a !== null && b !== null && b !== 0n)
      .map(([a, b]) => Number(a) / Number(b));
    return values.length === 0 ? null : values.reduce((all, value) => all + value, 0);
  }),
);
const arithmetic = fc
  .tuple(integer, integer, fc.constantFrom('+', '-', '*', '%'))
  .map(([left, right, operator]) =>
    exactly(`sum(${left.text}) ${operator} max(${right.text})`, left.isNumber && right.isNumber, rows => {
      const a = total(valuesOf(left, rows));
      const b = largest(valuesOf(right, rows));
      return a === null || typeof b !== 'bigint' ? null : EXACT[operator](a, b);
    }),
  );
const mean = integer.map(of =>
  real(`sum(${of.text}) / count()`, rows => {
    const all = total(valuesOf(of, rows));
    return all === null || rows.length === 0 ? null : Number(all) / rows.length;
  }),
);

export const aggregate: fc.Arbitrary<GroupModel> = fc.oneof(
  count,
  counted,
  distinct,
  sum,
  sum,
  minimum,
  maximum,
  average,
  quotients,
  arithmetic,
  mean,
);
