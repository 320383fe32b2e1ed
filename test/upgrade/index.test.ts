import { expect, onTestFinished, test } from 'vitest';
import { bytesColumn, uintColumn } from '#db/columns.ts';
import { migrate, openMigrated } from '#db/migrate.ts';
import { openDatabase } from '#db/open.ts';
import { insertTyped } from '#db/rows.ts';
import { blocks as readBlocks } from '#indexer/read/blocks/blocks.ts';
import { readProgress } from '#indexer/schema/head.ts';
import { indexOptions, indexSchema } from '#indexer/schema/migrations/index-migrations.ts';
import { TABLES } from '#indexer/schema/tables.ts';
import { bothDatabases } from '#test/support/databases.ts';

const CHAIN_ID = 31_337;
const WORD = bytesColumn(`0x${'01'.repeat(32)}`);
const HEADER = {
  number: 7,
  hash: WORD,
  parent_hash: WORD,
  timestamp: 1_700_000_000_000,
  miner: bytesColumn(`0x${'02'.repeat(20)}`),
  gas_limit: uintColumn(30_000_000n),
  gas_used: 21_000,
  base_fee_per_gas: null,
  difficulty: uintColumn(0n),
  total_difficulty: null,
  nonce: null,
  extra_data: bytesColumn('0x'),
  state_root: WORD,
  size: null,
  uncles: '[]',
  transaction_count: 0,
  withdrawals_count: null,
  internal_transaction_count: null,
  transaction_fees: null,
  burnt_fees: null,
  priority_fees: null,
  blob_gas_used: null,
  excess_blob_gas: null,
};

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

bothDatabases('an index from before the fork Amsterdam', databases => {
  test('keeps its blocks, which have no field of the fork', async () => {
    const options = indexOptions(await databases.create(), CHAIN_ID);
    const schema = indexSchema(CHAIN_ID, options);
    const older = openDatabase(options);
    const schemaName = options.kind === 'postgres' ? options.schema : undefined;
    await migrate(older, schema.migrations.slice(0, 1), schemaName);
    const { slot_number: _, block_access_list_hash: __, proven: ___, ...columns } = TABLES.blocks.columns;
    await insertTyped(older, { table: 'blocks', columns }, [HEADER]).finally(() => older.destroy());

    const db = await openMigrated(options, schema);
    onTestFinished(() => db.destroy());

    const { items } = await readBlocks(db, { kind: 'block', limit: 1 });
    expect(items).toMatchObject([
      { number: 7, slotNumber: null, blockAccessListHash: null, hasCoinLogs: false },
    ]);
  });
});

bothDatabases('an index from before blocks were proven', databases => {
  test('keeps its blocks, which are not proven, and counts those that are', async () => {
    const options = indexOptions(await databases.create(), CHAIN_ID);
    const schema = indexSchema(CHAIN_ID, options);
    const older = openDatabase(options);
    const schemaName = options.kind === 'postgres' ? options.schema : undefined;
    await migrate(older, schema.migrations.slice(0, 2), schemaName);
    const { proven: _, ...columns } = TABLES.blocks.columns;
    const fork = { slot_number: 70, block_access_list_hash: WORD };
    await insertTyped(older, { table: 'blocks', columns }, [{ ...HEADER, ...fork }]).finally(() =>
      older.destroy(),
    );

    const db = await openMigrated(options, schema);
    onTestFinished(() => db.destroy());
    const next = { ...HEADER, ...fork, number: 8, hash: bytesColumn(`0x${'08'.repeat(32)}`), proven: 1 };
    await insertTyped(db, { table: 'blocks', columns: TABLES.blocks.columns }, [next]);

    const { items } = await readBlocks(db, { kind: 'block', limit: 2 });
    expect(items).toMatchObject([
      { number: 8, isProven: true },
      { number: 7, isProven: false, slotNumber: 70 },
    ]);
    expect(await readProgress(db, 8)).toMatchObject({ blocks: 2, provenBlocks: 1 });
  });
});
