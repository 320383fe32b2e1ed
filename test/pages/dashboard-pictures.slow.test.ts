import { expect } from 'vitest';
import { list, record, text } from '../lab/json.ts';
import { png } from '../payments/images/picture-bytes.ts';
import { test } from './dashboard-page.ts';

/** A PNG of one pixel, which browsers show. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
const file = (name: string, buffer: Buffer) => ({ name, mimeType: 'image/png', buffer });

test('a picture is uploaded from the form of a link, and shown to payers', async ({
  page,
  signIn,
  merchant,
  complaints,
}) => {
  await signIn();
  await page.goto('/dashboard/links/new');
  await page.getByLabel('Name', { exact: true }).fill('Field notebooks');
  await page.getByLabel('Amount', { exact: true }).fill('0.25');
  await page.getByText('Appearance', { exact: true }).click();
  const address = page.getByRole('textbox', { name: 'Image', exact: true });

  await page.getByLabel('Upload a file: Image').setInputFiles(file('notebook.png', PIXEL));
  const preview = page.getByRole('img', { name: 'Preview: Image' });
  await preview.waitFor();
  await page.waitForFunction(() => [...document.images].every(image => image.complete));

  expect(await preview.evaluate(image => image instanceof HTMLImageElement && image.naturalWidth)).toBe(1);
  expect(await address.inputValue()).toMatch(/\/pay\/images\/img_[0-9A-Za-z]{24}$/);
  await page.getByRole('button', { name: 'Create link' }).click();
  await page.waitForURL('**/dashboard/links/pl_*');
  const [link] = list(record((await merchant.get('/api/v1/payment-links')).body).data).map(record);
  await page.goto(text(link?.url));
  const shown = page.locator('img.product');
  await shown.waitFor();
  expect(await shown.evaluate(image => image instanceof HTMLImageElement && image.naturalWidth)).toBe(1);
  expect(complaints).toEqual([]);
});

test('a file that is no picture, or too large, is refused in words', async ({ page, signIn }) => {
  await signIn();
  await page.goto('/dashboard/organization');
  const chooser = page.getByLabel('Upload a file: Logo');

  await chooser.setInputFiles(file('notes.png', Buffer.from('not a picture')));
  await page.getByText('This file is not a PNG, JPEG, WebP or GIF picture').waitFor();
  await chooser.setInputFiles(file('poster.png', Buffer.concat([png(3, 2), Buffer.alloc(2 ** 20)])));
  await page.getByText('This file is too large: a picture may have 1 MB.').waitFor();
  await chooser.setInputFiles(file('logo.png', PIXEL));
  await page.getByRole('img', { name: 'Preview: Logo' }).waitFor();

  await page.getByRole('button', { name: 'Save profile' }).click();
  await page.getByText('The profile is saved.').waitFor();
});

test('the button that uploads a file shows the focus of the keyboard', async ({ page, signIn }) => {
  await signIn();
  await page.goto('/dashboard/organization');
  const chooser = page.getByLabel('Upload a file: Logo');
  const button = page.locator('.picture-field', { has: chooser }).getByText('Upload a file');
  const outline = () => button.evaluate(element => getComputedStyle(element).outlineStyle);
  await button.waitFor();
  expect(await outline()).toBe('none');

  await page.getByRole('textbox', { name: 'Logo', exact: true }).focus();
  await page.keyboard.press('Tab');

  expect(await chooser.evaluate(input => input === document.activeElement)).toBe(true);
  expect(await outline()).toBe('solid');
});
