import pg from 'pg';
import { awayError, outageOr } from '#db/open-postgres.ts';
import type { Connect, HostConfig } from '#db/postgres/connection.ts';
import type { PostgresOptions } from '#db/postgres/options.ts';
import { applySettings, settingStatement, settingsOf } from '#db/postgres/settings.ts';
import { systemClock } from '#lib/clock.ts';
import { Cancelled } from '../engine.ts';
import { QueryTooLarge } from '../query.ts';
import type { SqlText } from '../query-dialect.ts';

/** Time limit in milliseconds for cancelling a statement over a second connection, and for a graceful close. */
const TIMEOUT_MS = 1_000;

/** Thrown when a statement computed a number beyond the range of its type. */
export class OutOfRange extends Error {}

/** Connection that runs one statement at a time and can cancel it on the server. */
export interface QueryConnection {
  /**
   * Runs statements in one read-only transaction, from one snapshot.
   * @throws Cancelled
   * @throws QueryTooLarge after the deadline
   * @throws Unavailable also after the deadline, when the server did not answer the cancellation
   * @throws OutOfRange
   * @throws DatabaseError for other errors of the server
   */
  transaction<Result>(work: (each: Each) => Promise<Result>): Promise<Result>;
  /** Cancels the running statement on the server. The connection is unusable afterwards. */
  cancel(): Promise<void>;
  /** False after the connection was cancelled or lost. */
  isUsable(): boolean;
  close(): Promise<void>;
}

/** Runs a statement and passes each row as a list. An error thrown by `onRow` ends the connection. */
type Each = (statement: SqlText, onRow: (row: readonly unknown[]) => void) => Promise<void>;

/** Connects to the schema of an index. The server also enforces the time limit of a statement. */
export function openQueryConnection(connect: Connect, options: PostgresOptions): QueryConnection {
  const settings = { ...settingsOf(options), ...QUERY_SETTINGS };
  let address: HostConfig | undefined;
  let client: pg.Client | undefined;
  const destroy = () => void client?.connection.stream.destroy();
  let isUsable = true;
  let isCancelled = false;
  /** True when the server could not be told to cancel. */
  let isSilent = false;
  const forget = () => {
    isUsable = false;
  };
  const opened = connect(async config => {
    if (!isUsable) throw new Cancelled();
    address = { ...config, application_name: 'tollgate queries' };
    client = new pg.Client({ ...address, pipeline: true, types: { getTypeParser: parserOf } });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }).then(async connected => {
    connected.on('error', forget);
    connected.on('end', forget);
    return { connected, isPooled: await applySettings(connected, settings) };
  });
  opened.catch(forget);
  /** The running transaction, to cancel it. */
  let running: Promise<Running> | undefined;

  function translated(error: unknown): unknown {
    if (isCancelled) return isSilent ? awayError(error) : new Cancelled();
    const code = error instanceof pg.DatabaseError ? error.code : undefined;
    if (code === QUERY_CANCELED) return new QueryTooLarge('deadline');
    if (code === NUMERIC_VALUE_OUT_OF_RANGE) return new OutOfRange();
    const outage = outageOr(error);
    if (outage !== error) forget();
    return outage;
  }

  const eachOf =
    (connected: pg.Client): Each =>
    (statement, onRow) => {
      if (isCancelled) return Promise.reject(new Cancelled());
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const config: pg.QueryArrayConfig = {
        text: numbered(statement.sql),
        values: [...statement.bindings],
        rowMode: 'array',
      };
      const query = new pg.Query(config);
      query.on('row', (row: unknown) => {
        if (!isUsable) return;
        try {
          if (!Array.isArray(row)) throw new TypeError('The PostgreSQL driver returned no array.');
          onRow(row);
        } catch (error) {
          reject(error);
          // Otherwise the driver would read all remaining rows.
          forget();
          destroy();
        }
      });
      query.on('error', error => reject(translated(error)));
      // Rows after a cancel were dropped, so the result is incomplete even if the statement finished first.
      query.on('end', () => (isCancelled ? reject(new Cancelled()) : resolve()));
      connected.query(query);
      return promise;
    };

  return {
    async transaction(work) {
      let begin = 'begin isolation level repeatable read read only';
      const { connected, isPooled } = await opened.catch(error => {
        throw isCancelled ? new Cancelled() : awayError(error);
      });
      if (isPooled) begin += `; ${settingStatement(settings, 'transaction')}`;
      // Sent together with the first statement. If it fails, so does the statement.
      connected.query(begin).catch(forget);
      running = connected
        .query(RUNNING)
        .then(({ rows }) => ({ processId: rows[0]?.[0], begunAt: rows[0]?.[1] }));
      running.catch(forget);
      try {
        return await work(eachOf(connected));
      } finally {
        running = undefined;
        if (isUsable) connected.query('rollback').catch(forget);
      }
    },
    async cancel() {
      isCancelled = true;
      forget();
      if (running !== undefined && address !== undefined) {
        isSilent = await ended(address, running).then(
          () => false,
          () => true,
        );
      }
      destroy();
    },
    isUsable: () => isUsable,
    async close() {
      forget();
      const patience = new AbortController();
      const late = systemClock.sleep(TIMEOUT_MS, patience.signal).catch(() => undefined);
      await Promise.race([client?.end().catch(() => undefined), late]);
      patience.abort();
      destroy();
    },
  };
}

