import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { migrate } from '../db/migrate.ts';
import { type DatabaseOptions, type Db, openDatabase } from '../db/open.ts';
import type { Logger } from '../lib/logger.ts';
import { type Seals, seals } from '../lib/sealed.ts';
import { readSecretKeys, type SecretKeySource } from '../lib/secret-key.ts';
import { PAYMENTS_MIGRATIONS } from './store/migrations.ts';

/** Where everything of the platform is kept, and what seals the secrets in it. */
export interface Store {
  readonly db: Db;
  readonly seals: Seals;
}

/**
 * Opens the database with the newest schema. The folder of an SQLite file is created, for nobody else to look into.
 * @throws Error when the database or the secret key cannot be had
 */
export async function openStore(
  options: DatabaseOptions,
  { secretKey, log }: { secretKey: SecretKeySource; log: Logger },
): Promise<Store> {
  // First, because without it nothing in the database could be read.
  const secrets = await readSecretKeys(secretKey);
  if (options.kind !== 'postgres' && options.file !== ':memory:') {
    await mkdir(dirname(options.file), { recursive: true, mode: 0o700 });
  }
  const db = openDatabase({ ...options, log });
  try {
    await migrate(db, PAYMENTS_MIGRATIONS);
    return { db, seals: seals(secrets) };
  } catch (error) {
    await db.destroy();
    throw error;
  }
}
