import pg from 'pg';
import { postgresDialect } from '#db/dialect.ts';
import { awayError, connectionOf, type PostgresOptions, sessionOf } from '#db/open-postgres.ts';
import { systemClock } from '#lib/clock.ts';
import { Cancelled } from '../engine.ts';
import { QueryTooLarge } from '../query.ts';
import type { SqlText } from '../query-dialect.ts';

/** Time that a second connection may take to end a statement, and a graceful close, in milliseconds. */
const PATIENCE_MS = 1_000;

/** Failure of a statement that computed a number beyond the range of its type. */
export class OutOfRange extends Error {}

/** A connection that runs one statement at a time and can end it on the server. */
export interface QueryConnection {
  /**
   * Runs statements in one read-only transaction, which sees one moment.
   * @throws Cancelled, QueryTooLarge after the deadline, Unavailable, OutOfRange, and what the server says else
   */
  transaction<Result>(work: (each: Each) => Promise<Result>): Promise<Result>;
  /** Ends on the server what runs. The connection cannot be used afterwards. */
  cancel(): Promise<void>;
  /** False once it was cancelled or lost. */
  isUsable(): boolean;
  close(): Promise<void>;
}

/** Runs a statement, and gives each row as a list. What `onRow` throws ends the connection. */
type Each = (statement: SqlText, onRow: (row: readonly unknown[]) => void) => Promise<void>;

/** Connects to the schema of an index. A statement may take `deadlineMs`, which the server sees to, too. */
export function openQueryConnection(options: PostgresOptions, deadlineMs: number): QueryConnection {
  const bounded = { ...options, statementTimeoutMs: deadlineMs };
  const settings = { ...connectionOf(bounded), application_name: 'tollgate queries' };
  const client = new pg.Client({ ...settings, pipeline: true, types: { getTypeParser: parserOf } });
  const destroy = () => void client.connection.stream.destroy();
  let isUsable = true;
  let isCancelled = false;
  const forget = () => {
    isUsable = false;
  };
  client.on('error', forget);
  client.on('end', forget);
  const processId = connected();
  processId.catch(forget);

  async function connected(): Promise<unknown> {
    await client.connect();
    await client.query([sessionOf(bounded), ...SESSION].join('; '));
    const { rows } = await client.query({ text: 'select pg_backend_pid()', rowMode: 'array' });
    return rows[0]?.[0];
  }

  function translated(error: unknown): unknown {
    if (isCancelled) return new Cancelled();
    const code = error instanceof pg.DatabaseError ? error.code : undefined;
    if (code === QUERY_CANCELED) return new QueryTooLarge('deadline');
    if (code === NUMERIC_VALUE_OUT_OF_RANGE) return new OutOfRange();
    if (!postgresDialect.isAway(error)) return error;
    forget();
    return awayError(error);
  }

  const each: Each = (statement, onRow) => {
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
        if (!Array.isArray(row)) throw new TypeError('The PostgreSQL driver gave no array.');
        onRow(row);
      } catch (error) {
        reject(error);
        // Rows that are on their way would be read to the last.
        forget();
        destroy();
      }
    });
    query.on('error', error => reject(translated(error)));
    // Rows after a cancel were left out, also of a statement that was quicker.
    query.on('end', () => (isCancelled ? reject(new Cancelled()) : resolve()));
    client.query(query);
    return promise;
  };

  return {
    async transaction(work) {
      try {
        await processId;
      } catch (error) {
        throw isCancelled ? new Cancelled() : awayError(error);
      }
      // Sent with the first statement. When it fails, so does that.
      client.query('begin').catch(forget);
      try {
        return await work(each);
      } finally {
        if (isUsable) client.query('rollback').catch(forget);
      }
    },
    async cancel() {
      isCancelled = true;
      forget();
      await ended(settings, processId).catch(() => undefined);
      destroy();
    },
    isUsable: () => isUsable,
    async close() {
      const patience = new AbortController();
      const late = systemClock.sleep(PATIENCE_MS, patience.signal).catch(() => undefined);
      await Promise.race([client.end().catch(() => undefined), late]);
      patience.abort();
      destroy();
    },
  };
}

/** Ends what another connection runs. A connection that is being made runs nothing. */
async function ended(settings: pg.ClientConfig, processId: Promise<unknown>): Promise<void> {
  const id = await Promise.race([processId, undefined]);
  if (id === undefined) return;
  const client = new pg.Client({
    ...settings,
    connectionTimeoutMillis: PATIENCE_MS,
    query_timeout: PATIENCE_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select pg_cancel_backend($1)', [id]);
  } finally {
    client.connection.stream.destroy();
  }
}

// Source: PostgreSQL, "Error Codes". A statement is canceled by its time limit or by another connection.
const QUERY_CANCELED = '57014';
const NUMERIC_VALUE_OUT_OF_RANGE = '22003';

/** Compiling a statement takes longer than most of them run. Values must have one form whatever the server's settings. */
const SESSION = [
  'set jit = off',
  'set default_transaction_read_only = on',
  "set default_transaction_isolation = 'repeatable read'",
  "set bytea_output = 'hex'",
  'set extra_float_digits = 1',
];

/** Integers are bigints, those beyond 64 bits text, and bytes are `0x…`. */
function parserOf(oid: number): (text: string) => unknown {
  switch (oid) {
    case pg.types.builtins.INT4:
    case pg.types.builtins.INT8:
      return BigInt;
    case pg.types.builtins.FLOAT8:
      return Number;
    case pg.types.builtins.BYTEA:
      // It is written `\x…`.
      return text => `0x${text.slice(2)}`;
    default:
      return text => text;
  }
}

/** Names the question marks `$1` and so on: no statement of queries has another use for them. */
function numbered(sql: string): string {
  let number = 0;
  return sql.replaceAll('?', () => {
    number += 1;
    return `$${number}`;
  });
}
