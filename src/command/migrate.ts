import { readEnvironment } from '#config/environment.ts';
import { reportFailure } from '#config/failure.ts';
import { loadConfig } from '#config/load.ts';
import { openMigrated, readSchema, type SchemaState, unusable } from '#db/migrate.ts';
import { databaseName } from '#db/open.ts';
import { storageOf } from '#db/transaction.ts';
import { systemClock } from '#lib/clock.ts';
import { readArguments, UsageError } from '#lib/command-line.ts';
import { type CannotStart, withLocation } from '#lib/startup-error.ts';
import { depositNumbers } from '#payments/deposits/deposit-numbers.ts';
import { PAYMENTS_SCHEMA } from '#payments/store/migrations/payments-migrations.ts';
import { type ConfiguredDatabase, configuredDatabases } from './doctor/configured-databases.ts';

const USAGE = `Usage: tollgate migrate --config FILE [--status | --restored]

  Applies the pending schema steps of every database that the configuration names, as a start of the services does.
  Only one process migrates at a time. Running processes stay in service unless a step says otherwise.

  --config FILE            the configuration; without one, TOLLGATE_CONFIG
  --status                 print the applied and the pending steps, and change nothing
  --restored               the payments database was restored from a backup: number deposit addresses anew, so that none
                           is given out twice
  --help                   print this
`;

/**
 * Migrates the databases of a configuration to the schema of this version, or shows their steps.
 * @throws UsageError, or the errors of a start
 */
export async function runMigrate(args: readonly string[]): Promise<void> {
  const { values } = readArguments(args, {
    options: {
      config: { type: 'string' },
      status: { type: 'boolean' },
      restored: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const { config: file, status = false, restored = false, help } = values;
  if (help === true) {
    process.stdout.write(USAGE);
    return;
  }
  const config = loadConfig({ env: readEnvironment().variables, file });
  if (config.file === undefined) throw new UsageError('--config is missing, and so is TOLLGATE_CONFIG');
  if (status && restored) throw new UsageError('--status changes nothing, and --restored does');
  for (const database of configuredDatabases(config)) {
    const refused = await migrateOrShow(database, status).catch(error => {
      throw withLocation(error, config.locationOf);
    });
    if (restored && database.schema === PAYMENTS_SCHEMA) await beginEpoch(database);
    if (refused !== undefined) reportFailure(withLocation(refused, config.locationOf), 'tollgate migrate');
  }
}

/** Has a restored database begin a new epoch of deposit addresses (Decision 394). */
async function beginEpoch({ options }: ConfiguredDatabase): Promise<void> {
  const db = await openMigrated(options, PAYMENTS_SCHEMA);
  try {
    const epoch = await depositNumbers(db).beginEpoch(systemClock.now(), await storageOf(db));
    process.stdout.write(`  new epoch of deposit addresses: ${epoch}\n`);
  } finally {
    await db.destroy();
  }
}

/** Migrates or shows a database. Returns the reason when this program cannot use it. */
async function migrateOrShow(
  { options, schema }: ConfiguredDatabase,
  isStatus: boolean,
): Promise<CannotStart | undefined> {
  const before = await readSchema(options, schema);
  if (!isStatus) {
    const db = await openMigrated(options, schema);
    await db.destroy();
  }
  process.stdout.write(`${schema.title}, ${databaseName(options)}\n${stepLines(before, isStatus)}`);
  return before.refusal === undefined ? undefined : unusable(options, schema, new Error(before.refusal));
}

function stepLines({ applied, pending }: SchemaState, isStatus: boolean): string {
  const steps = [
    ...applied.map(name => ['applied', name]),
    ...pending.map(({ name }) => [isStatus ? 'pending' : 'applied now', name]),
  ];
  return steps
    .map(([state = '', name = ''], index) => {
      const number = String(index + 1).padStart(3, '0');
      return `  ${number}  ${state.padEnd(isStatus ? 0 : 'applied now'.length)}  ${name}\n`;
    })
    .join('');
}
