import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { test } from './data-page.ts';

const field = (page: Page) => page.getByRole('combobox');

test('suggestions of all chains name the chain and the kind, and open by the keyboard', async ({
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

test('Enter opens the page of what one chain alone has', async ({ page, views, devnet }) => {
  const [chain] = devnet.chains;
  const hash = views[0]?.transactions.at(-1)?.hash ?? '';
  await page.goto('/');

  await field(page).fill(hash);
  await field(page).press('Enter');

  await page.waitForURL(`**/chain/${chain?.id}/tx/${hash}`);
});

test('Enter leads to all results for what several chains have', async ({ page }) => {
  await page.goto('/');

  await field(page).fill('12');
  await field(page).press('Enter');

  await page.waitForURL('**/search?q=12');
});
