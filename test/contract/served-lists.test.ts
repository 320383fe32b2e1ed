import { describe, expect } from 'vitest';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { insightsContract } from '../../src/contract/contracts/insights.ts';
import type { OperationRow } from '../../src/contract/contracts/operations.ts';
import { paymentsContract } from '../../src/contract/contracts/payments.ts';
import { startTestDataService, type TestDataService } from '../lab/data-service.ts';
import { type Client, client } from '../support/contract-client.ts';
import { test } from '../support/served-devnet.ts';
import { itemOf, pageOf } from '../support/walk.ts';

let api: Client;
/** Values of path parameters, and of parameters without which some operations return nothing. */
let known: Record<string, string>;

// A service of its own, so that the cache contains only this file's requests.
let service: TestDataService;

test.beforeAll(async ({ devnet }) => {
  service = await startTestDataService(devnet.chains);
  api = client(service.url);
  const { items } = pageOf((await api.get('/explorer/transactions?type=token_transfer')).body);
  const contract = (name: string) =>
    String(devnet.chains[0]?.contracts.find(one => one.name === name)?.address);
  const [first] = items;
  const sender = String(itemOf(first?.from).hash);
  known = {
    transaction_hash: String(first?.hash),
    address_hash: sender,
    wallet_address: sender,
    contract_address: contract('Game Items'),
    signature: 'Transfer(address,address,uint256)',
    token_id: '1',
  };
});
test.afterAll(() => service.close());

const NEED_OWNER = ['listTokenBalances', 'listOwnedNfts'];
const OWNER = `0x${'0'.repeat(39)}1`;

interface ListParameter {
  readonly row: OperationRow;
  readonly name: string;
}

/** All operations but the stream, whose answer has no end and is in no cache. */
const rows = [explorerContract, insightsContract, paymentsContract]
  .flatMap(({ table }) => Object.values<OperationRow>(table))
  .filter(({ id }) => id !== 'streamLive');
const lists: ListParameter[] = rows.flatMap(row =>
  row.parameters
    .filter(({ many, name }) => many !== 'one' && name !== 'symbol')
    .map(({ name }) => ({ row, name })),
);

/** Three values that an operation accepts for one of its lists. */
function valuesOf({ row, name }: ListParameter): readonly string[] {
  switch (name) {
    case 'type':
      return row.id === 'listTransactions'
        ? ['token_transfer', 'contract_call', 'contract_creation']
        : ['ERC-721', 'ERC-1155', 'ERC-721'];
    case 'method':
      return ['transfer', 'approve', '0xa9059cbb'];
    case 'token_type':
      return ['erc20', 'native', 'erc721'];
    case 'address':
    case 'owner_address':
    case 'token_address':
    case 'contract_address':
      return [1, 2, 3].map(digit => `0x${'0'.repeat(39)}${digit}`);
    case 'group_by':
      return ['day', 'block_number % (2 + 1) as rest', 'chain_id'];
    case 'aggregate':
      return ['count() as n', 'max(block_number) as newest', 'countDistinct(block_hash)'];
    case 'chain':
      return ['31337', '31338', '31337'];
    default:
      // In another order, since both parameters share a cache entry.
      return ['31338', '31337', '31338'];
  }
}

function targetOf({ row, name }: ListParameter, values: readonly string[]): string {
  const path = row.path.replaceAll(/\{([^}]+)\}/g, (_, key: string) => encodeURIComponent(known[key] ?? key));
  const query = new URLSearchParams(values.map((value): [string, string] => [name, value]));
  if (name !== 'address' && row.id === 'getTokenPrices') query.append('symbol', 'USDS');
  if (name !== 'owner_address' && NEED_OWNER.includes(row.id)) query.append('owner_address', OWNER);
  if (row.id === 'lookUpTokens') query.append('symbol', 'USDS');
  return `${path}?${query}`;
}

test('there are lists in both families', () => {
  expect(new Set(lists.map(({ name }) => name))).toEqual(
    new Set([
      'type',
      'method',
      'chain',
      'chain_id',
      'address',
      'owner_address',
      'token_address',
      'token_type',
      'contract_address',
      'group_by',
      'aggregate',
    ]),
  );
});

describe.each(lists)('$row.id, $name', parameter => {
  test('a list has one cache entry, whether comma-separated, repeated or mixed', async () => {
    const [one = '', two = '', three = ''] = valuesOf(parameter);

    const commas = await api.get(targetOf(parameter, [[one, two, three].join(',')]));
    const repeated = await api.get(targetOf(parameter, [one, two, three]));
    const mixed = await api.get(targetOf(parameter, [one, [two, three].join(',')]));

    expect([commas.status, repeated.status, mixed.status]).toEqual([200, 200, 200]);
    expect(commas.headers.get('x-cache')).toBe('MISS');
    expect([repeated, mixed].map(({ headers }) => headers.get('x-cache'))).toEqual(['HIT', 'HIT']);
    expect([repeated.body, mixed.body]).toEqual([commas.body, commas.body]);
  });
});

test.each(['cursor', 'keys'])(
  'a page walk by %s continues with the filter in the other notation',
  async by => {
    const kinds = ['token_transfer', 'contract_call'];
    const forms = [`type=${kinds.join(',')}`, kinds.map(kind => `type=${kind}`).join('&')];
    const walks = await Promise.all(
      [forms, forms.toReversed()].map(async ([first = '', second = '']) => {
        const page = pageOf((await api.get(`/explorer/transactions?${first}`)).body);
        const { cursor, ...keys } = page.next ?? {};
        const position = by === 'cursor' ? { cursor } : keys;
        const texts = Object.entries(position).map(([name, value]): [string, string] => [
          name,
          String(value),
        ]);
        const next = pageOf(
          (await api.get(`/explorer/transactions?${second}&${new URLSearchParams(texts)}`)).body,
        );
        return [...page.items, ...next.items].map(({ hash }) => hash);
      }),
    );

    expect(walks[0]).toEqual(walks[1]);
    expect(new Set(walks[0]).size).toBe(walks[0]?.length);
    expect(walks[0]?.length).toBeGreaterThan(50);
  },
);

test('a comma is part of a symbol, and several symbols are repeated parameters', async () => {
  const path = '/insights/v1/tokens/lookup';

  const both = await api.get(`${path}?symbol=USDS&symbol=TOLL`);
  const odd = await api.get(`${path}?symbol=USDS,TOLL`);

  expect(itemOf(both.body).data).toHaveLength(2);
  expect(itemOf(odd.body).data).toEqual([]);
});
