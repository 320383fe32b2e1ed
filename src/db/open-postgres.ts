import { Socket } from 'node:net';
import createKnex, { type Knex } from 'knex';
import PostgresClient from 'knex/lib/dialects/postgres/index.js';
import pg from 'pg';
import { driverLog, type Logger, silentLogger } from '../lib/logger.ts';
import { Unavailable } from '../lib/unavailable.ts';
import { exactInteger, uintColumnOf } from './columns.ts';
import { type Dialect, postgresDialect } from './dialect.ts';
import { LISTENING_SILENCE_MS, postgresWakeups, type Wakeups } from './wakeups.ts';

export interface PostgresOptions {
  kind: 'postgres';
  /** `postgres://user:password@host/name`, with the parameters libpq knows, such as `sslmode`. */
  url: string;
  /**
   * How long the server may send nothing before a connection is given up, in milliseconds; 10 s
   * longer than a statement may take when absent. The connection that listens has a limit of its own.
   */
  silenceMs?: number;
  /** Connections of this process at most; 10 when absent. */
  poolSize?: number;
  /** How long one statement may take, in milliseconds; 30 s when absent. */
  statementTimeoutMs?: number;
  /** How long a statement may wait for a lock, in milliseconds; 10 s when absent, half of `statementTimeoutMs` at most. */
  lockTimeoutMs?: number;
  /** TLS beyond what the address says: certificates in PEM. */
  tls?: Tls;
  /** Where notifications are listened for; the address itself when absent. A pooler must be gone around. */
  listenUrl?: string;
  /**
   * The schema within the database that all tables lie in; that of the server's user, mostly `public`, when absent.
   * Through a pooler only session pooling keeps it.
   */
  schema?: string;
  /** `full`, when absent: a commit outlives a crash. `normal` may lose the last commits to one, never consistency. */
  durability?: 'normal' | 'full';
  /** A `numeric` is read as digits, when absent, or in the form of `uintColumn`, which is that of a row on SQLite. */
  numeric?: 'digits' | 'uint256';
  /** Without one the driver's warnings are not heard. */
  log?: Logger;
}

/** Certificates in PEM. The server's is always verified, also where the address says `sslmode=no-verify`. */
export interface Tls {
  /** Of the authority that signed the server's; those that Node.js knows when absent. */
  readonly ca?: string;
  /** Of this client, with its key. */
  readonly cert?: string;
  readonly key?: string;
}

const POOL_SIZE = 10;
const STATEMENT_TIMEOUT_MS = 30_000;
const LOCK_TIMEOUT_MS = 10_000;
/** A server that can be reached has answered a statement this long after its time limit, if only with an error. */
const SILENCE_BEYOND_MS = 10_000;

/** How long a server may take to accept a connection. */
const CONNECT_MS = 5_000;
/** Rest after a refused connection, for each that others wait for: they are refused as well, soon and not all at once. */
const REFUSED_REST_MS = 20;

/**
 * PostgreSQL through a pool of its own. While the server cannot be reached statements reject with `Unavailable`. A
 * connection on which nothing arrives any more is given up after `silenceMs`, but not while `patiently` runs.
 */
