import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { filtersOf, KINDS } from '#data/pages/browser/playground/kinds.ts';
import { PRESETS } from '#data/pages/browser/playground/presets.ts';
import { readQuery, requestOf, searchOf } from '#data/pages/browser/playground/query.ts';
import { record } from '../lab/json.ts';
import { test } from './data-page.ts';

const description = JSON.parse(
  readFileSync(new URL('../../generated/insights/openapi.json', import.meta.url), 'utf8'),
);

/** Names of an operation's parameters in the description. */
function parametersOf(path: string): readonly string[] {
  const references: readonly { $ref: string }[] = description.paths[path].get.parameters;
  return references.map(({ $ref }) => description.components.parameters[$ref.split('/').at(-1) ?? ''].name);
}

test('the playground offers every filter of each operation, and no other', () => {
  for (const kind of KINDS) {
    const names = parametersOf(kind.path);
    expect(filtersOf(kind).toSorted()).toEqual(names.filter(name => name.startsWith('filter_')).toSorted());
    expect(names.includes('decode')).toBe(kind.canDecode);
    expect(description.paths[kind.path].get.operationId).toBe(kind.operationId);
  }
});

test('the page’s address contains the whole form, and the request its parameters', () => {
  const search =
    '?kind=named-events&of=0x5fbdb2315678afecb367f032d93f642f64180aa3&event=Transfer(address,address,uint256)' +
    '&chain_id=31337&chain_id=31338&filter_block_number_gte=5&filter_topic_1=0x90&group_by=day,hour' +
    '&aggregate=count()%20as%20n&sort_by=n&sort_order=asc&decode=true&limit=3&page=2';

  const query = readQuery(search);

  expect(searchOf(query)).toBe(search);
  expect(requestOf(query)).toBe(
    '/insights/v1/events/0x5fbdb2315678afecb367f032d93f642f64180aa3/Transfer(address,address,uint256)' +
      '?chain_id=31337&chain_id=31338&filter_block_number_gte=5&filter_topic_1=0x90&group_by=day,hour' +
      '&aggregate=count()%20as%20n&sort_by=n&sort_order=asc&decode=true&limit=3&page=2',
  );
});

test('a request is safe within single quotes of a shell, whatever is typed', () => {
  const query = {
    ...readQuery('?kind=wallet-transactions'),
    subject: "x'; rm -rf ~ #",
    aggregate: "sum('a')",
  };

  expect(requestOf(query)).toBe(
    "/insights/v1/wallets/x'%3B%20rm%20-rf%20~%20%23/transactions?aggregate=sum('a')".replaceAll("'", '%27'),
  );
});

test('every example has result rows', async ({ serviceOfBoth }) => {
  for (const { name, parameters } of PRESETS) {
    const request = requestOf(readQuery(`?${new URLSearchParams(parameters)}`));
    const response = await fetch(new URL(request, serviceOfBoth.url));
    const answer = record(await response.json());

    const rows = answer.aggregations ?? answer.data;
    expect([name, response.status, Array.isArray(rows) && rows.length > 0]).toEqual([name, 200, true]);
  }
});

test('a form is filled in, run, and restored from its address', async ({ page, complaints, devnet }) => {
  const [, other] = devnet.chains;
  await page.goto('/playground');

  await page.getByLabel('Dataset').selectOption('Blocks');
  await page.getByLabel(other?.name ?? '').check();
  await page.getByRole('button', { name: 'Add filter' }).click();
  await page.getByLabel('Field of filter 1').selectOption('block_number ≤');
  await page.getByLabel('Value of filter 1').fill('7');
  await page.getByLabel('Rows per chain').fill('5');
  await page.getByRole('button', { name: 'Run' }).click();

  await page.getByText('Page 1 of 2, 8 in all').waitFor();
  const request = `/insights/v1/blocks?chain_id=${other?.id}&filter_block_number_lte=7&limit=5`;
  expect(await page.getByLabel('curl', { exact: true }).textContent()).toContain(request);
  const links = page.getByRole('region', { name: 'Rows' }).getByRole('link', { name: '7', exact: true });
  expect(await links.getAttribute('href')).toBe(`/chain/${other?.id}/block/7`);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Page 2 of 2').waitFor();

  await page.reload();

  await page.getByText('Page 2 of 2').waitFor();
  expect(await page.getByLabel('Value of filter 1').inputValue()).toBe('7');
  expect(complaints).toEqual([]);
});

test('groups over time are a chart and a table, and other groups bars and a table', async ({
  page,
  complaints,
}) => {
  await page.goto('/playground');

  await page.getByRole('link', { name: 'Transactions per day' }).click();
  await page.getByRole('img', { name: 'Chart: transactions by day' }).waitFor();
  await page.getByRole('region', { name: 'Groups' }).waitFor();

  await page.getByRole('link', { name: 'Top senders' }).click();
  await page.getByRole('progressbar').first().waitFor();
  await page.getByRole('region', { name: 'Groups' }).waitFor();
  expect(complaints).toEqual([]);
});

test('a refusal has the message of the API, with its request id', async ({ page }) => {
  await page.goto('/playground?kind=transactions&filter_value=much');

  const alert = page.getByRole('alert');
  await alert.getByText('filter_value: must be an integer').waitFor();
  expect(await alert.locator('code').textContent()).toMatch(/^[0-9a-f-]{36}$/);
});
