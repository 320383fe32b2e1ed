import type { Config } from '#config/config.ts';
import { CACHE_SCHEMA } from '#data/cache/001-entries.ts';
import type { Schema } from '#db/migrate.ts';
import type { DatabaseOptions, Db } from '#db/open.ts';
import { storageOf } from '#db/transaction.ts';
import { indexOptions, indexSchema } from '#indexer/schema/migrations/index-migrations.ts';
import { depositNumbers } from '#payments/deposits/deposit-numbers.ts';
import { paymentsServiceOptions } from '#payments/from-config.ts';
import { PAYMENTS_SCHEMA } from '#payments/store/migrations/payments-migrations.ts';
import type { DiskReserve } from '#stores/disk-space.ts';
import { LIMITS_SCHEMA, limitsOptions } from '#stores/rate-limit-store.ts';
import type { Finding } from './check.ts';

/** A database that a configuration names, and the schema that it should have. */
export interface ConfiguredDatabase {
  readonly options: DatabaseOptions;
  readonly schema: Schema;
  /** Free space that it leaves on its disk; absent when it uses all. */
  readonly reserve?: DiskReserve;
  /** Finds what is wrong with its contents; absent where nothing is looked for. */
  readonly inspect?: (db: Db) => Promise<Required<Finding> | undefined>;
}

/** Databases of a configuration that outlive a run. */
export function configuredDatabases(config: Config): ConfiguredDatabase[] {
  const { chains, data, payments, rateLimitStore, diskReserve: reserve } = config;
  const { store } = data.cache;
  const { database } = paymentsServiceOptions(config, { embedded: undefined, dataUrl: undefined });
  const isOfEachRun = chains.length === 0 && payments.hasDefaultDatabase;
  return [
    ...(isOfEachRun ? [] : [{ options: database, schema: PAYMENTS_SCHEMA, inspect: movedDatabase }]),
    ...(store === undefined || store.kind === 'redis'
      ? []
      : [{ options: store, schema: CACHE_SCHEMA, reserve }]),
    ...(rateLimitStore === undefined || rateLimitStore.kind === 'redis'
      ? []
      : [{ options: limitsOptions(rateLimitStore), schema: LIMITS_SCHEMA }]),
    ...chains.flatMap(({ id, backends }, chain) =>
      backends.flatMap((backend, index) => {
        if (backend.kind !== 'index') return [];
        const setting = `chains[${chain}].backends[${index}].database`;
        const schema = indexSchema(id, backend.database, setting);
        return [{ options: indexOptions(backend.database, id), schema, reserve }];
      }),
    ),
  ];
}

/** Numbers of deposit addresses that a restored backup would give out again (Decision 394). */
async function movedDatabase(db: Db): Promise<Required<Finding> | undefined> {
  if (!(await depositNumbers(db).hasMoved(await storageOf(db)))) return undefined;
  return {
    state: 'warning',
    detail: 'it was restored or has moved since its deposit addresses were numbered last',
    advice: 'Run `tollgate migrate --restored`, or start the services, which do the same.',
  };
}
