import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { record, text } from '../lab/json.ts';
import { auditOf } from '../support/page-faults.ts';
import { test } from './dashboard-page.ts';

test('totals are shown per month and per day of a time zone, and downloaded', async ({
  page,
  signIn,
  merchant,
  complaints,
}) => {
  const link = record(
    (await merchant.post('/api/v1/payment-links', { name: 'Tea', amount: '7000000' })).body,
  );
  const opened = await merchant.post('/api/v1/checkout-sessions', { payment_link_id: link.id });
  const id = text(record(opened.body).id);
  await merchant.post(`/api/v1/test/sessions/${id}/simulate`, { outcome: 'completed' });
  await signIn();
  await page.getByRole('navigation', { name: 'Dashboard' }).getByRole('link', { name: 'Totals' }).click();

  const months = page.getByRole('region', { name: 'Per month' }).getByRole('row');
  await months.nth(1).waitFor();
  await page.getByLabel('Interval').selectOption('Day');
  await page.getByLabel('Time zone').selectOption('Pacific/Kiritimati');
  await page.getByRole('button', { name: 'Apply' }).click();
  const days = page.getByRole('region', { name: 'Per day' }).getByRole('row');
  await days.nth(1).waitFor();
  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Export (CSV)' }).click();
  const lines = (await readFile(await (await downloading).path(), 'utf8')).split('\r\n');

  const shown = await days.nth(1).getByRole('cell').allInnerTexts();
  const [day, , , zone, , , symbol, , payments] = (lines[1] ?? '').split(',');
  expect([shown[0], shown[2], zone]).toEqual([day, payments, 'Pacific/Kiritimati']);
  expect(shown[6]).toContain(symbol);
  expect(await auditOf(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test('totals of a time without payments, and of one that is too long, say so', async ({ page, signIn }) => {
  await signIn();

  await page.goto('/dashboard/totals?from=2020-01-01&to=2020-12-31');
  await page.getByText('No payments and no refunds in this time.').waitFor();
  await page.goto('/dashboard/totals?interval=day&from=2020-01-01&to=2022-12-31');

  await page.getByRole('alert').waitFor();
});
