import { readEnvironment } from '#config/environment.ts';
import { loadConfig } from '#config/load.ts';
import { readSchema } from '#db/migrate.ts';
import { type DatabaseOptions, type Db, openDatabase } from '#db/open.ts';
import { indexOptions, indexSchema } from '#indexer/schema/migrations/index-migrations.ts';
import { numberOption, Refused, UsageError } from '#lib/command-line.ts';
import { withLocation } from '#lib/startup-error.ts';

/** An index that a configuration names. */
export interface ConfiguredIndex {
  readonly id: number;
  readonly rpcUrls: readonly string[];
  readonly maxAnswerBytes: number;
  readonly database: DatabaseOptions;
}

/**
 * Calls a function for each index of a configuration, or only for that of one chain.
 * @throws UsageError, Refused, or the function's error with its location in the file
 */
export async function inEachIndex(
  { config: file, chain: chainText }: { config?: string | undefined; chain?: string | undefined },
  work: (index: ConfiguredIndex) => Promise<void>,
): Promise<void> {
  const chain = numberOption('chain', chainText);
  const config = loadConfig({ env: readEnvironment().variables, file });
  if (config.file === undefined) throw new UsageError('--config is missing, and so is TOLLGATE_CONFIG');
  const indexes = config.chains.flatMap(({ id, rpc, rpcMaxAnswerBytes, backends }) =>
    backends.flatMap(one =>
      one.kind === 'index' && (chain ?? id) === id
        ? [{ id, rpcUrls: rpc, maxAnswerBytes: rpcMaxAnswerBytes, database: one.database }]
        : [],
    ),
  );
  if (indexes.length === 0) {
    throw new Refused(chain === undefined ? 'No chain has an index.' : `Chain ${chain} has no index.`);
  }
  for (const index of indexes) {
    await work(index).catch(error => {
      throw withLocation(error, config.locationOf);
    });
  }
}

/** Opens the database of an index for a function. @throws Refused when its schema is not that of this version */
export async function withIndex<T>(
  { id, database }: Pick<ConfiguredIndex, 'id' | 'database'>,
  work: (db: Db, options: DatabaseOptions) => Promise<T>,
): Promise<T> {
  const options = indexOptions(database, id);
  const { pending, refusal } = await readSchema(options, indexSchema(id, database));
  if (refusal !== undefined) throw new Refused(refusal);
  if (pending.length > 0)
    throw new Refused(`The index of chain ${id} is not migrated; run "tollgate migrate" first.`);
  const db = openDatabase(options);
  try {
    return await work(db, options);
  } finally {
    await db.destroy();
  }
}
