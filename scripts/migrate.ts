/**
 * Brings the databases of a configuration to the schema of this version, or shows which steps they have:
 *   npm run -s migrate -- --config tollgate.yaml --status
 * Exits with 2 when the command line or the configuration cannot be meant, or a database of it cannot be used, and with 1
 * when it failed.
 */

import { argumentsOf } from '../src/command/api/server-place.ts';
import type { Config } from '../src/config/config.ts';
import { ConfigError } from '../src/config/config-error.ts';
import { readEnvironment } from '../src/config/environment.ts';
import { loadConfig } from '../src/config/load.ts';
import { CACHE_SCHEMA } from '../src/data/cache/001-entries.ts';
import { openMigrated, readSchema, type Schema, type SchemaState, unusable } from '../src/db/migrate.ts';
import type { DatabaseOptions } from '../src/db/open.ts';
import { indexOptions, indexSchema } from '../src/indexer/schema/migrations/index-migrations.ts';
import { atPlace, CannotStart, startFailure } from '../src/lib/startup-error.ts';
import { paymentsServiceOptions } from '../src/payments/from-config.ts';
import { PAYMENTS_SCHEMA } from '../src/payments/store/migrations/payments-migrations.ts';

const USAGE = `Usage: npm run -s migrate -- --config FILE [--status]

  Applies the pending steps of every database that the configuration names, as a start of the services does.
  One process at a time does it; processes that run stay in service where a step does not say otherwise.

  --config FILE            the configuration; without one, TOLLGATE_CONFIG
  --status                 print the applied and the pending steps, and change nothing
  --help                   print this
`;

interface Database {
  readonly options: DatabaseOptions;
  readonly schema: Schema;
}

async function main(): Promise<void> {
  const line = argumentsOf(process.argv.slice(2), {
    allowPositionals: false,
    options: {
      config: { type: 'string' },
      status: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if ('fault' in line) {
    fail(`${line.fault}\n--help shows what can be asked for.`, 2);
    return;
  }
  const { config: file, status = false, help } = line.values;
  if (help === true) {
    process.stdout.write(USAGE);
    return;
  }
  const config = loadConfig({ env: readEnvironment().variables, ...(file === undefined ? {} : { file }) });
  if (config.file === undefined) {
    fail('--config is missing, and so is TOLLGATE_CONFIG\n--help shows what can be asked for.', 2);
    return;
  }
  for (const database of databasesOf(config)) {
    const refused = await migrateOrShow(database, status).catch(error => {
      throw atPlace(error, config.placeOf);
    });
    if (refused !== undefined) tell(atPlace(refused, config.placeOf));
  }
}

/** The databases that outlive a run. */
function databasesOf(config: Config): Database[] {
  const { chains, data, payments } = config;
  const { database } = paymentsServiceOptions(config, { embedded: undefined, dataUrl: undefined });
  const isOfEachRun = chains.length === 0 && payments.hasDefaultDatabase;
  return [
    ...(isOfEachRun ? [] : [{ options: database, schema: PAYMENTS_SCHEMA }]),
    ...(data.cache.store?.kind === 'sqlite' ? [{ options: data.cache.store, schema: CACHE_SCHEMA }] : []),
    ...chains.flatMap(({ id, backends }, chain) =>
      backends.flatMap((backend, index) => {
        if (backend.kind !== 'index') return [];
        const setting = `chains[${chain}].backends[${index}].database`;
        const schema = indexSchema(id, backend.database, setting);
        return [{ options: indexOptions(backend.database, id), schema }];
      }),
    ),
  ];
}

/** Answers with why this program cannot use a database that it has shown. */
async function migrateOrShow(
  { options, schema }: Database,
  isStatus: boolean,
): Promise<CannotStart | undefined> {
  const place = options.kind === 'postgres' ? 'PostgreSQL' : options.file;
  const before = await readSchema(options, schema);
  if (!isStatus) {
    const db = await openMigrated(options, schema);
    await db.destroy();
  }
  process.stdout.write(`${schema.title}, ${place}\n${stepLines(before, isStatus)}`);
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

function fail(message: string, exitCode: 1 | 2): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = exitCode;
}

/** Prints a failure that the operator can do something about, and throws any other. */
function tell(error: unknown): void {
  const isConfig =
    error instanceof ConfigError || (error instanceof CannotStart && error.setting !== undefined);
  const failure = isConfig ? error.message : startFailure(error);
  if (failure === undefined) throw error;
  fail(failure, isConfig ? 2 : 1);
}

await main().catch(tell);
