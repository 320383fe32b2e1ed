import type { Address } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addressTokenAnswers } from '#data/backends/own-index/address-tokens.ts';
import { balanceAnswers } from '#data/backends/own-index/insights/balances.ts';
import { nftRecordAnswers } from '#data/backends/own-index/insights/nfts.ts';
import type { InsightsRequestOf } from '#data/backends/port/insights-backend.ts';
import { bytesColumn, uintColumn } from '#db/columns.ts';
import { openMigrated } from '#db/migrate.ts';
import type { Db } from '#db/open.ts';
import { insertTyped } from '#db/rows.ts';
import { knownAbis } from '#evm/abi/abi.ts';
import { createReader } from '#indexer/index-reader.ts';
import { indexOptions, indexSchema } from '#indexer/schema/migrations/index-migrations.ts';
import { TABLES } from '#indexer/schema/tables.ts';
import { tokenTypeColumn } from '#indexer/schema/transaction-types.ts';
import { eachDatabase } from '#test/support/databases.ts';
import { CHAIN_ID, startTestChain, type TestChain } from '../indexer/support.ts';
import { sourceOf } from './insights/nft-support.ts';

/** A contract whose events give it ids of both standards. */
const TOKEN = addressOf(1);
const OWNER = addressOf(2);
const OTHER = addressOf(3);
const ID = 7n;

eachDatabase('an id of both standards of one contract', databases => {
  let chain: TestChain;
  let db: Db;

  beforeAll(async () => {
    chain = await startTestChain();
    const options = await databases.create('index');
    db = await openMigrated(indexOptions(options, CHAIN_ID), indexSchema(CHAIN_ID, options));
    const [token, owner, id] = [bytesColumn(TOKEN), bytesColumn(OWNER), uintColumn(ID)];
    await insertTyped(db, { table: 'tokens', columns: TABLES.tokens.columns }, [
      {
        address: token,
        type: tokenTypeColumn('ERC-721'),
        first_block: 0,
        name: 'Dual',
        symbol: 'DUAL',
        decimals: null,
        total_supply: null,
        holder_count: 0,
        is_read: 1,
      },
    ]);
    await insertTyped(db, { table: 'token_instances', columns: TABLES.token_instances.columns }, [
      { token, token_id: id, owner },
    ]);
    await insertTyped(db, { table: 'token_balances', columns: TABLES.token_balances.columns }, [
      { token, holder: owner, token_id: '', value: uintColumn(1n) },
      { token, holder: owner, token_id: id, value: uintColumn(5n) },
      { token, holder: bytesColumn(OTHER), token_id: id, value: uintColumn(6n) },
    ]);
  });
  afterAll(async () => {
    await db?.destroy();
    await chain?.stop();
  });

  const source = () => sourceOf(createReader({ db, abis: knownAbis([]), client: chain.client }));
  const { signal } = new AbortController();

  test('is two NFTs of its owner, each with its own record', async () => {
    const { body } =
      (await addressTokenAnswers(source()).listAddressNfts?.(
        { path: { address_hash: OWNER }, query: {} },
        { signal },
      )) ?? {};

    expect(body?.items).toMatchObject([
      { token_type: 'ERC-721', id: '7', value: '1', is_unique: true },
      { token_type: 'ERC-1155', id: '7', value: '5', is_unique: false, owner: null },
    ]);
  });

  test('is two NFTs in insights, each with its own type', async () => {
    const nfts = await nftRecordAnswers(source()).listOwnedNfts?.(
      {
        path: {},
        query: { owner_address: [OWNER], limit: 20, page: 0, resolve_metadata_links: 'true' },
      },
      { chainIds: [CHAIN_ID], signal },
    );

    expect(nfts).toMatchObject([
      { token_type: 'erc721', token_id: '7', balance: '1', contract: { type: 'erc721' } },
      { token_type: 'erc1155', token_id: '7', balance: '5', contract: { type: 'erc1155' } },
    ]);
  });

  test('is two balances of its owner, each found by its own type', async () => {
    const balances = async (query: Partial<InsightsRequestOf<'listTokenBalances'>['query']>) => {
      const found = await balanceAnswers(source()).listTokenBalances?.(
        {
          path: {},
          query: {
            owner_address: [OWNER],
            metadata: 'false',
            include_native: 'true',
            include_spam: 'false',
            include_without_price: 'true',
            sort_by: 'token_address',
            sort_order: 'asc',
            limit: 20,
            page: 0,
            ...query,
          },
        },
        { chainIds: [CHAIN_ID], signal },
      );
      return found?.map(one => [one.token_type, one.token_id, one.balance]);
    };
    const [unique, shared] = [
      ['erc721', undefined, '1'],
      ['erc1155', '7', '5'],
    ];

    expect(await balances({})).toEqual([unique, shared]);
    for (const one of [{}, { token_address: [TOKEN] }]) {
      expect(await balances({ ...one, token_type: ['erc721'] })).toEqual([unique]);
      expect(await balances({ ...one, token_type: ['erc1155'] })).toEqual([shared]);
    }
  });
});

function addressOf(place: number): Address {
  return `0x${place.toString(16).padStart(40, '0')}`;
}
