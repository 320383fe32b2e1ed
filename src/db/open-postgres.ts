import { Socket } from 'node:net';
import createKnex, { type Knex } from 'knex';
import pg from 'pg';
import type { Logger } from '../lib/logger.ts';
import { exactInteger } from './columns.ts';
import { type Dialect, postgresDialect } from './dialect.ts';
import { driverLog } from './driver-log.ts';

export interface PostgresOptions {
  kind: 'postgres';
  /** `postgres://user:password@host/name`, with the parameters libpq knows, such as `sslmode`. */
  url: string;
  /** How long the server may send nothing before a connection is given up, in milliseconds; `SILENCE_MS` when absent. */
  silenceMs?: number;
  /** Without one the driver's warnings are not heard. */
  log?: Logger;
}

/**
 * What every connection starts with. `set` and not start-up options, which poolers such as PgBouncer refuse. A
 * process that hangs within a transaction would keep its locks for ever without the last one.
 */
const SESSION = [
  "set timezone = 'UTC'",
  "set statement_timeout = '30s'",
  "set idle_in_transaction_session_timeout = '60s'",
].join('; ');

const MAX_CONNECTIONS = 10;

/** Longer than `statement_timeout`: a server that can be reached has answered by then, if only with an error. */
const SILENCE_MS = 40_000;

/**
 * PostgreSQL through a pool of its own. An unreachable server is an error of the first statement, after 10 s. A
 * connection on which nothing arrives any more is given up after `silenceMs`, but not while `patiently` runs.
 */
export function openPostgres({ url, silenceMs = SILENCE_MS, log }: PostgresOptions): {
  knex: Knex;
  dialect: Dialect;
  patiently: <T>(work: () => Promise<T>) => Promise<T>;
} {
  let patient = 0;
  const knex = createKnex({
    client: 'pg',
    connection: {
      connectionString: url,
      application_name: 'tollgate',
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
      stream: () => socketWithDeadline(silenceMs, () => patient > 0),
      types: { getTypeParser: parserOf },
    },
    acquireConnectionTimeout: 30_000,
    log: driverLog(log),
    // Else the message of an error has the statement with the values that were bound to it.
    compileSqlOnError: false,
    pool: {
      min: 0,
      max: MAX_CONNECTIONS,
      afterCreate: (connection: pg.Client, done: (error: Error | null, connection: pg.Client) => void) => {
        connection.query(SESSION).then(
          () => done(null, connection),
          error => done(error instanceof Error ? error : new Error(String(error)), connection),
        );
      },
    },
  });
  return {
    knex,
    dialect: postgresDialect,
    async patiently(work) {
      patient += 1;
      try {
        return await work();
      } finally {
        patient -= 1;
      }
    },
  };
}

/**
 * A socket that fails after so long without traffic. Keep-alive finds no dead network while data waits for its
 * acknowledgement: the operating system then goes on sending for a quarter of an hour.
 */
function socketWithDeadline(silenceMs: number, isPatient: () => boolean): Socket {
  const socket = new Socket();
  socket.setTimeout(silenceMs);
  socket.on('timeout', () => {
    // It is emitted once for each silence.
    if (isPatient()) socket.setTimeout(silenceMs);
    else socket.destroy(new Error(`PostgreSQL gave no answer for ${silenceMs} ms.`));
  });
  return socket;
}

/** An int8 (type 20) is a number, as SQLite gives it, where the driver's own parser leaves it text. */
function parserOf(oid: number): (value: string) => unknown {
  return oid === pg.types.builtins.INT8 ? exactInteger : pg.types.getTypeParser(oid, 'text');
}
