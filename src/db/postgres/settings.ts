import type pg from 'pg';
import { type PostgresOptions, STATEMENT_TIMEOUT_MS } from './options.ts';

const LOCK_TIMEOUT_MS = 10_000;

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
  randomPageCost,
}: PostgresOptions): Settings {
  return {
    statement_timeout: `${statementTimeoutMs}`,
    // Otherwise the statement timeout fires first, and that error is not retried. 0 would mean no limit.
    lock_timeout: `${Math.max(1, Math.min(lockTimeoutMs, Math.floor(statementTimeoutMs / 2)))}`,
    idle_in_transaction_session_timeout: '10s',
    ...(schema === undefined ? {} : { search_path: schema }),
    ...(randomPageCost === undefined ? {} : { random_page_cost: `${randomPageCost}` }),
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
  await client.query('begin').catch(error => {
    throw new Error(
      `The pooler in front of the database must pool by transaction or by session: ${error.message}`,
    );
  });
  await client.query('commit');
  return true;
}

/** Statement that applies settings to the connection, or to the transaction that it follows. */
export function settingStatement(settings: Settings, scope: 'session' | 'transaction'): string {
  const values = Object.entries({ timezone: 'UTC', ...settings }).map(
    ([name, value]) => `('${name}', '${value}')`,
  );
  return `select set_config(name, value, ${scope === 'transaction'})
    from (values ${values.join(', ')}) as setting (name, value)`;
}

/** Sends one statement in a transaction that begins with the settings. */
export async function inTransaction<Result>(
  client: pg.Client,
  settings: Settings,
  send: () => Promise<Result>,
): Promise<Result> {
  // One after the other: the driver warns of a statement that is sent before the last one has ended.
  await client.query(`begin; ${settingStatement(settings, 'transaction')}`);
  const [sent] = await Promise.allSettled([send()]);
  // After a failed statement it rolls back.
  const [ended] = await Promise.allSettled([client.query('commit')]);
  if (sent.status === 'rejected') throw sent.reason;
  if (ended.status === 'rejected') throw ended.reason;
  return sent.value;
}
