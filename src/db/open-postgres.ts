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
  /** `postgres://user:password@host/name`, with libpq's parameters, such as `sslmode`. */
  url: string;
  /**
   * Idle timeout in milliseconds: a connection on which the server sends nothing for this long is closed. 10 s longer
   * than `statementTimeoutMs` when absent. The listening connection has its own limit.
   */
  silenceMs?: number;
  /** Maximum connections of this process; `POOL_SIZE` when absent. */
  poolSize?: number;
  /** Maximum duration of a statement in milliseconds; 30 s when absent. */
  statementTimeoutMs?: number;
  /**
   * Maximum wait of a statement for a lock, in milliseconds; 10 s when absent, and at most half of
   * `statementTimeoutMs`.
   */
  lockTimeoutMs?: number;
  /** TLS certificates in PEM, in place of those in the address. */
  tls?: Tls;
  /** Address for LISTEN; the main address when absent. It must bypass a pooler. */
  listenUrl?: string;
  /** PostgreSQL schema of all tables; the role's default, usually `public`, when absent. */
  schema?: string;
  /**
   * With `full` (the default) a commit survives a crash. With `normal` a crash may lose the last commits, but never
   * consistency.
   */
  durability?: 'normal' | 'full';
  /** Format of a `numeric` when read: digits (the default), or the format of `uintColumn`, as in a row on SQLite. */
  numeric?: 'digits' | 'uint256';
  /** Receives the driver's warnings; they are dropped when absent. */
  log?: Logger;
}

/** Certificates in PEM. The server's certificate is always verified, even when the address has `sslmode=no-verify`. */
export interface Tls {
  /** Certificate authority of the server; Node.js's defaults when absent. */
  readonly ca?: string;
  /** Client certificate and its key. */
  readonly cert?: string;
  readonly key?: string;
}

/** Connections of a process when `poolSize` is absent. */
export const POOL_SIZE = 10;
const STATEMENT_TIMEOUT_MS = 30_000;
const LOCK_TIMEOUT_MS = 10_000;
/** Time beyond the statement timeout in which a reachable server has answered, at least with an error. */
const SILENCE_BEYOND_MS = 10_000;

/** Maximum time to connect. */
const CONNECT_MS = 5_000;
/**
 * Delay between connection attempts of waiting requests after a refusal, so that they fail soon, but not all at once.
 */
const REFUSED_REST_MS = 20;

/**
 * Opens PostgreSQL with its own pool. While the server is unreachable, statements reject with `Unavailable`. A
 * connection without incoming data is closed after `silenceMs`, except while `patiently` runs.
 */
