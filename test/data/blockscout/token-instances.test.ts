import { describe, expect, test } from 'vitest';
import { tokenHolder } from '#data/backends/blockscout/normalise/holdings.ts';
import { tokenInstance } from '#data/backends/blockscout/normalise/token.ts';
import { tokenTransferRecord } from '#data/backends/blockscout/normalise/token-transfer.ts';
import {
  tokenHolderKeys,
  tokenInstanceKeys,
  tokenTransferKeys,
} from '#data/backends/blockscout/paging/cursor-params.ts';
import { type Fields, fieldsOf } from '#data/backends/upstream-json/fields.ts';
import { type Fixture, fixtureOf, fixturesOf, validates } from '../../lab/blockscout-fixtures.ts';
import { record } from '../../lab/json.ts';
import { itemsOf, withoutNewerFields } from './generations.ts';
import { MISSING, serving } from './serving.ts';

const ADDRESS = `0x${'9'.repeat(40)}`;

interface ListReading {
  readonly item: (value: unknown) => object;
  readonly keys: (params: Fields, itemCount: number) => object;
  /** Fields that the oldest or the newest generation leaves out. */
  readonly missing: readonly string[];
}

const LISTS: Readonly<Record<string, ListReading>> = {
  listTokenInstances: { item: tokenInstance, keys: tokenInstanceKeys, missing: ['token'] },
  listTransfersOfTokenInstance: {
    item: tokenTransferRecord,
    keys: tokenTransferKeys,
    missing: ['block_number', 'token_type'],
  },
  listTokenInstanceHolders: { item: tokenHolder, keys: tokenHolderKeys, missing: [] },
};

describe.each(Object.entries(LISTS))('%s', (operation, { item, keys, missing }) => {
  const items = ({ body }: Fixture) =>
    itemsOf(body).map(value => ({
      ...record(withoutNewerFields(item(value))),
      ...Object.fromEntries(missing.map(name => [name, null])),
    }));
  const position = ({ body }: Fixture) => keys(fieldsOf(fieldsOf(body).next_page_params), 2);

  test.each(fixturesOf(operation))('$name equals the latest generation', async fixture => {
    const latest = fixtureOf(operation, 'v12');

    const page = { items: itemsOf(fixture.body).map(item), next_page_params: null };
    expect(await validates(operation, page)).toEqual([]);
    expect(items(fixture)).toEqual(items(latest));
    expect(position(fixture)).toEqual(position(latest));
    expect(items(latest).length).toBeGreaterThan(0);
  });
});

test('the holder’s address is sent along with the position and is not part of it', async () => {
  const { text, path } = fixtureOf('listTokenInstances', 'v8');
  await using served = await serving(() => ({ text, type: 'application/json' }));

  const first = await served.get(`${path}?holder_address_hash=${ADDRESS}`);
  const { cursor, unique_token: id } = record(first.body.next_page_params);
  await served.get(`${path}?holder_address_hash=${ADDRESS}&cursor=${cursor}`);

  expect(id).toBe('4');
  expect(served.requests.map(({ query }) => Object.fromEntries(query))).toEqual([
    { holder_address_hash: ADDRESS },
    { holder_address_hash: ADDRESS, unique_token: '4' },
  ]);
});

test('instances and transfers of another token are an outage, and an unknown token is a 404', async () => {
  const instances = JSON.parse(fixtureOf('listTokenInstances', 'v11').text);
  const transfers = JSON.parse(fixtureOf('listTransfersOfTokenInstance', 'v11').text);
  await using mixed = await serving(({ path }) => ({
    json: path.endsWith('/transfers') ? transfers : instances,
  }));
  await using served = await serving(() => MISSING);

  for (const list of ['instances', 'instances/4/transfers'])
    expect([list, (await mixed.get(`/tokens/${ADDRESS}/${list}`)).status]).toEqual([list, 502]);
  for (const list of ['instances', 'instances/4/transfers', 'instances/4/holders'])
    expect([list, (await served.get(`/tokens/${ADDRESS}/${list}`)).status]).toEqual([list, 404]);
});
