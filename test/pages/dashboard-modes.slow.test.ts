import { expect } from 'vitest';
import { startTestPayments, type TestPaymentsService, unreachableChain } from '../lab/payments-service.ts';
import { briskClock } from '../support/brisk-clock.ts';
import { test as onTestChains } from './dashboard-page.ts';

const LIVE = { ...unreachableChain, id: 8_453, name: 'Base', mode: 'live' } as const;

const test = onTestChains.extend(
  'service',
  { scope: 'file' },
  async ({ database }, { onCleanup }): Promise<TestPaymentsService> => {
    const service = await startTestPayments(database, {
      clock: briskClock,
      chains: [unreachableChain, LIVE],
    });
    onCleanup(service.close);
    return service;
  },
);

test('one page switches between live and test mode, each with its own chains and records', async ({
  page,
  signIn,
  merchant,
  complaints,
}) => {
  const terms = { name: 'Field notebooks', amount: '7' };
  expect((await merchant.post('/api/v1/payment-links', terms)).status).toBe(201);
  const menu = page.getByRole('banner');
  const chains = page.getByRole('combobox', { name: 'Chain' });
  const switchTo = async (mode: string) => {
    await menu.getByText('Demo shop').click();
    await menu.getByRole('button', { name: `Switch to ${mode} mode` }).click();
    await page.waitForURL('**/dashboard');
    await page.getByRole('heading', { name: 'Conversion of links' }).waitFor();
  };
  await signIn();
  await menu.getByText('Live', { exact: true }).waitFor();

  await page.goto('/dashboard/links');
  await page.getByText('No links yet.').waitFor();
  await page.goto('/dashboard/links/new');
  await chains.waitFor();
  expect(await chains.locator('option').allTextContents()).toEqual(['Base']);

  await switchTo('test');
  await menu.getByText('Test', { exact: true }).waitFor();
  await page.goto('/dashboard/links');
  await page.getByRole('link', { name: 'Field notebooks' }).waitFor();
  await page.goto('/dashboard/links/new');
  await chains.waitFor();
  expect(await chains.locator('option').allTextContents()).toEqual(['Local']);

  await switchTo('live');
  await menu.getByText('Live', { exact: true }).waitFor();
  expect(complaints).toEqual([]);
});
