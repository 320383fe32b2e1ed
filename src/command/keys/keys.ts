import { resolve } from 'node:path';
import { readEnvironment } from '#config/environment.ts';
import { loadConfig } from '#config/load.ts';
import type { DatabaseOptions } from '#db/open.ts';
import { systemClock } from '#lib/clock.ts';
import { Refused, UsageError } from '#lib/command-line.ts';
import { atPlace, CannotStart } from '#lib/startup-error.ts';
import { paymentsServiceOptions } from '#payments/from-config.ts';
import { openPaymentsDatabase } from '#payments/open-store.ts';
import { type CommandLine, parseCommandLine } from './command-line.ts';
import { runCommand } from './run-command.ts';

const USAGE = `Usage: tollgate keys COMMAND [options]

  create-org NAME          creates an organization and prints its id
    --recipient ADDRESS    default recipient of its payment links
    --chain ID             default chain of its payment links
    --token ADDRESS|SYMBOL default token of its payment links; needs --chain
    --tier elevated        lets its keys send more requests per minute
  create --org NAME_OR_ID  creates an API key and prints it, once
    --mode live|test       for real or for test money; test when absent
    --permission read|write|admin
                           its rights; admin when absent
    --name TEXT            its purpose
    --expires TIME         time at which it expires: 2031-01-01T00:00:00Z
  list [--org NAME_OR_ID]  prints the keys of an organization, or the organizations
  revoke KEY_ID            revokes a key at once
  reseal                   encrypts all secrets with the newest secret key; the service may keep running
    --abandon FINGERPRINT  gives up the secrets that only this lost key opens, so that the service starts without it
  recipient list           prints the recipient addresses and the owner of each
    [--org NAME_OR_ID] [--chain ID]
  recipient assign ADDRESS --chain ID --org NAME_OR_ID
                           makes an organization the owner of an address, regardless of signatures
    --mode live|test       of a chain that is not configured; test when absent
  recipient release ADDRESS --chain ID
                           withdraws the proof of the owner, so that a signature decides again

  --config FILE            the configuration; without one, TOLLGATE_CONFIG or the default
  --database URL           sqlite:FILE or postgres://…; that of the configuration when absent
  --help                   print this
`;

const UNUSED =
  'Without configured chains the service keeps its payments in the folder of each run, not in this database.';

/**
 * Manages organizations, their API keys, the owners of recipient addresses and the encryption of stored secrets, in the
 * database of the payments service. Standard output has only the results.
 * @throws UsageError, Refused, or the errors of a start
 */
export async function runKeys(args: readonly string[]): Promise<void> {
  const now = systemClock.now();
  const line = parseCommandLine(args, now);
  if (line === undefined) {
    process.stdout.write(USAGE);
    return;
  }
  const { database, chains, secretKey, remark, worded } = placesOf(line);
  if (remark !== undefined) process.stderr.write(`${remark}\n`);
  // Migrates to the newest schema, so that keys can be created before the first start of the service.
  const db = await openPaymentsDatabase(database).catch(error => {
    throw worded(error);
  });
  try {
    const { lines, remarks = [] } = await runCommand(db, line.command, { chains, secretKey, now });
    for (const one of lines) process.stdout.write(`${one}\n`);
    for (const one of remarks) process.stderr.write(`${one}\n`);
  } finally {
    await db.destroy();
  }
}

function placesOf({ configFile, database }: CommandLine) {
  const { variables } = readEnvironment();
  const config = loadConfig({ env: variables, ...(configFile === undefined ? {} : { file: configFile }) });
  const options = paymentsServiceOptions(config, { embedded: undefined, dataUrl: undefined });
  const { chains, secretKey } = options;
  if (database !== undefined) {
    // The address is from the command line, so the message must not blame a setting.
    const worded = (error: unknown) => (error instanceof CannotStart ? new Refused(error.message) : error);
    return { database: databaseAt(database), chains, secretKey, worded };
  }
  const isUnused = config.chains.length === 0 && config.payments.hasDefaultDatabase;
  const worded = (error: unknown) => atPlace(error, config.placeOf);
  return { database: options.database, chains, secretKey, worded, remark: isUnused ? UNUSED : undefined };
}

function databaseAt(url: string): DatabaseOptions {
  if (/^postgres(?:ql)?:\/\//.test(url)) return { kind: 'postgres', url };
  const [, file] = /^sqlite:(.+)$/.exec(url) ?? [];
  if (file === undefined || file === ':memory:') {
    throw new UsageError('--database takes sqlite:FILE or postgres://…');
  }
  return { file: resolve(file) };
}
