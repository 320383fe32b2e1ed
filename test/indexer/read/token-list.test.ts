import type { Address } from 'viem';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { bytesColumn } from '#db/columns.ts';
import { openMigrated } from '#db/migrate.ts';
import type { DatabaseOptions, Db } from '#db/open.ts';
import { insertTyped } from '#db/rows.ts';
import { type TokenListQuery, tokenList } from '#indexer/read/tokens/token-list.ts';
import type { TokenRow } from '#indexer/read/tokens/tokens.ts';
import { indexOptions, indexSchema } from '#indexer/schema/migrations/index-migrations.ts';
import { TABLES } from '#indexer/schema/tables.ts';
import { TOKEN_TYPES, type TokenType, tokenTypeColumn } from '#indexer/schema/transaction-types.ts';
import { bothDatabases } from '#test/support/databases.ts';
import { CHAIN_ID } from '../support.ts';

type Made = Pick<TokenRow, 'name' | 'holderCount'> & { type?: TokenType };

/** In list order: U+FFFD comes before characters that UTF-16 would sort first, and missing names come last. */
const TOKENS: readonly Made[] = [
  { name: 'Zebra', holderCount: 900 },
  { name: 'Alpha', holderCount: 7, type: 'ERC-721' },
  { name: 'Beta', holderCount: 7 },
  { name: '\u{FFFD}', holderCount: 7 },
  { name: '\u{1F980}', holderCount: 7, type: 'ERC-1155' },
  { name: null, holderCount: 7 },
  { name: null, holderCount: 7, type: 'ERC-721' },
  { name: '', holderCount: 0 },
  { name: 'Alpha', holderCount: 0 },
  { name: 'Alpha', holderCount: 0, type: 'ERC-721' },
];

bothDatabases('the list of tokens', databases => {
  let options: DatabaseOptions;
  beforeAll(async () => {
    options = await databases.create('index');
  });

  async function indexWith(tokens: readonly Made[]): Promise<Db> {
    const database = indexOptions(options, CHAIN_ID);
    const db = await openMigrated(database, indexSchema(CHAIN_ID, options));
    onTestFinished(() => db.destroy());
    await db.raw('delete from tokens');
    await db.raw('delete from token_terms');
    // The last ones of the list are written first, except that addresses decide last.
    const rows = tokens.map(({ name, holderCount, type = 'ERC-20' }, place) => ({
      address: bytesColumn(addressOf(place)),
      type: tokenTypeColumn(type),
      name,
      symbol: null,
      decimals: 18,
      total_supply: null,
      holder_count: holderCount,
      first_block: 0,
      is_read: 1,
    }));
    await insertTyped(db, { table: 'tokens', columns: TABLES.tokens.columns }, rows.toReversed());
    const terms = rows.flatMap(({ name, address }) =>
      name === null || name === '' ? [] : [{ term: name.toLowerCase(), token: address }],
    );
    await insertTyped(db, { table: 'token_terms', columns: TABLES.token_terms.columns }, terms);
    return db;
  }

  test('is sorted by holders, name and address over all types, and exactly in reverse in the other direction', async () => {
    const db = await indexWith(TOKENS);
    const places = TOKENS.map((_, place) => addressOf(place));

    expect(await walked(db, { first: 'most' })).toEqual(places);
    expect(await walked(db, { first: 'fewest' })).toEqual(places.toReversed());
  });

  test('has only the requested types, and is empty when none is requested', async () => {
    const db = await indexWith(TOKENS);

    expect(await walked(db, { first: 'most', types: ['ERC-721'] })).toEqual([1, 6, 9].map(addressOf));
    expect(await walked(db, { first: 'most', types: [] })).toEqual([]);
  });

  test('finds names by prefix in the same order, page by page', async () => {
    const db = await indexWith(TOKENS);

    expect(await walked(db, { first: 'most', prefix: ' ALPH' })).toEqual([1, 8, 9].map(addressOf));
    expect(await walked(db, { first: 'fewest', prefix: 'alpha' })).toEqual([9, 8, 1].map(addressOf));
    expect(await walked(db, { first: 'most', prefix: 'alpha', types: ['ERC-20'] })).toEqual([addressOf(8)]);
    expect(await walked(db, { first: 'most', prefix: 'alphabet' })).toEqual([]);
    expect(await walked(db, { first: 'most', prefix: '  ' })).toHaveLength(TOKENS.length);
  });

  test('sorts the first of more than 1,000 names by name, with exact matches among them', async () => {
    const famous = { name: 'many 0500', holderCount: 5 };
    const beyond = { name: 'many 1500', holderCount: 9_000 };
    const exact = { name: 'Many', holderCount: 1 };
    const others = Array.from({ length: 1_400 }, (_, place) => ({
      name: `many ${String(place).padStart(4, '0')}x`,
      holderCount: 0,
    }));
    const db = await indexWith([famous, beyond, exact, ...others]);

    const { items, hasMore } = await tokenList(db, {
      types: TOKEN_TYPES,
      first: 'most',
      prefix: 'many',
      limit: 2_000,
    });

    expect([items.length, hasMore]).toEqual([1_000, false]);
    expect(items.slice(0, 3).map(({ name }) => name)).toEqual(['many 0500', 'Many', 'many 0000x']);
  });
});

/** Addresses by pages of three, each from the last item of the one before. */
async function walked(
  db: Db,
  query: Pick<TokenListQuery, 'first' | 'prefix'> & { types?: readonly TokenType[] },
): Promise<Address[]> {
  const found: TokenRow[] = [];
  for (;;) {
    const after = found.at(-1);
    const { items, hasMore } = await tokenList(db, {
      types: TOKEN_TYPES,
      limit: 3,
      ...query,
      ...(after === undefined ? {} : { after }),
    });
    found.push(...items);
    if (!hasMore) return found.map(({ address }) => address);
    if (found.length > 50) throw new Error('the list does not end');
  }
}

function addressOf(place: number): Address {
  return `0x${(place + 1).toString(16).padStart(40, '0')}`;
}
