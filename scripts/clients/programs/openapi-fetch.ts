/** Example program with openapi-typescript and openapi-fetch: pages through a list, creates a link, reads errors. */
import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths as DataPaths } from './data/tollgate.js';
import type { paths as PaymentsPaths } from './payments/tollgate.js';

const [dataUrl, paymentsUrl, key] = process.argv.slice(2);
const data = createClient<DataPaths>({ baseUrl: dataUrl });
const payments = createClient<PaymentsPaths>({
  baseUrl: paymentsUrl,
  headers: { Authorization: `Bearer ${key}` },
});

/** Block numbers on the first pages. */
async function blockNumbers(pages: number): Promise<number[]> {
  const numbers: number[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pages; page += 1) {
    const { data: body, error } = await data.GET('/explorer/blocks', { params: { query: { cursor } } });
    if (error !== undefined) throw new Error(error.message);
    numbers.push(...body.items.map(block => block.height));
    cursor = body.next_page_params?.cursor;
    if (cursor === undefined) break;
  }
  return numbers;
}

/** Text of a search result; `type` narrows the union. */
function described(item: components['schemas']['SearchItem']): string {
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

const found = await data.GET('/explorer/search', { params: { query: { q: 'usd' } } });
const results = (found.data?.items ?? []).map(described);
assert.ok(results.length > 0);

const missing = await data.GET('/explorer/blocks/{block_number_or_hash}', {
  params: { path: { block_number_or_hash: '999999999' } },
});
assert.equal(missing.response.status, 404);
assert.equal(typeof missing.error?.message, 'string');

const made = await payments.POST('/api/v1/payment-links', {
  body: { name: 'Field notebooks', amount: '12500000', items: [{ name: 'Notebook', amount: '12500000' }] },
});
assert.equal(made.response.status, 201);
const link = made.data;
assert.ok(link !== undefined);

const listed = await payments.GET('/api/v1/payment-links', { params: { query: { limit: 100 } } });
assert.ok(listed.data?.data.some(({ id }) => id === link.id));

const refused = await payments.GET('/api/v1/payment-links/{payment_link_id}', {
  params: { path: { payment_link_id: 'pl_000000000000000000000000' } },
});
assert.equal(refused.error?.error.code, 'resource_not_found');

await payments.DELETE('/api/v1/payment-links/{payment_link_id}', {
  params: { path: { payment_link_id: link.id } },
});
console.log(
  `openapi-fetch: ${numbers.length} blocks on two pages, ${results.length} results, a link, errors read`,
);
