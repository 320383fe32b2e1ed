/** Part of the driver that is used. The package ships no types. */
declare module 'better-sqlite3' {
  type Value = bigint | number | string | Buffer | null;

  interface Statement {
    /** Rows as arrays, in the order of the columns. */
    raw(isRaw?: boolean): Statement;
    /** Only the first column of each row. */
    pluck(isPlucked?: boolean): Statement;
    safeIntegers(isSafe?: boolean): Statement;
    /** True when the statement returns rows. */
    readonly reader: boolean;
    columns(): { readonly name: string; readonly type: string | null }[];
    run(...bindings: unknown[]): unknown;
    get(...bindings: unknown[]): unknown;
    all(...bindings: unknown[]): unknown[];
    iterate(...bindings: unknown[]): IterableIterator<unknown>;
  }

  interface FunctionOptions {
    /** Equal arguments give equal results, so SQLite may call the function less often. */
    readonly deterministic?: boolean;
    readonly safeIntegers?: boolean;
    readonly varargs?: boolean;
  }

  class Database {
    constructor(file: string, options?: { readonly?: boolean; fileMustExist?: boolean; timeout?: number });
    /** True while a transaction is open. */
    readonly inTransaction: boolean;
    prepare(sql: string): Statement;
    exec(sql: string): void;
    pragma(source: string): unknown;
    defaultSafeIntegers(isSafe?: boolean): void;
    function(name: string, options: FunctionOptions, call: (...values: Value[]) => Value): void;
    aggregate<State>(
      name: string,
      options: FunctionOptions & {
        readonly start: () => State;
        readonly step: (state: State, ...values: Value[]) => State | undefined;
        readonly result: (state: State) => Value;
      },
    ): void;
    close(): void;
  }

  export = Database;
}

/** Classes of knex's dialects, which its types omit. Source: knex, "Custom dialects". */
declare module 'knex/lib/dialects/postgres/index.js' {
  import type { Knex } from 'knex';
  import type { Client } from 'pg';

  class PostgresClient extends Knex.Client {
    override acquireConnection(): Promise<unknown>;
    connectionSettings: object;
    /** Opens a connection with `connectionSettings`. */
    _acquireOnlyConnection(): Promise<Client>;
    _query(connection: object, query: object): Promise<unknown>;
  }
  export = PostgresClient;
}

declare module 'knex/lib/dialects/better-sqlite3/index.js' {
  import type Database from 'better-sqlite3';
  import type { Knex } from 'knex';

  class BetterSqlite3Client<Connection extends Database> extends Knex.Client {
    /** Connection class. */
    _driver(): new (file: string, options: { readonly?: boolean }) => Connection;
    override acquireRawConnection(): Promise<Connection>;
    override destroyRawConnection(connection: Connection): Promise<void>;
    _query(connection: Connection, query: { readonly sql: string }): Promise<object>;
  }
  export = BetterSqlite3Client;
}
