import { stat } from 'node:fs/promises';
import { type ListenAddress, originOf } from '#config/units.ts';
import { probeAddress } from '#http/server/free-address.ts';
import { readSecretKeys, type SecretKeySource } from '#payments/secrets/secret-key.ts';
import { type Check, Fault, type Finding } from './check.ts';
import { healthAt } from './public-address-check.ts';

/** Listens on an address for a moment, unless a server of this program runs there. */
export function listenCheck(setting: string, listen: ListenAddress): Check {
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

/** Reads the key of payments as a start would. Creates none. */
export function secretKeyCheck(source: Extract<SecretKeySource, { kind: 'file' }>): Check {
  return {
    setting: 'payments.secretKeyFile',
    subject: `key file ${source.file}`,
    advice: 'Correct the file, or name another one.',
    async run(): Promise<Finding> {
      const isThere = await stat(source.file).then(
        () => true,
        () => false,
      );
      if (!isThere) return { state: 'ok', detail: 'does not exist yet; the first start creates it' };
      await readSecretKeys(source, { mayCreate: false });
      return { state: 'ok', detail: 'can be read' };
    },
  };
}
