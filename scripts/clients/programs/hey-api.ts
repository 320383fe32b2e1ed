/**
 * Example program with hey-api: pages through a list, creates a link, reads errors. Addresses come from the
 * descriptions.
 */
import assert from 'node:assert/strict';
import { getBlock, listBlocks, type SearchItem, search } from './hey-api-data/index.js';
import { client as paymentsClient } from './hey-api-payments/client.gen.js';
import {
  createPaymentLink,
  deletePaymentLink,
  getPaymentLink,
  listPaymentLinks,
} from './hey-api-payments/index.js';

const [, , key] = process.argv.slice(2);
paymentsClient.setConfig({ auth: key });

/** Block numbers on the first pages. */
async function blockNumbers(pages: number): Promise<number[]> {
  const numbers: number[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pages; page += 1) {
    const { data } = await listBlocks({ query: { cursor }, throwOnError: true });
    numbers.push(...data.items.map(block => block.height));
    cursor = data.next_page_params?.cursor;
    if (cursor === undefined) break;
  }
  return numbers;
}

/** Text of a search result; `type` narrows the union. */
function described(item: SearchItem): string {
  switch (item.type) {
    case 'token':
      return item.name ?? item.address_hash;
    case 'block':
      return String(item.block_number);
    case 'transaction':
      return item.transaction_hash;
    default:
      return item.address_hash;
  }
}

const numbers = await blockNumbers(2);
assert.ok(numbers.length > 50, `two pages have ${numbers.length} blocks`);
assert.equal(new Set(numbers).size, numbers.length);

const found = await search({ query: { q: 'usd' }, throwOnError: true });
const results = found.data.items.map(described);
assert.ok(results.length > 0);

const missing = await getBlock({ path: { block_number_or_hash: '999999999' } });
assert.equal(missing.response?.status, 404);
assert.equal(typeof missing.error?.message, 'string');

const { data: link } = await createPaymentLink({
  body: { name: 'Field notebooks', amount: '12500000', items: [{ name: 'Notebook', amount: '12500000' }] },
  throwOnError: true,
});
const listed = await listPaymentLinks({ query: { limit: 100 }, throwOnError: true });
assert.ok(listed.data.data.some(({ id }) => id === link.id));

const refused = await getPaymentLink({ path: { payment_link_id: 'pl_000000000000000000000000' } });
assert.equal(refused.error?.error.code, 'resource_not_found');

await deletePaymentLink({ path: { payment_link_id: link.id } });
console.log(`hey-api: ${numbers.length} blocks on two pages, ${results.length} results, a link, errors read`);
