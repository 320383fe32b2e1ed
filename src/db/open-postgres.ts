import createKnex, { type Knex } from 'knex';
import PostgresClient from 'knex/lib/dialects/postgres/index.js';
import pg from 'pg';
import { systemClock } from '../lib/clock.ts';
import { driverLog, silentLogger } from '../lib/logger.ts';
import { Unavailable } from '../lib/unavailable.ts';
import { exactInteger, uintColumnOf } from './columns.ts';
import { type Dialect, postgresDialect } from './dialect.ts';
import { connecting } from './postgres/connection.ts';
import type { PostgresOptions } from './postgres/options.ts';
import { applySettings, inTransaction, settingStatement, settingsOf } from './postgres/settings.ts';
import { LISTENING_SILENCE_MS, postgresWakeups, type Wakeups } from './wakeups.ts';

/** Connections of a process when `poolSize` is absent. */
export const POOL_SIZE = 10;
/**
 * Delay between connection attempts of waiting requests after a refusal, so that they fail soon, but not all at once.
 */
const REFUSED_REST_MS = 20;

/**
 * Opens PostgreSQL with its own pool. While the server is unreachable, statements reject with `Unavailable`. A
 * connection without incoming data is closed after `silenceMs`, except while `withoutIdleTimeout` runs.
 */
export function openPostgres(options: PostgresOptions): {
  knex: Knex;
  dialect: Dialect;
  wakeups: Wakeups;
  withoutIdleTimeout: <T>(work: () => Promise<T>) => Promise<T>;
} {
  const { listenUrl = options.url, poolSize = POOL_SIZE, log = silentLogger() } = options;
  const settings = settingsOf(options);
  const connect = connecting(options, () => patient > 0);
  const types = { getTypeParser: parsersOf(options) };
  /** Connections behind a pooler, which may run each transaction on another connection of the server. */
  const pooled = new WeakSet<object>();
  let patient = 0;
  const knex = createKnex({
    client: class extends PostgresClient {
      override acquireConnection() {
        return super.acquireConnection().catch(throwAway);
      }
      override _acquireOnlyConnection() {
        return connect(config => {
          this.connectionSettings = { ...config, types };
          return super._acquireOnlyConnection();
        });
      }
      override _query(connection: pg.Client, query: { sql: string }) {
        return this.sent(connection, query).catch((error: unknown) => {
          if (error instanceof pg.DatabaseError) serverTexts.set(error, error.message);
          // A primary that was demoted: the pool removes the connection, and the next one may find the successor.
          if (isRefusedWrite(error)) Reflect.set(connection, '__knex__disposed', error);
          throw outageOr(error);
        });
      }
      private sent(connection: pg.Client, query: { sql: string }): Promise<unknown> {
        if (!pooled.has(connection)) return super._query(connection, query);
        if (BEGIN.test(query.sql)) query.sql += `; ${settingStatement(settings, 'transaction')}`;
        else if (connection.getTransactionStatus() === 'I')
          return inTransaction(connection, settings, () => super._query(connection, query));
        return super._query(connection, query);
      }
      override async destroy(callback: unknown) {
        await wakeups.close();
        await super.destroy(callback);
      }
    },
    // Those of a host are set for each connection.
    connection: {},
    acquireConnectionTimeout: 30_000,
    log: driverLog(log),
    // Otherwise error messages would contain the statement with its bound values.
    compileSqlOnError: false,
    pool: {
      min: 0,
      max: poolSize,
      createRetryIntervalMillis: REFUSED_REST_MS,
      afterCreate: (connection: pg.Client, done: (error: Error | null, connection: pg.Client) => void) => {
        applySettings(connection, settings).then(
          isPooled => {
            if (isPooled) pooled.add(connection);
            done(null, connection);
          },
          error => done(error instanceof Error ? error : new Error(String(error)), connection),
        );
      },
    },
  });
  const listening = connecting({ ...options, url: listenUrl, silenceMs: LISTENING_SILENCE_MS });
  const wakeups = postgresWakeups({ knex, connect: listening, clock: systemClock, log });
  return {
    knex,
    dialect: postgresDialect,
    wakeups,
    async withoutIdleTimeout(work) {
      patient += 1;
      try {
        return await work();
      } finally {
        patient -= 1;
      }
    },
  };
}

const serverTexts = new WeakMap<pg.DatabaseError, string>();

/** Message of the server, without the statement that knex prepends. */
export function serverText(error: pg.DatabaseError): string {
  return serverTexts.get(error) ?? error.message;
}

/** Handles every failure to connect as an unreachable server. */
function throwAway(error: unknown): never {
  throw awayError(error);
}

export function awayError(cause: unknown): Unavailable {
  return new Unavailable('The database cannot be reached now', cause);
}

/** The outage that an error of a statement reports, or the error itself. */
export function outageOr(error: unknown): unknown {
  const outage = postgresDialect.outageOf(error);
  return outage === undefined ? error : new Unavailable(outage, error);
}

/** read_only_sql_transaction. Source: PostgreSQL, "Error Codes". */
function isRefusedWrite(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '25006';
}

const BEGIN = /^begin\b/i;

/** Parses int8 to a number, as on SQLite; the driver's own parser leaves it as text. */
function parsersOf({ numeric = 'digits' }: PostgresOptions): (oid: number) => (value: string) => unknown {
  return oid => {
    if (oid === pg.types.builtins.INT8) return exactInteger;
    if (oid === pg.types.builtins.NUMERIC && numeric === 'uint256') return uintColumnOf;
    return pg.types.getTypeParser(oid, 'text');
  };
}