export function openPostgres(options: PostgresOptions): {
  knex: Knex;
  dialect: Dialect;
  wakeups: Wakeups;
  patiently: <T>(work: () => Promise<T>) => Promise<T>;
} {
  const { listenUrl = options.url, poolSize = POOL_SIZE, log = silentLogger() } = options;
  const session = sessionOf(options);
  let patient = 0;
  const knex = createKnex({
    client: class extends PostgresClient {
      override acquireConnection() {
        return super.acquireConnection().catch(throwAway);
      }
      override _query(connection: pg.Client, query: object) {
        return super._query(connection, query).catch(error => {
          if (error instanceof pg.DatabaseError) serverTexts.set(error, error.message);
          throw postgresDialect.isAway(error) ? awayError(error) : error;
        });
      }
      override async destroy(callback: unknown) {
        await wakeups.close();
        await super.destroy(callback);
      }
    },
    connection: {
      ...connectionOf(options, () => patient > 0),
      types: { getTypeParser: parsersOf(options) },
    },
    acquireConnectionTimeout: 30_000,
    log: driverLog(log),
    // Else the message of an error has the statement with the values that were bound to it.
    compileSqlOnError: false,
    pool: {
      min: 0,
      max: poolSize,
      createRetryIntervalMillis: REFUSED_REST_MS,
      afterCreate: (connection: pg.Client, done: (error: Error | null, connection: pg.Client) => void) => {
        connection.query(session).then(
          () => done(null, connection),
          error => done(error instanceof Error ? error : new Error(String(error)), connection),
        );
      },
    },
  });
  const listening = connectionOf({ ...options, url: listenUrl, silenceMs: LISTENING_SILENCE_MS });
  const wakeups = postgresWakeups({ knex, connection: listening, log });
  return {
    knex,
    dialect: postgresDialect,
    wakeups,
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

const serverTexts = new WeakMap<pg.DatabaseError, string>();

/** What the server said, without the statement that knex puts before it. */
export function serverText(error: pg.DatabaseError): string {
  return serverTexts.get(error) ?? error.message;
}

/** A connection as the driver takes it. The server may be silent for longer while `isPatient`. */
export function connectionOf(options: PostgresOptions, isPatient: () => boolean = () => false) {
  const { url, tls, statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options;
  const { silenceMs = statementTimeoutMs + SILENCE_BEYOND_MS } = options;
  return {
    ...addressOf(url, tls),
    application_name: 'tollgate',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    stream: () => socketWithDeadline(silenceMs, isPatient),
  };
}

/** Without a connection nothing can be asked, whatever kept it from being made. */
function throwAway(error: unknown): never {
  throw awayError(error);
}

export function awayError(cause: unknown): Unavailable {
  return new Unavailable('The database cannot be reached now', cause);
}

/**
 * What every connection starts with. `set` and not start-up options, which poolers such as PgBouncer refuse. A
 * process that hangs within a transaction would keep its locks for ever without the last one.
 */
export function sessionOf({
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
  lockTimeoutMs = LOCK_TIMEOUT_MS,
  schema,
  durability,
}: PostgresOptions): string {
  return [
    "set timezone = 'UTC'",
    `set statement_timeout = ${statementTimeoutMs}`,
    // Else the end of the statement comes first, which is not tried again. 0 would be no limit.
    `set lock_timeout = ${Math.max(1, Math.min(lockTimeoutMs, Math.floor(statementTimeoutMs / 2)))}`,
    "set idle_in_transaction_session_timeout = '10s'",
    ...(schema === undefined ? [] : [`set search_path = ${schema}`]),
    ...(durability === 'normal' ? ['set synchronous_commit = off'] : []),
  ].join('; ');
}

/** What an address may say of TLS, which the driver would take before the certificates that are given apart. */
const TLS_PARAMETERS = ['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'];

/** @throws for an address that is not a URL */
function addressOf(url: string, tls: Tls | undefined): { connectionString: string; ssl?: Tls } {
  // The host may be left out behind a user, which no URL may. The driver's error would have the password in it.
  const address = URL.parse(url.replace('@/', '@localhost/'));
  if (address === null) throw new Error('Its address is not a valid URL.');
  if (tls === undefined) return { connectionString: url };
  for (const parameter of TLS_PARAMETERS) address.searchParams.delete(parameter);
  return { connectionString: address.href, ssl: tls };
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

/** An int8 is a number, as SQLite gives it, where the driver's own parser leaves it text. */
function parsersOf({ numeric = 'digits' }: PostgresOptions): (oid: number) => (value: string) => unknown {
  return oid => {
    if (oid === pg.types.builtins.INT8) return exactInteger;
    if (oid === pg.types.builtins.NUMERIC && numeric === 'uint256') return uintColumnOf;
    return pg.types.getTypeParser(oid, 'text');
  };
}
