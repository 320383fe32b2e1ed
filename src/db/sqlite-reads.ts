import Database from 'better-sqlite3';
import type { Binding } from './columns.ts';
import { keepingStatements } from './kept-statements.ts';

/** What a statement that only reads begins with; others are not even prepared here. */
const READING = /^\s*(?:select|with|values)\b/i;
/** What means something else to knex than to SQLite: `??` is a name to it, and `\?` a question mark. */
const FOR_KNEX = /\?\?|\\\?/;

/** A read of a page of fifty keys is as long as this, and is sent for every page. */
const LONGEST_KEPT = 16_000;

interface ReadStatement {
  /** Undefined: not for this connection. */
  run: (<Row>(bindings: unknown[]) => Row[]) | undefined;
}

/** Statements that only read, on a connection of their own: without knex, and without waiting for a transaction. */
export type SqliteReads = ReturnType<typeof sqliteReads>;

/**
 * The reads of one database file. The connection is opened by the first of them, and only on a write-ahead log: there
 * it never waits for a writer, and sees every commit that was made before the statement. `heard` is told of each that
 * was answered.
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
      // A read can be run again: knex then says what is wrong with it as it does for every other statement.
      return undefined;
    }
  };

  return {
    /** The rows, of what is committed; undefined when knex is to run the statement: one that writes, or that fails. */
    rowsOf<Row>(sql: string, bindings: readonly Binding[]): Row[] | undefined {
      if (!READING.test(sql)) return undefined;
      const values = bindings.map(boundOf);
      if (values.includes(undefined)) return undefined;
      const rows = answered<Row>(sql, values);
      if (rows !== undefined) options.heard({ sql, bindings: values }, rows);
      return rows;
    },
    /** Says that the file exists and its journal is chosen. Before that nothing is read. */
    begin(): void {
      mayOpen = connection === undefined;
    },
    /** Closes the connection; nothing is read until it is begun again. */
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
    // Elsewhere than on a write-ahead log, which some file systems do not allow, readers and writers lock each other out.
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
    // Who asks knows what the rows are like, as with knex.
    const statement: object = db.prepare(sql);
    const onlyReads =
      Reflect.get(statement, 'reader') === true && Reflect.get(statement, 'readonly') === true;
    return { run: onlyReads ? Reflect.get(statement, 'all').bind(statement) : undefined };
  }, LONGEST_KEPT);
  return { prepare, close: () => db.close() };
}

/** What knex would bind; undefined for what only knex knows to bind, or to refuse. */
function boundOf(binding: unknown): unknown {
  if (typeof binding === 'boolean') return Number(binding);
  const isPlain = binding === null || typeof binding === 'string' || typeof binding === 'number';
  return isPlain || Buffer.isBuffer(binding) ? binding : undefined;
}
