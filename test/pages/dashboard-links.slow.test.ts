import type { Locator } from 'playwright-core';
import { expect } from 'vitest';
import { list, record, text } from '../lab/json.ts';
import { test } from './dashboard-page.ts';

test('a link is created, and its address opens the pay page as previewed', async ({
  page,
  signIn,
  merchant,
  complaints,
}) => {
  await signIn();
  await page.goto('/dashboard/links/new');

  await page.getByLabel('Name', { exact: true }).fill('Field notebooks');
  await page.getByLabel('Amount', { exact: true }).fill('0.25');
  await page.locator('#price', { hasText: '0.25 ETH' }).waitFor();
  await page.getByText('Continue to payment', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Create link' }).click();

  await page.getByRole('heading', { name: 'Field notebooks Active' }).waitFor();
  await page.getByRole('img', { name: /QR code of/ }).waitFor();
  const { data } = record((await merchant.get('/api/v1/payment-links')).body);
  const created = record(list(data).find(one => record(one).name === 'Field notebooks'));
  expect(created.amount).toBe(`25${'0'.repeat(16)}`);
  await page.goto(text(created.url));
  await page.getByRole('button', { name: 'Continue to payment' }).waitFor();
  expect(complaints).toEqual([]);
});

test('the preview looks like the pay page, in the merchant’s colour', async ({ page, signIn, merchant }) => {
  const look = async (button: Locator) =>
    button.evaluate(element => {
      const { backgroundColor, color, borderColor, borderRadius, minHeight, font } =
        getComputedStyle(element);
      return { backgroundColor, color, borderColor, borderRadius, minHeight, font };
    });
  const theme = { name: 'Field notebooks', amount: '7', theme_color: '#ffe600' };
  const { body } = await merchant.post('/api/v1/payment-links', theme);
  const { id, url } = record(body);
  await signIn();

  await page.goto(`/dashboard/links/${text(id)}?tab=edit`);
  const preview = page.locator('.preview .primary');
  await expect.poll(async () => (await look(preview)).backgroundColor).toBe('rgb(255, 230, 0)');
  const previewed = await look(preview);
  await page.goto(text(url));

  expect(await look(page.locator('.primary'))).toEqual(previewed);
});

test('a refusal of the API is shown at its field, with code and request id', async ({ page, signIn }) => {
  await signIn();
  await page.goto('/dashboard/links/new');

  await page.getByLabel('Name', { exact: true }).fill('Field notebooks');
  await page.getByLabel('Amount', { exact: true }).fill('0.25');
  await page.getByText('Appearance').click();
  await page.getByLabel('Color', { exact: true }).fill('blue');
  await page.getByText('Appearance').click();
  await page.getByRole('button', { name: 'Create link' }).click();

  await page.getByRole('alert').getByText('invalid_field_value').waitFor();
  await page.getByRole('alert').getByText('request').waitFor();
  const colour = page.getByLabel('Color', { exact: true });
  expect(await colour.getAttribute('aria-invalid')).toBe('true');
  expect(await colour.evaluate(field => field === document.activeElement)).toBe(true);
});

test('an invalid field within a closed part of the form is shown', async ({ page, signIn }) => {
  await signIn();
  await page.goto('/dashboard/links/new');
  await page.getByLabel('Name', { exact: true }).fill('Field notebooks');
  await page.getByLabel('Amount', { exact: true }).fill('1,000');
  const part = page.getByText('Appearance');
  await part.click();
  const picture = page.locator('input[name=image_url]');
  await picture.fill('no address');
  await part.click();
  await picture.waitFor({ state: 'hidden' });

  await page.getByRole('button', { name: 'Create link' }).click();
  await picture.waitFor({ state: 'visible' });
  await expect.poll(() => picture.evaluate(field => field === document.activeElement)).toBe(true);

  await picture.fill('');
  await page.getByRole('button', { name: 'Create link' }).click();
  await page.locator('.field-error').getByText('Write 1000 or 1.').waitFor();
});

test('links are found by name and by state', async ({ page, signIn, merchant }) => {
  await merchant.post('/api/v1/payment-links', { name: 'Blue pencil', amount: '7' });
  const red = record(
    (await merchant.post('/api/v1/payment-links', { name: 'Red pencil', amount: '7' })).body,
  );
  await merchant.patch(`/api/v1/payment-links/${text(red.id)}`, { is_active: false });
  await signIn();
  await page.goto('/dashboard/links?search=pencil');
  await page.getByRole('link', { name: 'Blue pencil' }).waitFor();

  await page.getByLabel('Status').selectOption('Deactivated');
  await page.getByRole('button', { name: 'Apply' }).click();

  await page.waitForURL('**/dashboard/links?search=pencil&active=false');
  await page.getByRole('link', { name: 'Red pencil' }).waitFor();
  expect(await page.getByRole('link', { name: 'Blue pencil' }).count()).toBe(0);
});

test('a link is changed, switched off, and deleted after a confirmation', async ({
  page,
  signIn,
  merchant,
}) => {
  const { body } = await merchant.post('/api/v1/payment-links', { name: 'Old name', amount: '7' });
  const { id, url } = record(body);
  await signIn();
  await page.goto(`/dashboard/links/${text(id)}?tab=edit`);

  await page.getByLabel('Name', { exact: true }).fill('New name');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByRole('status').getByText('The link is updated').waitFor();
  await page.getByRole('heading', { name: 'New name Active' }).waitFor();
  expect((await merchant.get(`/api/v1/payment-links/${text(id)}`)).body).toMatchObject({
    name: 'New name',
    amount: '7',
  });

  await page.getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('status').getByText('deactivated').waitFor();
  expect((await fetch(text(url))).status).toBe(410);

  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  expect((await merchant.get(`/api/v1/payment-links/${text(id)}`)).status).toBe(200);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.waitForURL('**/dashboard/links');
  expect((await merchant.get(`/api/v1/payment-links/${text(id)}`)).status).toBe(404);
});

test('chain, token and recipient of a link can be edited until a checkout has begun', async ({
  page,
  signIn,
  merchant,
}) => {
  const { body } = await merchant.post('/api/v1/payment-links', { name: 'Field notebooks', amount: '7' });
  const id = text(record(body).id);
  const destination = page.locator(':is([name=chain_id], [name=token_address], [name=recipient_address])');
  const areDisabled = () =>
    destination.evaluateAll(fields => fields.map(field => field.matches(':disabled')));
  await signIn();

  await page.goto(`/dashboard/links/${id}?tab=edit`);
  await page.getByText('Leave empty for the organization’s default.').waitFor();
  const before = await areDisabled();
  await merchant.post('/api/v1/checkout-sessions', { payment_link_id: id });
  await page.reload();
  await page.getByText('cannot be changed once a checkout has begun').waitFor();

  expect(before).toEqual([false, false, false]);
  expect(await areDisabled()).toEqual([true, true, true]);
});

test('a link whose creation lost its answer is created once when the form is sent again', async ({
  page,
  signIn,
  merchant,
}) => {
  await signIn();
  await page.goto('/dashboard/links/new');
  await page.route(
    '**/api/v1/payment-links',
    async route => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );

  await page.getByLabel('Name', { exact: true }).fill('Sent twice');
  await page.getByLabel('Amount', { exact: true }).fill('0.25');
  await page.getByRole('button', { name: 'Create link' }).click();
  await page.getByRole('alert').getByText('The server could not be reached.').waitFor();
  await page.getByRole('button', { name: 'Create link' }).click();

  await page.getByRole('heading', { name: 'Sent twice Active' }).waitFor();
  const { data } = record((await merchant.get('/api/v1/payment-links?search=Sent')).body);
  expect(list(data)).toHaveLength(1);
});

test('the edit form changes only what was typed, even if the link has changed elsewhere', async ({
  page,
  signIn,
  merchant,
}) => {
  const { body } = await merchant.post('/api/v1/payment-links', { name: 'Old name', amount: '7' });
  const address = `/api/v1/payment-links/${text(record(body).id)}`;
  await signIn();
  await page.goto(`/dashboard/links/${text(record(body).id)}?tab=edit`);
  await page.getByLabel('Description', { exact: true }).fill('First');
  await merchant.patch(address, { name: 'New name' });
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByRole('heading', { name: 'New name' }).waitFor();

  await page.getByLabel('Description', { exact: true }).fill('Second');
  await page.getByRole('button', { name: 'Save changes' }).click();

  await expect
    .poll(async () => record((await merchant.get(address)).body))
    .toMatchObject({ name: 'New name', description: 'Second' });
});
