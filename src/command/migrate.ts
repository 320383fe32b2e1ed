import { readEnvironment } from '#config/environment.ts';
import { reportFailure } from '#config/failure.ts';
import { loadConfig } from '#config/load.ts';
import { openMigrated, readSchema, type SchemaState, unusable } from '#db/migrate.ts';
import { databaseName } from '#db/open.ts';
import { readArguments, UsageError } from '#lib/command-line.ts';
import { atPlace, type CannotStart } from '#lib/startup-error.ts';
import { type ConfiguredDatabase, configuredDatabases } from './doctor/configured-databases.ts';

const USAGE = `Usage: tollgate migrate --config FILE [--status]

  Applies the pending steps of every database that the configuration names, as a start of the services does.
  One process at a time does it; processes that run stay in service where a step does not say otherwise.

  --config FILE            the configuration; without one, TOLLGATE_CONFIG
  --status                 print the applied and the pending steps, and change nothing
  --help                   print this
`;

/**
 * Brings the databases of a configuration to the schema of this version, or shows which steps they have.
 * @throws UsageError, or what a start throws
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
  const config = loadConfig({ env: readEnvironment().variables, ...(file === undefined ? {} : { file }) });
  if (config.file === undefined) throw new UsageError('--config is missing, and so is TOLLGATE_CONFIG');
  for (const database of configuredDatabases(config)) {
    const refused = await migrateOrShow(database, status).catch(error => {
      throw atPlace(error, config.placeOf);
    });
    if (refused !== undefined) reportFailure(atPlace(refused, config.placeOf), 'tollgate migrate');
  }
}

/** Answers with why this program cannot use a database that it has shown. */
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
