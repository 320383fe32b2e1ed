import { openMigrated, schemaFault, unusable } from '../db/migrate.ts';
import { countingInIndexes, type DatabaseOptions, type Db } from '../db/open.ts';
import { isReadOnly } from '../db/transaction.ts';
import type { ReadinessCheck } from '../http/health.ts';
import type { Logger } from '../lib/logger.ts';
import { CannotStart } from '../lib/startup-error.ts';
import { openSeals } from './secrets/key-rotation.ts';
import type { Seals } from './secrets/sealed.ts';
import type { SecretKeySource } from './secrets/secret-key.ts';
import { PAYMENTS_MIGRATIONS, PAYMENTS_SCHEMA } from './store/migrations/payments-migrations.ts';

/** Database of the platform, and the encryption of the secrets in it. */
export interface Store {
  readonly db: Db;
  readonly seals: Seals;
}

/**
 * Opens the database and the keys that encrypt its secrets.
 * @throws CannotStart when the database or the secret key is not available
 */
export async function openStore(
  options: DatabaseOptions,
  { secretKey, log }: { secretKey: SecretKeySource; log: Logger },
): Promise<Store> {
  const db = await openPaymentsDatabase({ ...countingInIndexes(options), log });
  try {
    return { db, seals: await openSeals(db, secretKey) };
  } catch (error) {
    await db.destroy();
    throw error instanceof CannotStart ? error : unusable(options, PAYMENTS_SCHEMA, error);
  }
}

/**
 * Opens the database and migrates it to the newest schema. The folder of an SQLite file is created if needed,
 * accessible only to its owner.
 * @throws CannotStart when the database is not available
 */
export function openPaymentsDatabase(options: DatabaseOptions): Promise<Db> {
  return openMigrated(options, PAYMENTS_SCHEMA);
}

/**
 * Readiness of the database. It does not depend on nodes (Decision 145): one failed node would take every process out
 * of a load balancer.
 */
export function databaseReadiness(db: Db): ReadinessCheck {
  return async () => {
    const fault = (await isReadOnly(db))
      ? 'the database is read-only'
      : await schemaFault(db, PAYMENTS_MIGRATIONS);
    return fault === undefined ? { ok: true } : { ok: false, detail: fault };
  };
}
