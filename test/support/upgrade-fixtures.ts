import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import pg from 'pg';
import type { DatabaseOptions } from '../../src/db/open.ts';
import facts from '../fixtures/upgrade/facts.json' with { type: 'json' };
import { type RecordedChain, startRecordedChain } from './recorded-chain.ts';

/** Constants of the databases written by an earlier version, described in test/fixtures/upgrade/README.md. */
export const { now: WRITTEN_UNTIL, token: UPGRADE_TOKEN, liveChainId: UPGRADE_LIVE_CHAIN } = facts;
export const UPGRADE_RECIPIENTS = facts.recipients;

/** Ids and secrets returned by the API of the earlier version, by database. */
export type UpgradeFacts = typeof facts.databases.sqlite;

const FOLDER = new URL('../fixtures/upgrade/', import.meta.url);
/** Placeholder in a dump for the address of the webhooks' receiver. */
const RECEIVER = '{receiver}';

export function upgradeFacts(kind: 'sqlite' | 'postgres'): UpgradeFacts {
  return facts.databases[kind];
}

/** The secret that seals the values of both databases. */
export function upgradeSecret(): string {
  return readFileSync(new URL('secret.key', FOLDER), 'utf8').trim();
}

/** Fills an empty database with the dump of the earlier version; its webhooks point to `receiverUrl`. */
export async function restorePayments(options: DatabaseOptions, receiverUrl: string): Promise<void> {
  const isPostgres = options.kind === 'postgres';
  const dump = readFileSync(new URL(`payments.${isPostgres ? 'postgres' : 'sqlite'}.sql`, FOLDER), 'utf8');
  const sql = dump.replaceAll(RECEIVER, receiverUrl);
  if (isPostgres) {
    const client = new pg.Client({ connectionString: options.url });
    await client.connect();
    await client.query(sql).finally(() => client.end());
    return;
  }
  const database = new Database(options.file);
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}

/** The chain of the payments, with its recorded blocks. */
export function startUpgradeChain(): Promise<RecordedChain> {
  return startRecordedChain(new URL('chain.json.gz', FOLDER));
}
