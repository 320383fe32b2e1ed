import { privateKeyToAccount } from 'viem/accounts';
import { expect } from 'vitest';
import { record, text } from '../lab/json.ts';
import { startReceiver } from '../lab/webhook-receiver.ts';
import { apiClient } from '../support/payments-api.ts';
import { test } from './dashboard-page.ts';

const CHANGES =
  /new|add|create|edit|delete|remove|switch|save|send|rotate|roll|revoke|retry|replay|duplicate|verify|link a chat|enable|disable|activate|turn o/i;

test('a member who may only view sees no control that changes anything', async ({
  page,
  signIn,
  merchant,
  complaints,
}) => {
  const link = record((await merchant.post('/api/v1/payment-links', { name: 'Notebook', amount: '7' })).body);
  await using receiver = await startReceiver(() => 500);
  const hook = { url: `${receiver.url}/in`, events: ['*'] };
  const webhook = record(record((await merchant.post('/api/v1/webhooks', hook)).body).data);
  const sentTest = record((await merchant.post(`/api/v1/webhooks/${text(webhook.id)}/test`, {})).body);
  const delivery = text(record(sentTest.data).delivery_id);
  await signIn('read_only');

  const pages: readonly (readonly [path: string, there: string])[] = [
    ['links', 'Notebook'],
    ['links/new', 'may not create links'],
    [`links/${text(link.id)}`, 'Details'],
    [`links/${text(link.id)}?tab=edit`, 'Details'],
    ['webhooks', hook.url],
    [`webhooks/${text(webhook.id)}`, 'test.ping'],
    [`webhooks/${text(webhook.id)}?tab=settings`, 'With failures'],
    [`webhooks/${text(webhook.id)}?delivery=${delivery}`, 'Error'],
    ['keys', 'Only owners and developers'],
    ['people', 'Owners invite people'],
    ['notifications', 'Not linked'],
    ['organization', 'Chain of new links'],
  ];
  for (const [path, there] of pages) {
    await page.goto(`/dashboard/${path}`);
    const main = page.getByRole('main');
    await main.getByText(there).filter({ visible: true }).first().waitFor();

    const buttons = await main.getByRole('button').filter({ visible: true }).allTextContents();
    expect([path, buttons.filter(name => CHANGES.test(name))]).toEqual([path, []]);
    expect([path, await main.locator('form:not(.filters), dialog, textarea').count()]).toEqual([path, 0]);
    expect([path, await main.getByRole('link', { name: /New link|Edit/ }).count()]).toEqual([path, 0]);
  }
  expect(complaints).toEqual([]);
});

test('a key is created and shown once, and so is the one that takes its place', async ({
  page,
  signIn,
  service,
}) => {
  await signIn('developer');
  await page.goto('/dashboard/keys');

  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Reporting');
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  const secret = page.getByRole('status').getByText(/^tg_test_/);
  await secret.waitFor();
  const created = await apiClient(service.url, text(await secret.textContent())).get('/api/v1/payment-links');
  expect(created.status).toBe(200);
  await page.getByRole('row').filter({ hasText: 'Reporting' }).getByText('read', { exact: true }).waitFor();

  const row = page.getByRole('row').filter({ hasText: 'Reporting' });
  await row.getByRole('button', { name: 'Roll' }).click();
  await row.getByRole('dialog').getByRole('button', { name: 'Roll' }).click();
  await secret.nth(1).waitFor();
  const rolled = await apiClient(service.url, text(await secret.nth(1).textContent())).get(
    '/api/v1/payment-links',
  );
  expect(rolled.status).toBe(200);
});

test('mail is set up and tested, and a refusal is shown at its field', async ({ page, signIn, merchant }) => {
  await signIn();
  await page.goto('/dashboard/notifications');

  await page.getByLabel('Email address').fill('ada@books.example');
  await page.getByLabel('Send emails about the events below').check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('status').getByText('The settings are saved.').waitFor();
  await page.getByRole('button', { name: 'Send test email' }).click();
  await page.getByRole('status').getByText('ada@books.example').waitFor();
  expect(record((await merchant.get('/api/v1/notifications')).body).data).toMatchObject({
    email_enabled: true,
    email_address: 'ada@books.example',
  });
  await page.getByRole('button', { name: 'Link a chat' }).click();
  await page.getByRole('alert').getByText('request').waitFor();
});

test('the profile and the ownership of a recipient are changed', async ({ page, signIn, merchant }) => {
  const owner = privateKeyToAccount(`0x${'7'.repeat(64)}`);
  await signIn();
  await page.goto('/dashboard/organization');

  await page.getByLabel('Name', { exact: true }).fill('Corner Books');
  await page.getByRole('button', { name: 'Save profile' }).click();
  await page.getByRole('status').getByText('The profile is saved').waitFor();
  expect((await merchant.get('/api/v1/organization')).body).toMatchObject({ name: 'Corner Books' });

  await page.getByRole('button', { name: 'Add recipient' }).click();
  const adding = page.getByRole('dialog', { name: 'Add a recipient' });
  await adding.getByLabel('Address').fill(owner.address);
  await adding.getByRole('button', { name: 'Add', exact: true }).click();
  const row = page.getByRole('row').filter({ has: page.getByTitle(owner.address.toLowerCase()) });
  await row.getByText('Not verified').waitFor();
  await row.getByRole('button', { name: 'Verify' }).click();
  const dialog = row.getByRole('dialog');
  const message = text(await dialog.locator('pre').textContent());
  await row.getByLabel('Signature').fill(await owner.signMessage({ message }));
  await dialog.getByRole('button', { name: 'Verify' }).click();
  await row.getByText('Verified by signature').waitFor();
});

test('tolerance and origins are changed, and a refused origin is shown at the field of all', async ({
  page,
  signIn,
  merchant,
}) => {
  await signIn();
  await page.goto('/dashboard/organization');
  const tolerance = page.getByRole('form', { name: 'Payments that are a little short' });
  const security = page.getByRole('form', { name: 'Security' });
  const origins = security.getByLabel('Origins of your websites');

  await tolerance.getByLabel('Accept as paid when short by up to').fill('1.5');
  await tolerance.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('status').getByText('Open checkouts keep theirs.').waitFor();
  await origins.fill('https://shop.example\nshop');
  await security.getByRole('button', { name: 'Save' }).click();
  await expect.poll(() => origins.getAttribute('aria-invalid')).toBe('true');
  await origins.fill('https://shop.example');
  await security.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('status').getByText('The settings are saved.').waitFor();

  expect((await merchant.get('/api/v1/organization')).body).toMatchObject({
    payment_tolerance: 1.5,
    origins: ['https://shop.example'],
  });
});
