import type { Address } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bytesColumn, uintColumn } from '#db/columns.ts';
import { openMigrated } from '#db/migrate.ts';
import type { Db } from '#db/open.ts';
import { insertTyped } from '#db/rows.ts';
import { NFT_TYPES, type NftType } from '#evm/token-id.ts';
import { type NftHoldingRow, nftHoldings } from '#indexer/read/tokens/holdings.ts';
import { nftCollections } from '#indexer/read/tokens/nft-collections.ts';
import { indexOptions, indexSchema } from '#indexer/schema/migrations/index-migrations.ts';
import { TABLES } from '#indexer/schema/tables.ts';
import { bothDatabases } from '#test/support/databases.ts';
import { CHAIN_ID } from '../support.ts';

const HOLDER = addressOf(0xaa);
const OTHER = addressOf(0xab);
/** Owner of ids of both standards in one contract. */
const COLLECTOR = addressOf(0xad);

bothDatabases('NFT collections of an address', databases => {
  let db: Db;

  beforeAll(async () => {
    const options = await databases.create('index');
    db = await openMigrated(indexOptions(options, CHAIN_ID), indexSchema(CHAIN_ID, options));
    for (let place = 1; place <= 60; place += 1)
      await give(HOLDER, { token: addressOf(place), type: typeAt(place), ids: [3, 20, 100] });
    await give(HOLDER, { token: addressOf(61), type: 'ERC-1155', ids: numbers(1_000) });
    await give(HOLDER, { token: addressOf(62), type: 'ERC-1155', ids: numbers(1_001) });
    await give(HOLDER, { token: addressOf(63), type: 'ERC-721', ids: numbers(1_001) });
    await give(COLLECTOR, { token: addressOf(70), type: 'ERC-721', ids: [0, 7, 8] });
    await give(COLLECTOR, { token: addressOf(70), type: 'ERC-1155', ids: [0, 7] });
    // Neighbours in every index: another holder, and a fungible token.
    await give(OTHER, { token: addressOf(64), type: 'ERC-721', ids: [1] });
    await give(OTHER, { token: addressOf(65), type: 'ERC-1155', ids: [1] });
    await balance(HOLDER, { token: addressOf(66), id: '', value: 5n });
  });
  afterAll(() => db?.destroy());

  async function give(
    holder: Address,
    { token, type, ids }: { token: Address; type: NftType; ids: number[] },
  ) {
    if (type === 'ERC-721') {
      const rows = ids.map(id => ({
        token: bytesColumn(token),
        token_id: uintColumn(BigInt(id)),
        owner: bytesColumn(holder),
      }));
      await insertTyped(db, { table: 'token_instances', columns: TABLES.token_instances.columns }, rows);
      await balance(holder, { token, id: '', value: BigInt(ids.length) });
      return;
    }
    const rows = ids.map(id => balanceRow(holder, { token, id: uintColumn(BigInt(id)), value: 2n }));
    await insertTyped(db, { table: 'token_balances', columns: TABLES.token_balances.columns }, rows);
  }

  async function balance(holder: Address, held: { token: Address; id: string; value: bigint }) {
    await insertTyped(db, { table: 'token_balances', columns: TABLES.token_balances.columns }, [
      balanceRow(holder, held),
    ]);
  }

  const first = (
    limit: number,
    types: readonly NftType[] = NFT_TYPES,
    after?: { token: Address; type: NftType },
  ) => nftCollections(db, { holder: HOLDER, types, limit, ...(after === undefined ? {} : { after }) });

  test('are sorted by contract over both kinds, page by page', async () => {
    const one = await first(50);
    const two = await first(50, NFT_TYPES, one.items.at(-1));

    const found = [...one.items, ...two.items];
    expect(found.map(({ token }) => token)).toEqual(numbers(63).map(addressOf));
    expect([one.items.length, one.hasMore, two.hasMore]).toEqual([50, true, false]);
    expect(found.slice(0, 60).map(({ type }) => type)).toEqual(numbers(60).map(typeAt));
  });

  test('have the number of owned ids, for ERC-1155 up to 1,000', async () => {
    const { items } = await first(50, NFT_TYPES, placeAt(59));

    expect(items.map(({ amount }) => amount)).toEqual([3n, 1_000n, null, 1_001n]);
  });

  test('show the first nine ids, and five on a full page', async () => {
    const few = await first(20, ['ERC-1155'], placeAt(60));
    const full = await first(50, NFT_TYPES, placeAt(13));

    expect(few.items.map(({ holdings }) => holdings.map(({ tokenId }) => Number(tokenId)))).toEqual([
      numbers(9),
      numbers(9),
    ]);
    expect(few.items[0]?.holdings[0]).toEqual({
      token: addressOf(61),
      tokenId: 1n,
      type: 'ERC-1155',
      value: 2n,
    });
    expect(full.items).toHaveLength(50);
    expect(full.items.slice(-3).map(({ holdings }) => holdings.length)).toEqual([5, 5, 5]);
    expect(full.items[0]?.holdings.map(({ tokenId }) => tokenId)).toEqual([3n, 20n, 100n]);
  });

  test('ids of both standards in one contract are two collections, each with its own amount', async () => {
    const query = { holder: COLLECTOR, types: NFT_TYPES, limit: 1 } as const;
    const one = await nftCollections(db, query);
    const [last] = one.items;
    const two = await nftCollections(db, { ...query, ...(last === undefined ? {} : { after: last }) });

    expect([one.hasMore, two.hasMore]).toEqual([true, false]);
    expect([...one.items, ...two.items]).toMatchObject([
      { token: addressOf(70), type: 'ERC-721', amount: 3n, holdings: [0, 7, 8].map(numbered) },
      { token: addressOf(70), type: 'ERC-1155', amount: 2n, holdings: [0, 7].map(numbered) },
    ]);
  });

  test('an id of both standards in one contract is two NFTs, and none is lost between pages', async () => {
    const query = { holder: COLLECTOR, types: NFT_TYPES } as const;
    const { items: all } = await nftHoldings(db, { ...query, limit: 50 });
    const walked: NftHoldingRow[] = [];
    for (let page = 0; page < all.length; page += 1) {
      const after = walked.at(-1);
      const { items } = await nftHoldings(db, {
        ...query,
        limit: 1,
        ...(after === undefined ? {} : { after }),
      });
      walked.push(...items);
    }

    expect(all.map(({ tokenId, type }) => [tokenId, type])).toEqual([
      [0n, 'ERC-721'],
      [0n, 'ERC-1155'],
      [7n, 'ERC-721'],
      [7n, 'ERC-1155'],
      [8n, 'ERC-721'],
    ]);
    expect(walked).toEqual(all);
  });

  test('are empty for an address without NFTs', async () => {
    const query = { holder: addressOf(0xac), types: NFT_TYPES, limit: 50 } as const;

    expect(await nftCollections(db, query)).toEqual({ items: [], hasMore: false });
  });
});

function numbered(id: number) {
  return { tokenId: BigInt(id) };
}

function balanceRow(holder: Address, { token, id, value }: { token: Address; id: string; value: bigint }) {
  return { token: bytesColumn(token), holder: bytesColumn(holder), token_id: id, value: uintColumn(value) };
}

function placeAt(place: number): { token: Address; type: NftType } {
  return { token: addressOf(place), type: 'ERC-1155' };
}

function typeAt(place: number): NftType {
  return place % 2 === 0 ? 'ERC-721' : 'ERC-1155';
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, place) => place + 1);
}

function addressOf(place: number): Address {
  return `0x${place.toString(16).padStart(40, '0')}`;
}
