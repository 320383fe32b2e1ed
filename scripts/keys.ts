/**
 * Makes organizations and their API keys, lists and revokes them, moves what is encrypted to a new secret key, and decides
 * who owns an address that is paid, in the database of the payments service:
 *   npm run -s keys -- create-org "My shop"
 *   npm run -s keys -- create --org "My shop"
 * Standard output has the results alone. Exits with 2 when the command line or the configuration
 * cannot be meant, and with 1 when it failed.
 */
import { resolve } from 'node:path';
import { type CommandLine, parseCommandLine, UsageError } from '../src/command/keys/command-line.ts';
import { Refused } from '../src/command/keys/printed.ts';
import { runCommand } from '../src/command/keys/run-command.ts';
import { ConfigError } from '../src/config/config-error.ts';
import { readEnvironment } from '../src/config/environment.ts';
import { loadConfig } from '../src/config/load.ts';
import type { DatabaseOptions } from '../src/db/open.ts';
import { systemClock } from '../src/lib/clock.ts';
import { startFailure } from '../src/lib/startup-error.ts';
import { paymentsServiceOptions } from '../src/payments/from-config.ts';
import { openPaymentsDatabase } from '../src/payments/open-store.ts';

const USAGE = `Usage: npm run -s keys -- COMMAND [options]

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

async function main(): Promise<void> {
  const now = systemClock.now();
  const line = parseCommandLine(process.argv.slice(2), now);
  if (line === undefined) {
    process.stdout.write(USAGE);
    return;
  }
  const { database, chains, secretKey, remark } = placesOf(line);
  if (remark !== undefined) process.stderr.write(`${remark}\n`);
  // With the newest schema, so that keys can be made before the service has ever run.
  const db = await openPaymentsDatabase(database);
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
  if (database !== undefined) return { database: databaseAt(database), chains, secretKey };
  const isUnused = config.chains.length === 0 && config.payments.hasDefaultDatabase;
  return { database: options.database, chains, secretKey, remark: isUnused ? UNUSED : undefined };
}

function databaseAt(url: string): DatabaseOptions {
  if (/^postgres(?:ql)?:\/\//.test(url)) return { kind: 'postgres', url };
  const [, file] = /^sqlite:(.+)$/.exec(url) ?? [];
  if (file === undefined || file === ':memory:') {
    throw new UsageError('--database takes sqlite:FILE or postgres://…');
  }
  return { file: resolve(file) };
}

function fail(message: string, exitCode: 1 | 2): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = exitCode;
}

try {
  await main();
} catch (error) {
  if (error instanceof UsageError) fail(`${error.message}\n--help shows what can be asked for.`, 2);
  else if (error instanceof ConfigError) fail(error.message, 2);
  else if (error instanceof Refused) fail(error.message, 1);
  else {
    const failure = startFailure(error);
    if (failure === undefined) throw error;
    fail(failure, 1);
  }
}
