import { expect, test } from 'vitest';
import { fieldsOf, listOf } from '#data/backends/upstream-json/fields.ts';
import { fixtureOf } from '../../lab/blockscout-fixtures.ts';
import { serving } from './serving.ts';

const OTHER = `0x${'9'.repeat(40)}`;
const LISTS = {
  logs: ['listAddressLogs', 'address'],
  'blocks-validated': ['listAddressBlocksValidated', 'miner'],
  'internal-transactions': ['listAddressInternalTransactions', 'from'],
} as const;

const pageOf = (operation: string) => fieldsOf(JSON.parse(fixtureOf(operation, 'v11').text));
const whoseIs = (item: unknown, field: string) => String(fieldsOf(fieldsOf(item)[field]).hash);

test.each(Object.entries(LISTS))(
  'the %s of another address than the requested one are an outage, and those of the requested one are not',
  async (list, [operation, field]) => {
    const { items } = pageOf(operation);
    const [first] = listOf(items);
    const owner = whoseIs(first, field);
    await using served = await serving(() => ({ json: { items: [first], next_page_params: null } }));

    const right = await served.get(`/addresses/${owner.toLowerCase()}/${list}`);
    const wrong = await served.get(`/addresses/${OTHER}/${list}`);

    expect([right.status, wrong.status]).toEqual([200, 502]);
    expect(served.warnings()).toContainEqual(
      expect.objectContaining({ operation, path: `items[0].${field}.hash` }),
    );
  },
);

test('an internal transaction belongs to its receiver, its created contract and its self-destruct beneficiary, named or not', async () => {
  const [first] = listOf(pageOf('listAddressInternalTransactions').items);
  const side = { ...fieldsOf(fieldsOf(first).from), hash: OTHER };
  const items = [
    { ...fieldsOf(first), to: side, created_contract: null },
    { ...fieldsOf(first), to: null, created_contract: side },
    { ...fieldsOf(first), type: 'selfdestruct', to: side, created_contract: null },
    { ...fieldsOf(first), type: 'selfdestruct', to: null, created_contract: null },
  ];
  await using served = await serving(() => ({ json: { items, next_page_params: null } }));

  const { status, body } = await served.get(`/addresses/${OTHER}/internal-transactions`);

  expect({ status, count: listOf(body.items).length }).toEqual({ status: 200, count: 4 });
});
