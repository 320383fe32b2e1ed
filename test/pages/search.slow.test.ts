import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { test } from './data-page.ts';

const field = (page: Page) => page.getByRole('combobox');

test('suggestions from all chains name chain and kind, and open by keyboard', async ({
  page,
  complaints,
  devnet,
}) => {
  await page.goto('/');

  await field(page).pressSequentially('usds');
  for (const { name } of devnet.chains) {
    await page
      .getByRole('option')
      .filter({ hasText: name })
      .filter({ hasText: 'ERC-20 token' })
      .filter({ hasText: 'US Dollar Sample' })
      .waitFor();
  }
  await field(page).press('ArrowDown');
  const marked = page.getByRole('option', { selected: true });
  expect(await field(page).getAttribute('aria-activedescendant')).toBe(await marked.getAttribute('id'));
  await field(page).press('Enter');

  await page.waitForURL(`**/chain/${devnet.chains[0]?.id}/token/0x*`);
  expect(complaints.filter(text => !text.includes('404'))).toEqual([]);
});

test('Escape closes the suggestions and keeps the text', async ({ page }) => {
  await page.goto('/');

  await field(page).pressSequentially('usds');
  await page.getByRole('option').first().waitFor();
  await field(page).press('Escape');

  await page.getByRole('option').first().waitFor({ state: 'hidden' });
  expect(await field(page).inputValue()).toBe('usds');
});

test('Enter opens the page of a result on a single chain', async ({ page, views, devnet }) => {
  const [chain] = devnet.chains;
  const hash = views[0]?.transactions.at(-1)?.hash ?? '';
  await page.goto('/');

  await field(page).fill(hash);
  await field(page).press('Enter');

  await page.waitForURL(`**/chain/${chain?.id}/tx/${hash}`);
});

test('Enter opens all results when several chains have one', async ({ page }) => {
  await page.goto('/');

  await field(page).fill('12');
  await field(page).press('Enter');

  await page.waitForURL('**/search?q=12');
});

test('Enter opens all results when a chain is slow', async ({ page }) => {
  await page.goto('/');
  await page.route('**/explorer/search/check-redirect?*', () => {});

  await field(page).fill('usds');
  await field(page).press('Enter');

  await page.waitForURL('**/search?q=usds');
});

test('a pending search navigates nowhere once another text is typed', async ({ page }) => {
  await page.goto('/');
  const late = Promise.withResolvers<void>();
  await page.route('**/explorer/search/check-redirect?*', async route => {
    await late.promise;
    await route.continue();
  });
  await field(page).fill('12');
  await field(page).press('Enter');
  await page.getByRole('status').getByText('Searching…').first().waitFor();

  await field(page).fill('13');
  late.resolve();
  await field(page).press('Enter');

  await page.waitForURL('**/search?q=13');
});

test('the page of all results lists those of each chain, with kind and link', async ({
  page,
  complaints,
  devnet,
}) => {
  await page.goto('/search?q=usds');

  for (const { id, name, tokens } of devnet.chains) {
    const results = page.getByRole('region', { name: `Results on ${name}` });
    const row = results.getByRole('row').filter({ hasText: 'ERC-20 token' });
    const [stable] = tokens;
    const href = await row.getByRole('link').first().getAttribute('href');
    expect(href?.toLowerCase()).toBe(`/chain/${id}/token/${stable?.address.toLowerCase()}`);
  }
  expect(await field(page).inputValue()).toBe('usds');
  expect(complaints).toEqual([]);
});

test('a name opens the page of its address', async ({ page, complaints, devnet }) => {
  await page.goto('/search?q=alice.eth');

  const card = page.locator('.card').filter({ hasText: devnet.chains[0]?.name ?? '' });
  await card.getByText('is the name of').waitFor();
  const href = await card.locator('.reference a').getAttribute('href');
  expect(href).toMatch(new RegExp(`^/chain/${devnet.chains[0]?.id}/address/0x[0-9a-f]{40}$`));
  expect(complaints).toEqual([]);
});

test('a search without results, and one without text, explain what can be searched', async ({
  page,
  devnet,
}) => {
  await page.goto('/search?q=nothing-is-called-so');
  await page
    .getByText('No results on this chain.')
    .nth(devnet.chains.length - 1)
    .waitFor();

  await page.goto('/search');
  await page.getByText('Type in the search field above').waitFor();
});
