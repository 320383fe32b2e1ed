import type { Logger } from '../../lib/logger.ts';

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
  /** Cost of a page that the planner expects out of order, in sequential pages; the server's `random_page_cost` when absent. */
  randomPageCost?: number;
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

/** Time limit of a statement when `statementTimeoutMs` is absent. */
export const STATEMENT_TIMEOUT_MS = 30_000;
