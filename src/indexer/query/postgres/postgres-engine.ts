import { connecting } from '#db/postgres/connection.ts';
import type { PostgresOptions } from '#db/postgres/options.ts';
import { Cancelled, type Engine, type EngineOptions, type PackedAnswer, type Query } from '../engine.ts';
import { rowsReader } from '../rows.ts';
import { groupsOf } from './groups.ts';
import { postgresQueries, widePostgresQueries } from './postgres-dialect.ts';
import { OutOfRange, openQueryConnection, type QueryConnection } from './query-connection.ts';

const rowsOf = rowsReader(postgresQueries);

/** Runs queries on a server. The first query opens the connection, and a lost connection is reopened. */
export function postgresEngine(
  database: PostgresOptions,
  { deadlineMs, isCancelled }: EngineOptions,
): Engine {
  const bounded = { ...database, statementTimeoutMs: deadlineMs };
  const connect = connecting(bounded);
  let connection: QueryConnection | undefined;

  /** `isUsual` assumes that no number exceeds the range of its type. */
  async function run(query: Query, isUsual: boolean): Promise<PackedAnswer> {
    if (isCancelled()) throw new Cancelled();
    if (!connection?.isUsable()) connection = openQueryConnection(connect, bounded);
    return connection.transaction<PackedAnswer>(each => {
      const session = { dialect: isUsual ? postgresQueries : widePostgresQueries, each };
      return query.kind === 'rows' ? rowsOf(session, query) : groupsOf(session, query, isUsual);
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
