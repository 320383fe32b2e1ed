import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { migrate } from '../db/migrate.ts';
import { type DatabaseOptions, type Db, openDatabase } from '../db/open.ts';
import type { Logger } from '../lib/logger.ts';
import { CannotStart } from '../lib/startup-error.ts';
import { openSeals } from './secrets/key-rotation.ts';
import type { Seals } from './secrets/sealed.ts';
import type { SecretKeySource } from './secrets/secret-key.ts';
import { PAYMENTS_MIGRATIONS } from './store/migrations/payments-migrations.ts';

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
    throw error;
  }
}

/**
 * The database with the newest schema. The folder of an SQLite file is created, for nobody else to look into.
 * @throws CannotStart when it cannot be had
 */
export async function openPaymentsDatabase(options: DatabaseOptions): Promise<Db> {
  const place = options.kind === 'postgres' ? '' : ` ${options.file}`;
  try {
    return await migrated(options);
  } catch (error) {
    throw new CannotStart(`The payments database${place} cannot be used`, error, 'payments.database');
  }
}

async function migrated(options: DatabaseOptions): Promise<Db> {
  if (options.kind !== 'postgres' && options.file !== ':memory:') {
    await mkdir(dirname(options.file), { recursive: true, mode: 0o700 });
  }
  const db = openDatabase(options);
  try {
    await migrate(db, PAYMENTS_MIGRATIONS);
    return db;
  } catch (error) {
    await db.destroy();
    throw error;
  }
}
