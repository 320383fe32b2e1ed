import Database from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import type { Binding } from './columns.ts';

/** Beginnings of read-only statements. Other statements are not even prepared here. */
const READING = /^\s*(?:select|with|values)\b/i;
/** Sequences that knex interprets itself: `??` is a name, and `\?` a question mark. */
const FOR_KNEX = /\?\?|\\\?/;

/** Length of a statement that reads fifty keys. Every page repeats it, so it is worth caching. */
const LONGEST_KEPT = 16_000;

interface ReadStatement {
  /** Undefined when this connection must not run the statement. */
  run: (<Row>(bindings: unknown[]) => Row[]) | undefined;
}

/** Read-only statements on a separate connection, without knex and without waiting for a transaction. */
export type SqliteReads = ReturnType<typeof sqliteReads>;

/**
 * Reads of one database file. The first read opens the connection, and only in WAL mode: there it never waits for a
 * writer and sees every commit made before the statement. `heard` is called for each completed read.
 */
export function sqliteReads(options: {
  file: string;
  pragmas: readonly string[];
  heard: (statement: { sql: string; bindings: unknown[] }, rows: unknown[]) => void;
}) {
  let mayOpen = false;
  let connection: { prepare(sql: string): ReadStatement; close(): void } | undefined;

  const connected = () => {
    if (connection === undefined && mayOpen) {
      connection = connect(options);
      mayOpen = false;
    }
    return connection;
  };

  const answered = <Row>(sql: string, values: unknown[]): Row[] | undefined => {
    try {
      return connected()?.prepare(sql).run?.(values);
    } catch {
      // Falls back to knex, which reports the error as for every other statement.
      return undefined;
    }
  };

  return {
    /** Committed rows; undefined when knex must run the statement because it writes or fails. */
    rowsOf<Row>(sql: string, bindings: readonly Binding[]): Row[] | undefined {
      if (!READING.test(sql)) return undefined;
      const values = bindings.map(boundOf);
      if (values.includes(undefined)) return undefined;
      const rows = answered<Row>(sql, values);
      if (rows !== undefined) options.heard({ sql, bindings: values }, rows);
      return rows;
    },
    /** Enables reads once the file exists and its journal mode is set. */
    begin(): void {
      mayOpen = connection === undefined;
    },
    /** Closes the connection. Reads stay disabled until `begin` is called again. */
    close(): void {
      connection?.close();
      connection = undefined;
      mayOpen = false;
    },
  };
}

function connect({ file, pragmas }: { file: string; pragmas: readonly string[] }) {
  const db = new Database(file, { readonly: true, fileMustExist: true });
  try {
    for (const pragma of pragmas) db.exec(pragma);
    // Without WAL, which some file systems do not support, readers and writers lock each other out.
    if (db.prepare('pragma journal_mode').pluck().get() !== 'wal') {
      db.close();
      return undefined;
    }
  } catch (error) {
    db.close();
    throw error;
  }
  const prepare = keepingStatements((sql): ReadStatement => {
    if (FOR_KNEX.test(sql)) return { run: undefined };
    // The caller knows the shape of the rows, as with knex.
    const statement: object = db.prepare(sql);
    const onlyReads =
      Reflect.get(statement, 'reader') === true && Reflect.get(statement, 'readonly') === true;
    return { run: onlyReads ? Reflect.get(statement, 'all').bind(statement) : undefined };
  }, LONGEST_KEPT);
  return { prepare, close: () => db.close() };
}

/** Converts a binding as knex does; undefined for bindings that only knex can convert or refuse. */
function boundOf(binding: unknown): unknown {
  if (typeof binding === 'boolean') return Number(binding);
  const isPlain = binding === null || typeof binding === 'string' || typeof binding === 'number';
  return isPlain || Buffer.isBuffer(binding) ? binding : undefined;
}

/** Maximum number of cached statements per connection. */
const KEPT = 200;
const LONGEST_REPEATED = 4_000;

/**
 * Wraps `prepare` with an LRU cache, because preparing takes longer than running most statements. SQLite itself
 * prepares a statement again when the schema has changed. Statements longer than `longest` characters are not cached:
 * they insert many rows and rarely repeat.
 */
export function keepingStatements<Statement extends object>(
  prepare: (sql: string) => Statement,
  longest = LONGEST_REPEATED,
): (sql: string) => Statement {
  const kept = new LRUCache<string, Statement>({ max: KEPT });
  return sql => {
    const known = kept.get(sql);
    if (known !== undefined) return known;
    const statement = prepare(sql);
    if (sql.length <= longest) kept.set(sql, statement);
    return statement;
  };
}
