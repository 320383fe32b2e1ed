import { openMigrated, schemaFault, unusable } from '../db/migrate.ts';
import type { DatabaseOptions, Db } from '../db/open.ts';
import type { Check } from '../http/health.ts';
import type { Logger } from '../lib/logger.ts';
import { CannotStart } from '../lib/startup-error.ts';
import { openSeals } from './secrets/key-rotation.ts';
import type { Seals } from './secrets/sealed.ts';
import type { SecretKeySource } from './secrets/secret-key.ts';
import { PAYMENTS_MIGRATIONS, PAYMENTS_SCHEMA } from './store/migrations/payments-migrations.ts';

/** Where everything of the platform is kept, and what seals the secrets in it. */
export interface Store {
  readonly db: Db;
  readonly seals: Seals;
}

/**
 * Opens the database, and with it the secrets that seal what is in it.
 * @throws CannotStart when the database or the secret key cannot be had
 */
export async function openStore(
  options: DatabaseOptions,
  { secretKey, log }: { secretKey: SecretKeySource; log: Logger },
): Promise<Store> {
  const db = await openPaymentsDatabase({ ...options, log });
  try {
    return { db, seals: await openSeals(db, secretKey) };
  } catch (error) {
    await db.destroy();
    throw error instanceof CannotStart ? error : unusable(options, PAYMENTS_SCHEMA, error);
  }
}

/**
 * The database with the newest schema. The folder of an SQLite file is created, for nobody else to look into.
 * @throws CannotStart when it cannot be had
 */
export function openPaymentsDatabase(options: DatabaseOptions): Promise<Db> {
  return openMigrated(options, PAYMENTS_SCHEMA);
}

/**
 * Readiness of the database. Chains are no part of it: a node that is out would take every process out of a load
 * balancer. Decision 145.
 */
export function databaseCheck(db: Db): Check {
  return async () => {
    const fault = await schemaFault(db, PAYMENTS_MIGRATIONS);
    return fault === undefined ? { ok: true } : { ok: false, detail: fault };
  };
}
