import type { Address } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nftRecordAnswers } from '#data/backends/own-index/insights/nfts.ts';
import { bytesColumn, uintColumn } from '#db/columns.ts';
import { openMigrated } from '#db/migrate.ts';
import type { Db } from '#db/open.ts';
import { insertTyped } from '#db/rows.ts';
import { knownAbis } from '#evm/abi/abi.ts';
import { createReader, type Reader } from '#indexer/index-reader.ts';
import { indexOptions, indexSchema } from '#indexer/schema/migrations/index-migrations.ts';
import { TABLES } from '#indexer/schema/tables.ts';
import { tokenTypeColumn } from '#indexer/schema/transaction-types.ts';
import { eachDatabase } from '#test/support/databases.ts';
import { CHAIN_ID, startTestChain, type TestChain } from '../../indexer/support.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { sourceOf } from './nft-support.ts';

const TOKEN = addressOf(1);
/** Contracts with ids of one owner. */
const COLLECTED = [2, 3, 4].map(addressOf);
const COLLECTOR = addressOf(9);
const COLLECTED_IDS = 12;
const HOLDERS = 101;
/** With this many tokens each has at most 100 owners: 20,000 per page. */
const IDS = 200;

eachDatabase('bounds of NFT records', databases => {
  let chain: TestChain;
  let db: Db;
  let reader: Reader;

  beforeAll(async () => {
    chain = await startTestChain();
    const options = await databases.create('index');
    db = await openMigrated(indexOptions(options, CHAIN_ID), indexSchema(CHAIN_ID, options));
    await insertTyped(db, { table: 'tokens', columns: TABLES.tokens.columns }, [sharedToken(TOKEN)]);
    for (let id = 0; id < IDS; id += 1) {
      const rows = Array.from({ length: HOLDERS }, (_, place) =>
        balanceOf(TOKEN, { holder: addressOf(1_000 + place), id }),
      );
      await insertTyped(db, { table: 'token_balances', columns: TABLES.token_balances.columns }, rows);
    }
    for (const token of COLLECTED) {
      const rows = Array.from({ length: COLLECTED_IDS }, (_, id) =>
        balanceOf(token, { holder: COLLECTOR, id }),
      );
      await insertTyped(db, { table: 'token_balances', columns: TABLES.token_balances.columns }, rows);
    }
    reader = createReader({ db, abis: knownAbis([]), client: chain.client });
  });
  afterAll(async () => {
    await db?.destroy();
    await chain?.stop();
  });

  async function ownersShown(limit: number): Promise<number[]> {
    const nfts = await nftRecordAnswers(sourceOf(reader)).listContractNfts?.(
      {
        path: { contract_address: TOKEN },
        query: { limit, page: 0, include_owners: 'true', resolve_metadata_links: 'true' },
      },
      { chainIds: [CHAIN_ID], signal: AbortSignal.timeout(PATIENCE_MS) },
    );
    return (nfts ?? []).map(({ owner_addresses: owners }) => owners?.length ?? 0);
  }

  test('a page of a contract lists at most 20,000 owners, the same number for each token', async () => {
    expect(await ownersShown(IDS)).toEqual(Array(IDS).fill(100));
    expect(await ownersShown(2)).toEqual([HOLDERS, HOLDERS]);
  });

  test('for several contracts only the NFTs up to the end of the page are read', async () => {
    let read = 0;
    const counting: Reader = {
      ...reader,
      async nftHoldings(query) {
        const page = await reader.nftHoldings(query);
        read += page.items.length;
        return page;
      },
    };
    const pageOf = async (page: number) => {
      const nfts = await nftRecordAnswers(sourceOf(counting)).listOwnedNfts?.(
        {
          path: {},
          query: {
            owner_address: [COLLECTOR],
            contract_address: COLLECTED.toReversed(),
            limit: 5,
            page,
            resolve_metadata_links: 'true',
          },
        },
        { chainIds: [CHAIN_ID], signal: AbortSignal.timeout(PATIENCE_MS) },
      );
      return (nfts ?? []).map(one => [one.contract_address, Number(one.token_id)]);
    };
    const held = COLLECTED.flatMap(token => Array.from({ length: COLLECTED_IDS }, (_, id) => [token, id]));

    expect([await pageOf(0), read]).toEqual([held.slice(0, 5), 5]);
    read = 0;
    expect([await pageOf(2), read]).toEqual([held.slice(10, 15), 15]);
    read = 0;
    expect([await pageOf(8), read]).toEqual([[], held.length]);
  });
});

function sharedToken(token: Address) {
  return {
    address: bytesColumn(token),
    type: tokenTypeColumn('ERC-1155'),
    first_block: 0,
    name: null,
    symbol: null,
    decimals: null,
    total_supply: null,
    holder_count: 0,
    is_read: 1,
  };
}

function balanceOf(token: Address, { holder, id }: { holder: Address; id: number }) {
  return {
    token: bytesColumn(token),
    holder: bytesColumn(holder),
    token_id: uintColumn(BigInt(id)),
    value: uintColumn(1n),
  };
}

function addressOf(place: number): Address {
  return `0x${place.toString(16).padStart(40, '0')}`;
}
