import { expect } from 'vitest';
import { record, text } from '../lab/json.ts';
import { test } from './dashboard-page.ts';

test('the audit log lists changes of programs and members, and is filtered', async ({
  page,
  signIn,
  merchant,
  complaints,
}) => {
  const terms = { name: 'Field notebooks', amount: '7' };
  const link = text(record((await merchant.post('/api/v1/payment-links', terms)).body).id);
  await signIn();
  await page.goto('/dashboard/audit-log');

  const rows = page.getByRole('region', { name: 'Audit log' }).getByRole('row');
  await rows.filter({ hasText: 'Session: create' }).filter({ hasText: 'Owner' }).first().waitFor();
  const created = rows
    .filter({ hasText: 'Payment link: create' })
    .filter({ hasText: 'Key “Key of the demo”' });
  await created.first().waitFor();
  expect(await created.first().getByText('Key “Key of the demo”').getAttribute('title')).toMatch(/^ak_/);

  await page.getByLabel('Record').fill(link);
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('link', { name: 'Clear' }).waitFor();
  await created.first().waitFor();
  expect(await rows.count()).toBe(2);
  expect(complaints).toEqual([]);
});

test('the audit log is for owners and developers', async ({ page, signIn }) => {
  await signIn('support');
  const pages = page.getByRole('navigation', { name: 'Dashboard' });

  expect(await pages.getByRole('link', { name: 'Events' }).count()).toBe(1);
  expect(await pages.getByRole('link', { name: 'Audit log' }).count()).toBe(0);
});
