import { expect } from 'vitest';
import { record } from '../../lab/json.ts';
import { started, test } from './paid-page.ts';

const field = (id: string, type: string) => ({ id, type, label: id, required: false });

test('filled fields reach the merchant under their ids, and empty ones are omitted', async ({
  page,
  complaints,
  service,
  createLink,
}) => {
  const link = await createLink({
    name: 'Form',
    min_amount: '1000000',
    collect_shipping_address: true,
    shipping_options: [
      { id: 'slow', name: 'Slow', amount: '0' },
      { id: 'fast', name: 'Fast', amount: '500000' },
    ],
    form_schema: {
      fields: [
        field('mail', 'email'),
        field('copies', 'number'),
        field('gift', 'checkbox'),
        field('note', 'text'),
      ],
    },
  });
  await page.goto(`${link.url}?client_reference_id=order-7`);

  await page.getByLabel('Amount').fill('7,5');
  await page.getByLabel('mail').fill('ada@example.com');
  await page.getByLabel('copies').fill('3');
  await page.getByLabel('gift').check();
  await page.getByLabel('Street and number').fill('1 Mill Lane');
  await page.getByLabel('Name', { exact: true }).fill('Ada Lovelace');
  await page.getByLabel('Postal code').fill('CB2 1RX');
  await page.getByLabel('City').fill('Cambridge');
  await page.getByLabel('Fast').check();
  await page.locator('#price', { hasText: '8 USDS' }).waitFor();
  await page.getByRole('button', { name: 'Continue to payment' }).click();
  await page.locator('[aria-invalid=true][name="shipping_address.country"]').waitFor();
  await page.getByLabel('Country').selectOption({ label: 'United Kingdom' });
  await page.getByRole('button', { name: 'Continue to payment' }).click();
  await started(page);

  const id = page.url().split('/').at(-1);
  const answer = await fetch(`${service.url}/api/v1/checkout-sessions/${id}`, {
    headers: { Authorization: `Bearer ${service.demoKey}` },
  });
  expect(record(await answer.json())).toMatchObject({
    amount: '8000000',
    clientReferenceId: 'order-7',
    customerEmail: 'ada@example.com',
    form_data: { mail: 'ada@example.com', copies: 3, gift: true },
    shipping_address: {
      name: 'Ada Lovelace',
      line1: '1 Mill Lane',
      line2: null,
      zip: 'CB2 1RX',
      city: 'Cambridge',
      country: 'GB',
    },
    shipping_option: { id: 'fast' },
  });
  expect(complaints).toEqual([]);
});

test('a picture that cannot be loaded leaves no gap', async ({ page, createLink }) => {
  await page.route('https://shop.example/**', route => route.abort());
  const link = await createLink({
    name: 'Mug',
    amount: '1000000',
    image_url: 'https://shop.example/mug.png',
    branding: { logo_url: 'https://shop.example/logo.png' },
  });

  await page.goto(link.url);

  await page.locator('img').first().waitFor({ state: 'detached' });
  await page.locator('.product').waitFor({ state: 'detached' });
});