/** A transaction on the server. Behind a pooler, its process may serve another client a moment later. */
interface Running {
  readonly processId: unknown;
  readonly begunAt: unknown;
}

const RUNNING = {
  text: 'select pg_backend_pid(), extract(epoch from now())::text',
  rowMode: 'array' as const,
};

/** Cancels the statement of a transaction of another connection. */
async function ended(address: HostConfig, running: Promise<Running>): Promise<void> {
  const patience = new AbortController();
  const late = systemClock.sleep(TIMEOUT_MS, patience.signal).then(() => {
    throw new Error('The server does not answer.');
  });
  const { processId, begunAt } = await Promise.race([running, late]).finally(() => patience.abort());
  const client = new pg.Client({
    ...address,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(
      'select pg_cancel_backend(pid) from pg_stat_activity where pid = $1 and extract(epoch from xact_start)::text = $2',
      [processId, begunAt],
    );
  } finally {
    client.connection.stream.destroy();
  }
}

// Source: PostgreSQL, "Error Codes". A statement is cancelled by its time limit or by another connection.
const QUERY_CANCELED = '57014';
const NUMERIC_VALUE_OUT_OF_RANGE = '22003';

/**
 * Settings of queries. JIT compilation takes longer than most statements run. With incremental sorts, PostgreSQL may read
 * all rows of an event to sort them by a topic, although an index has them in that order: until a vacuum has seen a table,
 * both cost the same in its estimate. The others fix the form of values, independent of the server's settings.
 */
export const QUERY_SETTINGS = {
  jit: 'off',
  enable_incremental_sort: 'off',
  bytea_output: 'hex',
  extra_float_digits: '1',
};

/** Converts 64-bit integers to bigint and bytes to `0x…`. Longer integers stay text. */
function parserOf(oid: number): (text: string) => unknown {
  switch (oid) {
    case pg.types.builtins.INT4:
    case pg.types.builtins.INT8:
      return BigInt;
    case pg.types.builtins.FLOAT8:
      return Number;
    case pg.types.builtins.BYTEA:
      // PostgreSQL writes `\x…`.
      return text => `0x${text.slice(2)}`;
    default:
      return text => text;
  }
}

/** Replaces question marks by `$1` and so on. Statements of queries use question marks for nothing else. */
function numbered(sql: string): string {
  let number = 0;
  return sql.replaceAll('?', () => {
    number += 1;
    return `$${number}`;
  });
}
