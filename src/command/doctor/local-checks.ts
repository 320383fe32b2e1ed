import { dirname } from 'node:path';
import { type ListenAddress, originOf } from '#config/units.ts';
import { type DatabaseOptions, openDatabase } from '#db/open.ts';
import { probeAddress } from '#http/server/server.ts';
import { inTime } from '#lib/in-time.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { readSecretKeys, type SecretKeySource } from '#payments/secrets/secret-key.ts';
import { secretKeyStore } from '#payments/secrets/secret-key-store.ts';
import { type ConfigCheck, Fault, type Finding } from './check.ts';
import { exists, nearestPath, requireWritable } from './database-check.ts';
import { healthAt } from './public-address-check.ts';

const DATABASE_WITHIN_MS = 4_000;

/** Listens on an address for a moment, unless a server of this program runs there. */
export function listenCheck(setting: string, listen: ListenAddress): ConfigCheck {
  return {
    setting,
    subject: `address ${listen.host}:${listen.port}`,
    advice: 'Choose an address of this machine and a port that this user may use.',
    async run(): Promise<Finding> {
      try {
        await probeAddress(listen);
        return { state: 'ok', detail: 'is free' };
      } catch (error) {
        const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
        if (!isTaken) throw error;
        if ((await healthAt(originOf(listen))) === undefined)
          return { state: 'ok', detail: 'is used by a running server' };
        throw new Fault('is in use by another program', 'End that program, or choose another port.');
      }
    },
  };
}

/** Reads the key file of payments, and which keys the database needs, as a start would. Creates no file. */
export function secretKeyCheck(
  source: Extract<SecretKeySource, { kind: 'file' }>,
  database: DatabaseOptions,
): ConfigCheck {
  const { file } = source;
  return {
    setting: 'payments.secretKeyFile',
    subject: `key file ${file}`,
    advice: 'Let this user read the file, and no other one, or name another file.',
    async run(): Promise<Finding> {
      const needed = await neededKeys(database);
      const keys = needed.map(id => `the key of fingerprint ${id}`).join(' and ');
      if (!(await exists(file))) {
        if (needed.length > 0)
          throw new Fault(
            `is missing, and the payments database needs ${keys}`,
            'Restore it from its backup.',
          );
        await requireWritable(await nearestPath(dirname(file)));
        return { state: 'ok', detail: 'does not exist yet; the first start creates it' };
      }
      const { keyIds } = seals(await readSecretKeys(source, { mayCreate: false }));
      if (needed.some(id => !keyIds.includes(id))) {
        const advice = 'Add the lost key on a line of its own, or restore the file from its backup.';
        throw new Fault(`has other keys, and the payments database needs ${keys}`, advice);
      }
      return { state: 'ok', detail: 'can be read' };
    },
  };
}

/** Fingerprints of the keys that the database needs; none when it cannot be asked, which is another check's fault. */
async function neededKeys(options: DatabaseOptions): Promise<readonly string[]> {
  if ('file' in options && !(await exists(options.file))) return [];
  const db = openDatabase('file' in options ? { ...options, readonly: true } : options);
  try {
    return await inTime(secretKeyStore(db).needed(), DATABASE_WITHIN_MS);
  } catch {
    return [];
  } finally {
    await db.destroy();
  }
}
