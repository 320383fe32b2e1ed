import { postgresDialect } from '#db/dialect.ts';
import { connecting } from '#db/postgres/connection.ts';
import type { PostgresOptions } from '#db/postgres/options.ts';
import {
  Cancelled,
  type EngineOptions,
  type PackedAnswer,
  type Query,
  type SerialEngine,
} from '../engine.ts';
import type { ExpressionDialect, QueryDialect } from '../query-dialect.ts';
import { rowsReader } from '../rows.ts';
import { postgresGroups } from './groups.ts';
import { OutOfRange, openQueryConnection, type QueryConnection } from './query-connection.ts';

/** Runs queries on a server. The first query opens the connection, and a lost connection is reopened. */
export function postgresEngine(
  database: PostgresOptions,
  { deadlineMs, isCancelled }: EngineOptions,
): SerialEngine {
  const bounded = { ...database, statementTimeoutMs: deadlineMs };
  const connect = connecting(bounded);
  let connection: QueryConnection | undefined;

  /** `isUsual` assumes that no number exceeds the range of its type. */
  async function run(query: Query, isUsual: boolean): Promise<PackedAnswer> {
    if (isCancelled()) throw new Cancelled();
    if (!connection?.isUsable()) connection = openQueryConnection(connect, bounded);
    return connection.transaction<PackedAnswer>(each => {
      const session = { dialect: isUsual ? postgresQueries : widePostgresQueries, each };
      return query.kind === 'rows' ? rowsOf(session, query) : postgresGroups(session, query, isUsual);
    });
  }

  return {
    async run(query) {
      try {
        return await run(query, true);
      } catch (error) {
        if (!(error instanceof OutOfRange)) throw error;
        // Rare enough to repeat the work. The server's native numbers are many times faster.
        return await run(query, false);
      }
    },
    cancel: () => void connection?.cancel(),
    async close() {
      await connection?.close();
    },
  };
}

/** Long integers are `numeric`, whose sums are exact. */
const expressions: ExpressionDialect = {
  widened: short => `cast(${short} as numeric)`,
  literal: (form, value) => ({
    sql: `cast(? as ${form === 'long' ? 'numeric' : 'bigint'})`,
    bindings: [String(value)],
  }),
  text: 'cast(? as text) collate "C"',
  integerOfBytes(bytes) {
    const sql = `uint_of(substr(${bytes}, greatest(length(${bytes}) - 31, 1)))`;
    return { sql, summed: sql };
  },
  longArithmetic: (operator, left, right) =>
    `(cast(${left} as numeric) ${operator} ${operator === '%' ? `nullif(${right}, 0)` : right})`,
  shortArithmetic: (operator, left, right) =>
    `(${left} ${operator} ${operator === '%' ? `nullif(${right}, 0)` : right})`,
  real: ({ sql }) => `cast(${sql} as double precision)`,
  realArithmetic: (operator, left, right) =>
    `(${left} ${operator} ${operator === '/' ? `nullif(${right}, 0)` : right})`,
  startOfMonth: seconds => `start_of_month(${seconds})`,
  sum: ({ sql }) => `sum(${sql})`,
  // Versions before 18 have no `min` and `max` of bytes. Hexadecimal text sorts in the same order.
  comparable: ({ form, sql }) => (form === 'bytes' ? `('0x' || encode(${sql}, 'hex')) collate "C"` : sql),
};

/**
 * Dialect for queries over the tables of an index. Needs a connection of `openQueryConnection`, which sets the form of
 * values.
 */
export const postgresQueries: QueryDialect = {
  bytesLiteral: postgresDialect.bytesLiteral,
  nestedJoin: postgresDialect.nestedJoin,
  expressions,
  keepsOrder: false,
  mergesUnions: false,
  walksAllValues: true,
  amount: String,
  unindexed: column => column,
  recordBytes: bytes => bytes,
  partsOf: () => null,
  interruption: () => [],
  digitsOf: text => text,
  integerOf: BigInt,
  hexOf: String,
};

const rowsOf = rowsReader(postgresQueries);

/**
 * Dialect for numbers beyond the range of `double precision`, for which PostgreSQL otherwise fails. Too large numbers
 * become infinite, and too small ones zero.
 * Uses functions of the schema, which are slow.
 */
const widePostgresQueries: QueryDialect = {
  ...postgresQueries,
  expressions: {
    ...expressions,
    real: ({ sql }) => `wide_real(${sql})`,
    realArithmetic: (operator, left, right) => `wide_arithmetic('${operator}', ${left}, ${right})`,
    sum: ({ form, sql }) => (form === 'real' ? `wide_real(sum(decimal_of(${sql})))` : `sum(${sql})`),
  },
};
