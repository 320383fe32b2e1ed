import { expect } from 'vitest';
import { demoSignIn } from '../lab/dashboard-session.ts';
import { test } from './dashboard-page.ts';

test('a half-written link survives a click on the menu, and the end of the session', async ({
  page,
  signIn,
  service,
}) => {
  await signIn();
  await page.goto('/dashboard/links/new');
  const name = page.getByLabel('Name', { exact: true });
  await name.fill('Field notebooks');

  await page.getByRole('navigation', { name: 'Dashboard' }).getByRole('link', { name: 'Events' }).click();
  await page.getByRole('heading', { name: 'Events' }).waitFor();
  await page.goto('/dashboard/links/new');
  await page.getByText('What you typed before is here again.').waitFor();
  expect(await name.inputValue()).toBe('Field notebooks');

  await page.getByLabel('Amount', { exact: true }).fill('0.25');
  await page.context().clearCookies();
  await page.getByRole('button', { name: 'Create link' }).click();
  await page.waitForURL('**/dashboard/sign-in?*');
  await page.goto(`/dashboard/sign-in?to=/dashboard/links/new#token=${await demoSignIn(service)}`);
  await page.waitForURL('**/dashboard/links/new');
  await page.getByText('What you typed before is here again.').waitFor();
  expect(await name.inputValue()).toBe('Field notebooks');
  expect(await page.getByLabel('Amount', { exact: true }).inputValue()).toBe('0.25');

  await page.getByRole('button', { name: 'Create link' }).click();
  await page.waitForURL('**/dashboard/links/pl_*');
  await page.goto('/dashboard/links/new');
  await page.getByRole('button', { name: 'Create link' }).waitFor();
  expect(await name.inputValue()).toBe('');
});

test('a draft is another one in another organization, and can be discarded', async ({
  page,
  signIn,
  rivalToken,
}) => {
  await signIn();
  await page.goto('/dashboard/links/new');
  const name = page.getByLabel('Name', { exact: true });
  await name.fill('Field notebooks');

  await page.goto(`/dashboard/sign-in?to=/dashboard/links/new#token=${rivalToken}`);
  await page.getByRole('button', { name: 'Sign in by the link' }).click();
  await page.getByRole('button', { name: 'Create link' }).waitFor();
  expect(await name.inputValue()).toBe('');

  await signIn();
  await page.goto('/dashboard/links/new');
  await page.getByRole('button', { name: 'Discard' }).click();
  expect(await name.inputValue()).toBe('');
});