export function openPostgres(options: PostgresOptions): {
  knex: Knex;
  dialect: Dialect;
  wakeups: Wakeups;
  patiently: <T>(work: () => Promise<T>) => Promise<T>;
} {
  const { listenUrl = options.url, poolSize = POOL_SIZE, log = silentLogger() } = options;
  const settings = settingsOf(options);
  /** Connections behind a pooler, which may run each transaction on another connection of the server. */
  const pooled = new WeakSet<object>();
  let patient = 0;
  const knex = createKnex({
    client: class extends PostgresClient {
      override acquireConnection() {
        return super.acquireConnection().catch(throwAway);
      }
      override _query(connection: pg.Client, query: { sql: string }) {
        return this.sent(connection, query).catch((error: unknown) => {
          if (error instanceof pg.DatabaseError) serverTexts.set(error, error.message);
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
    connection: {
      ...connectionOf(options, () => patient > 0),
      types: { getTypeParser: parsersOf(options) },
    },
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

/** Message of the server, without the statement that knex prepends. */
export function serverText(error: pg.DatabaseError): string {
  return serverTexts.get(error) ?? error.message;
}

/** Connection options of the driver. The server may be silent for longer while `isPatient`. */
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

/** Names and values of settings of a connection. */
export type Settings = Readonly<Record<string, string>>;

/**
 * Settings of every connection. Without `idle_in_transaction_session_timeout`, a process that hangs within a transaction
 * would keep its locks for ever.
 */
export function settingsOf({
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
  lockTimeoutMs = LOCK_TIMEOUT_MS,
  schema,
  durability,
}: PostgresOptions): Settings {
  return {
    statement_timeout: `${statementTimeoutMs}`,
    // Otherwise the statement timeout fires first, and that error is not retried. 0 would mean no limit.
    lock_timeout: `${Math.max(1, Math.min(lockTimeoutMs, Math.floor(statementTimeoutMs / 2)))}`,
    idle_in_transaction_session_timeout: '10s',
    ...(schema === undefined ? {} : { search_path: schema }),
    ...(durability === 'normal' ? { synchronous_commit: 'off' } : {}),
  };
}

/**
 * First statement of every connection. It applies the settings and returns false. Behind a pooler it applies none and
 * returns true: they would stay on a connection of the server that serves other clients next, so there each transaction
 * begins with them. A pooler gives its client another process id than the server's. Startup options are no way either,
 * because PgBouncer refuses them.
 */
export async function applySettings(client: pg.Client, settings: Settings): Promise<boolean> {
  const id = 'processID' in client ? Number(client.processID) : 0;
  const { rowCount } = await client.query(
    `${settingStatement(settings, 'session')} where pg_backend_pid() = ${id}`,
  );
  if (rowCount !== 0) return false;
  const begun = client.query('begin').catch(error => {
    throw new Error(
      `The pooler in front of the database must pool by transaction or by session: ${error.message}`,
    );
  });
  await Promise.all([begun, client.query('commit')]);
  return true;
}

/** True when a pooler stands in front of the address for LISTEN, so that no notifications arrive. */
export async function listensThroughPooler(options: PostgresOptions): Promise<boolean> {
  const { listenUrl = options.url } = options;
  const client = new pg.Client(connectionOf({ ...options, url: listenUrl }));
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await applySettings(client, {});
  } finally {
    await client.end();
  }
}

/** Statement that applies settings to the connection, or to the transaction that it follows. */
export function settingStatement(settings: Settings, scope: 'session' | 'transaction'): string {
  const values = Object.entries({ timezone: 'UTC', ...settings }).map(
    ([name, value]) => `('${name}', '${value}')`,
  );
  return `select set_config(name, value, ${scope === 'transaction'})
    from (values ${values.join(', ')}) as setting (name, value)`;
}

const BEGIN = /^begin\b/i;

/** Sends one statement in a transaction that begins with the settings. */
async function inTransaction<Result>(
  client: pg.Client,
  settings: Settings,
  send: () => Promise<Result>,
): Promise<Result> {
  const begun = client.query(`begin; ${settingStatement(settings, 'transaction')}`);
  const sent = send();
  const ended = client.query('commit');
  const outcomes = await Promise.allSettled([begun, sent, ended]);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return sent;
}

/** TLS parameters of an address. The driver would prefer them to certificates given separately. */
const TLS_PARAMETERS = ['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'];

/** Parses the address. @throws for an address that is not a URL */
function addressOf(url: string, tls: Tls | undefined): { connectionString: string; ssl?: Tls } {
  // The address may omit the host after a user, which a URL may not. The driver's own error would contain the password.
  const address = URL.parse(url.replace('@/', '@localhost/'));
  if (address === null) throw new Error('Its address is not a valid URL.');
  if (tls === undefined) return { connectionString: url };
  for (const parameter of TLS_PARAMETERS) address.searchParams.delete(parameter);
  return { connectionString: address.href, ssl: tls };
}

/**
 * Socket that fails after a period without traffic. Keep-alive does not detect a dead network while data awaits
 * acknowledgement: the operating system then retransmits for a quarter of an hour.
 */
function socketWithDeadline(silenceMs: number, isPatient: () => boolean): Socket {
  const socket = new Socket();
  socket.setTimeout(silenceMs);
  socket.on('timeout', () => {
    // Emitted once per idle period.
    if (isPatient()) socket.setTimeout(silenceMs);
    else socket.destroy(new Error(`PostgreSQL gave no answer for ${silenceMs} ms.`));
  });
  return socket;
}

/** Parses int8 to a number, as on SQLite; the driver's own parser leaves it as text. */
function parsersOf({ numeric = 'digits' }: PostgresOptions): (oid: number) => (value: string) => unknown {
  return oid => {
    if (oid === pg.types.builtins.INT8) return exactInteger;
    if (oid === pg.types.builtins.NUMERIC && numeric === 'uint256') return uintColumnOf;
    return pg.types.getTypeParser(oid, 'text');
  };
}
