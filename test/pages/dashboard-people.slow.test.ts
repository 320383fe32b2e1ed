import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { demoSignIn } from '../lab/dashboard-session.ts';
import { text } from '../lab/json.ts';
import { PATIENCE_MS } from '../lab/until.ts';
import { test } from './dashboard-page.ts';

const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });

test('a person is invited, signs in with the link, gets another role and is removed', async ({
  page,
  browser,
  service,
  signIn,
  complaints,
}) => {
  await signIn();
  await page.goto('/dashboard/people');

  await page.getByRole('button', { name: 'Invite' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Ada Byron');
  await dialog.getByLabel('E-mail').fill('ada@books.example');
  await dialog.getByText('No API keys, webhooks or settings.').waitFor();
  await dialog.getByRole('button', { name: 'Invite' }).click();
  const link = text(
    await page
      .getByRole('status')
      .getByText(/#token=/)
      .textContent(),
  );

  const ada = await (await browser.newContext()).newPage();
  ada.setDefaultTimeout(PATIENCE_MS);
  await ada.goto(link);
  await ada.getByText('Demo shop').click();
  await ada.getByText('Ada Byron (ada@books.example)').waitFor();
  await ada.goto(`${service.url}/dashboard/people`);
  await ada.getByText('Owners invite people').waitFor();
  await rowOf(page, 'Ada Byron').getByRole('button', { name: 'Change role' }).click();
  await page.getByRole('dialog').getByLabel('Role').selectOption('View only');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByText('Ada Byron is now View only.').waitFor();
  await rowOf(page, 'Ada Byron').getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await rowOf(page, 'Ada Byron').waitFor({ state: 'detached' });

  await ada.reload();
  await ada.waitForURL('**/dashboard/sign-in?*');
  await ada.context().close();
  expect(complaints).toEqual([]);
});

test('a passkey is added, signs in, and is asked for before people are changed', async ({
  page,
  service,
  complaints,
}) => {
  const origin = service.url.replace('127.0.0.1', 'localhost');
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('WebAuthn.enable');
  await devTools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await page.goto(`${origin}/dashboard/sign-in?to=/dashboard/account#token=${await demoSignIn(service)}`);

  await page.getByRole('button', { name: 'Add passkey' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Laptop');
  await page.getByRole('dialog').getByRole('button', { name: 'Continue' }).click();
  await rowOf(page, 'Laptop').getByText('never').waitFor();
  await page.goto(`${origin}/dashboard/people`);
  await page.getByRole('button', { name: 'Invite' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Grace Hopper');
  await page.getByRole('dialog').getByLabel('E-mail').fill('grace@books.example');
  await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
  await rowOf(page, 'Grace Hopper').waitFor();

  await page.getByText('Demo shop').click();
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.goto(`${origin}/dashboard/account`);
  await rowOf(page, 'Laptop').getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('No passkeys yet.').waitFor();
  expect(complaints.filter(one => !one.includes('403'))).toEqual([]);
});

test('another browser of the member is signed out from the account page', async ({
  page,
  context,
  service,
  signIn,
}) => {
  await signIn();
  const phone = await context.browser()?.newContext({ userAgent: 'Sample (iPhone) Safari/600' });
  const other = await phone?.newPage();
  await other?.goto(`${service.url}/dashboard#token=${await demoSignIn(service)}`);
  await other?.getByRole('heading', { name: 'Overview' }).waitFor();

  await page.goto('/dashboard/account');
  await rowOf(page, 'Safari on iPhone').getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
  await rowOf(page, 'Safari on iPhone').waitFor({ state: 'detached' });

  await other?.reload();
  await other?.waitForURL('**/dashboard/sign-in?*');
  expect(await rowOf(page, 'this session').count()).toBe(1);
  await phone?.close();
});

test('a developer sees no control that changes people or where money goes', async ({ page, signIn }) => {
  await signIn('developer');
  const shown = async (path: string, there: string) => {
    await page.goto(`/dashboard/${path}`);
    await page.getByRole('main').getByText(there).first().waitFor();
    return page.getByRole('main').getByRole('button').filter({ visible: true }).allTextContents();
  };

  expect(await shown('people', 'Owners invite people')).toEqual([]);
  expect(await shown('organization', 'Origins of your websites')).not.toContain('Add recipient');
  expect(await page.getByLabel('Only allow recipients from the list below').count()).toBe(0);
  expect(await page.getByLabel('Recipient', { exact: true }).count()).toBe(0);
});
