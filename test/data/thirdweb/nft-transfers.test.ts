import { expect, test } from 'vitest';
import { list, record } from '../../lab/json.ts';
import type { SeenRequest } from '../../lab/scripted-upstream.ts';
import { fixtureOf, fixturesOf, violationsOf } from './fixtures.ts';
import { about, always, failureOf, openedThirdweb, sentTo } from './opened-thirdweb.ts';

const CONTRACT = '0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d';
const SENDER = '0x28c6c06298d514db089934071355e5743bf21d60';
const RECEIVER = `0x${'ab'.repeat(20)}`;
const ZERO = `0x${'0'.repeat(40)}`;
const OPERATIONS = ['listNftTransfers', 'listTokenNftTransfers'];
const plain = { limit: 20, page: 0, metadata: 'false', include_owners: 'false' } as const;
const ofContract = (more: object = {}) => ({
  path: { contract_address: CONTRACT },
  query: { ...plain, ...more },
});

async function transfers(operation: string, name: string) {
  await using to = await openedThirdweb(always(fixtureOf(operation, name)));
  return await to.insights.listNftTransfers(ofContract(), about(1));
}

test.each(OPERATIONS.flatMap(operation => fixturesOf(operation).map(({ name }) => ({ operation, name }))))(
  '$operation of $name is read as records of the contract',
  async ({ operation, name }) => {
    expect(await violationsOf(operation, { data: await transfers(operation, name) })).toEqual([]);
  },
);

test('rows beyond the limit are cut off if the service ignores it', async () => {
  const { data } = record(JSON.parse(fixtureOf('listNftTransfers', '2025-10').text));
  const rows = Array.from({ length: 5 }, () => list(data)[0]);
  await using to = await openedThirdweb(() => ({ json: { data: rows } }));

  expect(await to.insights.listNftTransfers(ofContract({ limit: 2 }), about(1))).toHaveLength(2);
});

test('a sale has its metadata and price, without fields outside the contract', async () => {
  const [sale] = await transfers('listTokenNftTransfers', '2025-10');

  expect(sale).toEqual({
    token_id: '24950',
    chain_id: 1,
    block_number: '22431084',
    block_hash: `0x${'a1'.repeat(32)}`,
    block_timestamp: '2025-05-05T12:30:11.000Z',
    transaction_hash: `0x${'4a'.repeat(32)}`,
    from_address: SENDER,
    to_address: RECEIVER,
    log_index: 68,
    contract_address: CONTRACT,
    transfer_type: 'sale',
    token_type: 'erc721',
    amount: '1',
    nft_metadata: {
      name: 'Postcard 24950',
      image_url: 'https://ipfs.io/ipfs/bafy/7.png',
      external_url: 'https://example.org/7',
      status: 'SUCCESS',
      metadata_url: 'ipfs://bafy/7',
      owner_addresses: [RECEIVER],
      extra_metadata: {
        attributes: [
          { trait_type: 'Colour', value: 'Blue' },
          { trait_type: 'Age', value: 7, display_type: 'number' },
        ],
      },
      collection: { name: 'Postcards' },
      contract: { chain_id: 1, address: CONTRACT, name: 'Postcards', symbol: 'CARD', type: 'erc721' },
    },
    nft_sale: {
      transaction_hash: `0x${'4a'.repeat(32)}`,
      items_sold: [
        {
          token_address: CONTRACT,
          token_id: '24950',
          amount: '1',
          token_type: 'erc721',
          from_address: SENDER,
          to_address: RECEIVER,
        },
      ],
      payment: [
        {
          token_address: ZERO,
          token_id: '0',
          amount: '12500000000000000000',
          token_type: 'native',
          from_address: RECEIVER,
          to_address: SENDER,
        },
      ],
      marketplace_address: '0x0000000000000068f116a894984e2db1123eb395',
      marketplace_name: 'Seaport',
    },
  });
});

test('numbers become strings and times, 256-bit ids keep all digits, and a burn is a transfer', async () => {
  expect(await transfers('listTokenNftTransfers', '2025-07')).toMatchObject([
    {
      token_id: '24950',
      block_number: '22431084',
      block_timestamp: '2025-05-05T12:30:11.000Z',
      amount: '1',
      token_type: 'erc721',
      transfer_type: 'transfer',
    },
    {
      token_id: String(2n ** 256n - 1n),
      amount: '100000000000000000000',
      token_type: 'erc1155',
      transfer_type: 'transfer',
      to_address: ZERO,
    },
  ]);
});

