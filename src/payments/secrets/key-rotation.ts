import type { Db } from '../../db/open.ts';
import { transaction } from '../../db/transaction.ts';
import { CannotStart } from '../../lib/startup-error.ts';
import type { Worker } from '../../lib/worker.ts';
import { type Seals, seals } from './sealed.ts';
import { readSecretKeys, type SecretKeySource } from './secret-key.ts';
import { secretKeyStore } from './secret-key-store.ts';

const CANNOT = 'The secret key of payments cannot be used';

/**
 * The configured keys, all that the database needs among them. A missing key file is created only beside a database
 * that needs no key yet. `abandoned` is the fingerprint of a lost key, which the database needs no longer from now on.
 * @throws CannotStart when a key is missing; its message names it by its fingerprint and says where it was looked for
 */
export async function openSeals(
  db: Db,
  source: SecretKeySource,
  { abandoned }: { abandoned?: string | undefined } = {},
): Promise<Seals> {
  const needed = (await secretKeyStore(db).needed()).filter(id => id !== abandoned);
  const secrets = await readSecretKeys(source, { mayCreate: needed.length === 0 }).catch(error => {
    const what = needed.length === 0 ? CANNOT : `${CANNOT}, and the database needs ${named(needed)}`;
    throw new CannotStart(what, error);
  });
  const opened = seals(secrets);
  const missing = needed.filter(id => !opened.keyIds.includes(id));
  if (missing.length > 0) throw missingKey(missing, opened, source);
  await transaction(db, async handle => {
    const keys = secretKeyStore(handle);
    if (abandoned !== undefined) await keys.remove(abandoned);
    // The current key, and in a database that notes its keys for the first time those of its older values.
    for (const [place, id] of opened.keyIds.entries()) {
      const secret = secrets[place];
      if (secret !== undefined && (place === 0 || needed.includes(id))) await keys.add(seals([secret]));
    }
    // Another process with another key may have started on the same empty database.
    const unknown = await keys.unknownTo(opened);
    if (unknown.length > 0) throw missingKey(unknown, opened, source);
  });
  return opened;
}

/**
 * Notes the current key of a running process, which `reseal` may have removed: what this process seals needs the key,
 * so the database must not open without it.
 */
export function currentKeyWorker({ db, seals: current }: { db: Db; seals: Seals }): Worker {
  return {
    name: 'note of the secret key',
    async runOnce() {
      await secretKeyStore(db).add(current);
      return 0;
    },
  };
}

function missingKey(missing: readonly string[], { keyIds }: Seals, source: SecretKeySource): CannotStart {
  const place = source.kind === 'file' ? source.file : 'payments.secretKey';
  return new CannotStart(
    CANNOT,
    new Error(`the database needs ${named(missing)}, and ${place} has ${named(keyIds)}.`),
  );
}

function named(ids: readonly string[]): string {
  return `the ${ids.length === 1 ? 'key' : 'keys'} of fingerprint ${ids.join(', ')}`;
}
