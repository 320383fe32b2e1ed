import { readEnvironment } from '#config/environment.ts';
import { reportFailure } from '#config/failure.ts';
import { loadConfig } from '#config/load.ts';
import { openMigrated, readSchema, type SchemaState, unusable } from '#db/migrate.ts';
import { databaseName } from '#db/open.ts';
import { readArguments, UsageError } from '#lib/command-line.ts';
import { type CannotStart, withLocation } from '#lib/startup-error.ts';
import { type ConfiguredDatabase, configuredDatabases } from './doctor/configured-databases.ts';

const USAGE = `Usage: tollgate migrate --config FILE [--status]

  Applies the pending schema steps of every database that the configuration names, as a start of the services does.
  Only one process migrates at a time. Running processes stay in service unless a step says otherwise.

  --config FILE            the configuration; without one, TOLLGATE_CONFIG
  --status                 print the applied and the pending steps, and change nothing
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
      help: { type: 'boolean', short: 'h' },
    },
  });
  const { config: file, status = false, help } = values;
  if (help === true) {
    process.stdout.write(USAGE);
    return;
  }
  const config = loadConfig({ env: readEnvironment().variables, file });
  if (config.file === undefined) throw new UsageError('--config is missing, and so is TOLLGATE_CONFIG');
  for (const database of configuredDatabases(config)) {
    const refused = await migrateOrShow(database, status).catch(error => {
      throw withLocation(error, config.locationOf);
    });
    if (refused !== undefined) reportFailure(withLocation(refused, config.locationOf), 'tollgate migrate');
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