test('metadata of the wrong type is left out', async () => {
  const [transfer] = await transfers('listNftTransfers', '2025-10');

  expect(transfer?.nft_metadata).toMatchObject({ name: 'Postcard 24950' });
  for (const absent of ['extra_metadata', 'collection', 'contract']) {
    expect(transfer?.nft_metadata).not.toHaveProperty(absent);
  }
});

test('null is an empty list', async () => {
  expect(await transfers('listNftTransfers', '2025-03')).toEqual([]);
});

test('a request has the token in its path, and flags only where they differ from upstream’s defaults', async () => {
  await using to = await openedThirdweb(() => ({ json: { data: [] } }));
  const flags = { metadata: 'true', sales: 'true', include_owners: 'true', resolve_metadata_links: 'false' };

  await to.insights.listNftTransfers(
    { path: { contract_address: 'punks.eth', token_id: '7' }, query: { ...ofContract(flags).query } },
    about(1, 10),
  );

  expect(to.requests[0]?.path).toBe('/nfts/transfers/punks.eth/7');
  expect(sentTo(to.requests[0])).toEqual([
    'chain_id=1',
    'chain_id=10',
    'limit=20',
    'page=0',
    'metadata=true',
    'include_owners=true',
    'sales=true',
    'resolve_metadata_links=false',
  ]);
});

const [row] = list(record(JSON.parse(fixtureOf('listTokenNftTransfers', '2025-03').text)).data).map(record);

/** A contract with that many transfers on each chain, and pages of at most 100 rows. */
function pagesOf(total: Readonly<Record<string, number>>, lastPage = Number.POSITIVE_INFINITY) {
  return ({ query }: SeenRequest) => {
    const [limit, page] = [Number(query.get('limit')), Number(query.get('page'))];
    if (limit > 100 || page > lastPage) return { status: 400, json: { error: 'too far' } };
    const data = query.getAll('chain_id').flatMap(id =>
      Array.from({ length: total[id] ?? 0 }, (_, index) => ({
        ...row,
        chain_id: Number(id),
        token_id: index,
      })).slice(page * limit, (page + 1) * limit),
    );
    return { json: { data } };
  };
}

test('a page longer than upstream’s is composed of several', async () => {
  await using to = await openedThirdweb(pagesOf({ 1: 1000, 10: 270 }));

  const found = await to.insights.listNftTransfers(ofContract({ limit: 130, page: 2 }), about(1, 10));

  const idsOf = (chain: number) =>
    found.filter(({ chain_id: id }) => id === chain).map(({ token_id: id }) => Number(id));
  expect(idsOf(1)).toEqual(Array.from({ length: 130 }, (_, index) => 260 + index));
  expect(idsOf(10)).toEqual(Array.from({ length: 10 }, (_, index) => 260 + index));
  expect(to.requests.map(({ query }) => query.get('page'))).toEqual(['2', '3']);
});

test('a page beyond upstream’s last one is unsupported', async () => {
  await using to = await openedThirdweb(pagesOf({ 1: 5000 }, 20));

  const failure = await failureOf(
    to.insights.listNftTransfers(ofContract({ limit: 1000, page: 3 }), about(1)),
  );

  expect(failure.kind).toBe('unsupported');
});

test('a limit of 0 returns no rows for a known contract', async () => {
  await using to = await openedThirdweb(pagesOf({ 1: 5 }));

  const found = await to.insights.listNftTransfers(ofContract({ limit: 0 }), about(1));

  expect([found, to.requests[0]?.query.get('limit')]).toEqual([[], '1']);
});

test('a sale with an unreadable part is left out completely', async () => {
  const nft_sale = {
    transaction_hash: `0x${'4a'.repeat(32)}`,
    items_sold: [],
    payment: [{ token_address: CONTRACT, token_id: '1', amount: 'much', token_type: 'erc20' }],
    marketplace_address: CONTRACT,
    marketplace_name: 'Seaport',
  };
  await using to = await openedThirdweb(() => ({
    json: { data: [{ ...row, transfer_type: 'sale', nft_sale }] },
  }));

  const [transfer] = await to.insights.listNftTransfers(ofContract(), about(1));

  expect(transfer).toMatchObject({ transfer_type: 'sale' });
  expect(transfer).not.toHaveProperty('nft_sale');
});
