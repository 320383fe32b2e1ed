import { expect, test } from 'vitest';
import { migrate, openMigrated } from '#db/migrate.ts';
import { openDatabase } from '#db/open.ts';
import { indexOptions, indexSchema } from '#indexer/schema/migrations/index-migrations.ts';
import { bothDatabases } from '#test/support/databases.ts';

const CHAIN_ID = 31_337;

bothDatabases('an index of a development version', databases => {
  test('is refused in a sentence that says how it is built again', async () => {
    const options = indexOptions(await databases.create(), CHAIN_ID);
    const isFile = options.kind !== 'postgres';
    const older = openDatabase(options);
    const schemaName = isFile ? undefined : options.schema;
    await migrate(older, [{ name: '1-blocks', up: [] }], schemaName).finally(() => older.destroy());

    const opened = openMigrated(options, indexSchema(CHAIN_ID, options, 'chains[0].backends[0].database'));

    const place = isFile ? ` ${options.file}` : '';
    const removal = isFile ? 'delete the file' : `run "drop schema chain_${CHAIN_ID} cascade"`;
    await expect(opened).rejects.toThrow(
      `The index of chain ${CHAIN_ID}${place} cannot be used: It was written by a development version; ${removal}, and it is built again from the node.`,
    );
  });
});
