import type { Address } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bytesColumn, uintColumn } from '#db/columns.ts';
import { openMigrated } from '#db/migrate.ts';
import type { Db } from '#db/open.ts';
import { insertTyped } from '#db/rows.ts';
import { balancesOfTokens } from '#indexer/read/tokens/owner-balances.ts';
import { indexOptions, indexSchema } from '#indexer/schema/migrations/index-migrations.ts';
import { TABLES } from '#indexer/schema/tables.ts';
import { bothDatabases } from '#test/support/databases.ts';
import { CHAIN_ID } from '../support.ts';

const HOLDER = addressOf(0xaa);
const TOKENS = [1, 2, 3].map(addressOf);
const IDS = [0n, 7n, 8n, 9n];

bothDatabases('Balances of some tokens', databases => {
  let db: Db;

  beforeAll(async () => {
    const options = await databases.create('index');
    db = await openMigrated(indexOptions(options, CHAIN_ID), indexSchema(CHAIN_ID, options));
    const rows = [...TOKENS, addressOf(4)].flatMap(token =>
      [HOLDER, addressOf(0xab)].flatMap(holder =>
        IDS.map(id => ({
          token: bytesColumn(token),
          holder: bytesColumn(holder),
          token_id: uintColumn(id),
          value: uintColumn(2n),
        })),
      ),
    );
    await insertTyped(db, { table: 'token_balances', columns: TABLES.token_balances.columns }, rows);
  });
  afterAll(() => db?.destroy());

  test('are those of the owner and of these tokens', async () => {
    const found = await balancesOfTokens(db, { holder: HOLDER, tokens: TOKENS, limit: 50 });

    const expected = TOKENS.flatMap(token => IDS.map(tokenId => ({ token, tokenId, value: 2n })));
    expect(found).toHaveLength(expected.length);
    expect(found).toEqual(expect.arrayContaining(expected));
  });

  test.each([1, 4, 5, 11])('are at most %i over all tokens together', async limit => {
    expect(await balancesOfTokens(db, { holder: HOLDER, tokens: TOKENS, limit })).toHaveLength(limit);
  });
});

function addressOf(place: number): Address {
  return `0x${place.toString(16).padStart(40, '0')}`;
}
