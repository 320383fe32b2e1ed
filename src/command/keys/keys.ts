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

  create-org NAME          makes an organization and prints its id
    --recipient ADDRESS    who is paid, where a payment link says nothing else
    --chain ID             on which chain
    --token ADDRESS|SYMBOL in which token; needs --chain
    --tier elevated        lets its keys send more requests a minute
  create --org NAME_OR_ID  makes an API key and prints it, once
    --mode live|test       for real or for test money; test when absent
    --permission read|write|admin
                           what it may do; admin when absent
    --name TEXT            what it is for
    --expires TIME         from when on it is refused: 2031-01-01T00:00:00Z
  list [--org NAME_OR_ID]  prints the keys of an organization, or the organizations
  revoke KEY_ID            lets a key be refused from now on
  reseal                   moves all that is encrypted to the newest secret key, while the service runs
    --abandon FINGERPRINT  gives up what only this lost key opens, so that the service starts without it
  recipient list           prints the addresses that are paid, and the owner of each
    [--org NAME_OR_ID] [--chain ID]
  recipient assign ADDRESS --chain ID --org NAME_OR_ID
                           makes an organization the owner of an address, whatever is signed
    --mode live|test       of a chain that is not configured; test when absent
  recipient release ADDRESS --chain ID
                           withdraws the proof of the owner, so that a signature decides again

  --config FILE            the configuration; without one, TOLLGATE_CONFIG or the default
  --database URL           sqlite:FILE or postgres://…; that of the configuration when absent
  --help                   print this
`;

const UNUSED =
  'Without configured chains the service keeps its payments in the folder of each run, and not where this looks.';

/**
 * Makes organizations and their API keys, lists and revokes them, moves what is encrypted to a new secret key, and
 * decides who owns an address that is paid, in the database of the payments service. Standard output has the results
 * alone. @throws UsageError, Refused, or what a start throws
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
  // With the newest schema, so that keys can be made before the service has ever run.
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
    // Of the command line, so that no setting is at fault.
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
