import { expect, onTestFinished, test } from 'vitest';
import { bytesColumn, hexOf } from '#db/columns.ts';
import { openMigrated } from '#db/migrate.ts';
import { insertTyped } from '#db/rows.ts';
import { tokensNamed } from '#indexer/read/search.ts';
import { indexOptions, indexSchema } from '#indexer/schema/migrations/index-migrations.ts';
import { searchTerms } from '#indexer/schema/search-key.ts';
import { TABLES } from '#indexer/schema/tables.ts';
import { bothDatabases } from '#test/support/databases.ts';
import { CHAIN_ID } from '../support.ts';

const NAMES = [
  'US Dollar Sample',
  'dollar',
  'Wrapped\u3000 ETHER',
  'one two three four five six seven eight nine ten',
  '\u2003',
];
const addressOf = (place: number) => bytesColumn(`0x${String(place).padStart(40, '0')}`);

test('a name is found by its first eight words, each with what follows', () => {
  expect(searchTerms('US Dollar  Sample')).toEqual(['us dollar sample', 'dollar sample', 'sample']);
  expect(searchTerms(NAMES[3] ?? '').at(-1)).toBe('eight nine ten');
  expect(searchTerms('\u2003')).toEqual([]);
});

bothDatabases('names that were read before', databases => {
  test('get the same terms as new ones, and are found by their words', async () => {
    const options = indexOptions(await databases.create(), CHAIN_ID);
    const schema = indexSchema(CHAIN_ID, options);
    const before = await openMigrated(options, {
      ...schema,
      migrations: schema.migrations.filter(({ name }) => name < '004'),
    });
    const terms = NAMES.flatMap((name, place) =>
      searchTerms(name)
        .slice(0, 1)
        .map(term => ({ term, token: addressOf(place) })),
    );
    await insertTyped(before, { table: 'token_terms', columns: TABLES.token_terms.columns }, terms);
    await before.destroy();

    const db = await openMigrated(options, schema);
    onTestFinished(() => db.destroy());
    const rows: { term: string }[] = await db('token_terms').select('term');
    const found = async (prefix: string) => {
      const { items } = await tokensNamed(db, { prefix, limit: 10 });
      return items.map(({ term, address }) => [term, Number(hexOf(bytesColumn(address)))]);
    };

    expect(rows.map(({ term }) => term).toSorted()).toEqual(NAMES.flatMap(searchTerms).toSorted());
    expect(await found('Dollar')).toEqual([
      ['dollar', 1],
      ['dollar sample', 0],
    ]);
    expect(await found('ether')).toEqual([['ether', 2]]);
    expect(await found('s')).toEqual([
      ['sample', 0],
      ['seven eight nine ten', 3],
    ]);
  });
});
