import { expect } from 'vitest';
import { record, text } from '../lab/json.ts';
import { until } from '../lab/until.ts';
import { startReceiver } from '../lab/webhook-receiver.ts';
import type { ApiClient } from '../support/payments-api.ts';
import { test } from './dashboard-page.ts';

test('a failed delivery is shown as one that is retried, and then as delivered', async ({
  page,
  signIn,
  merchant,
  complaints,
}) => {
  let answer = 500;
  await using receiver = await startReceiver(() => answer);
  await signIn();
  await page.goto('/dashboard/webhooks');

  await page.getByRole('button', { name: 'Add webhook' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Endpoint URL').fill('not an address');
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await dialog.getByRole('alert').getByText('invalid_field_value').waitFor();
  await dialog.getByLabel('Endpoint URL').fill(`${receiver.url}/hook`);
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await page
    .getByRole('status')
    .getByText(/^whsec_/)
    .waitFor();
  expect(await dialog.isVisible()).toBe(false);

  await completeCheckout(merchant);
  await until(
    async () => receiver.arrivals.length,
    count => count >= 2,
  );

  await page.getByRole('link', { name: `${receiver.url}/hook` }).click();
  const row = page.getByRole('row').filter({ hasText: 'checkout.completed' });
  await row.getByText('Retrying').waitFor();
  await row.getByText('500', { exact: true }).waitFor();
  await row.getByRole('link').click();
  await page.getByRole('definition').getByText('The receiver answered 500.').waitFor();
  const sent = receiver.arrivals.find(({ headers }) => headers['x-service-event'] === 'checkout.completed');
  await page.getByText(`X-Service-Event-Id: ${sent?.eventId}`).waitFor();
  await page.getByText('"event": "checkout.completed"').waitFor();

  answer = 204;
  await page.getByRole('button', { name: 'Retry now' }).click();
  await page.getByRole('status').getByText('Delivered: the receiver responded 204.').waitFor();
  await page.getByText('Delivered', { exact: true }).waitFor();
  expect(receiver.arrivals.at(-1)?.hash).toBe(sent?.hash);
  expect(complaints.filter(line => !line.includes('status of 400'))).toEqual([]);
});

test('a webhook that ten failures disabled is enabled, and what it missed is replayed', async ({
  page,
  signIn,
  merchant,
  complaints,
}) => {
  let answer = 503;
  await using receiver = await startReceiver(() => answer);
  const { body } = await merchant.post('/api/v1/webhooks', {
    url: receiver.url,
    events: ['checkout.completed'],
  });
  const path = `/api/v1/webhooks/${text(record(record(body).data).id)}`;
  const isActive = async () => record(record((await merchant.get(path)).body).data).is_active;
  for (let i = 0; i < 10; i += 1) await completeCheckout(merchant);
  await until(isActive, is => is === false);
  await completeCheckout(merchant);
  await signIn();
  await page.goto(path.replace('/api/v1', '/dashboard'));
  await page.getByText('Ten or more events in a row failed').waitFor();

  answer = 204;
  await page.getByRole('button', { name: 'Enable' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Enable' }).click();
  const offer = page.getByRole('status').filter({ hasText: 'is active again' });
  await offer.getByRole('button', { name: 'Replay' }).click();
  const dialog = page.getByRole('dialog');
  expect(await dialog.getByLabel('Since').inputValue()).toMatch(/^20\d\d-\d\d-\d\dT\d\d:\d\d/);
  await dialog.getByRole('button', { name: 'Replay' }).click();
  await page.getByRole('status').getByText('sent again, in the background').waitFor();

  await until(
    async () => receiver.arrivals.length,
    count => count >= 11,
  );
  expect(complaints).toEqual([]);
});

test('a secret is rotated, and the new one is shown until it is dismissed, and once', async ({
  page,
  signIn,
  merchant,
}) => {
  await using receiver = await startReceiver();
  const { body } = await merchant.post('/api/v1/webhooks', { url: receiver.url, events: ['*'] });
  await signIn();
  await page.goto(`/dashboard/webhooks/${text(record(record(body).data).id)}`);

  await page.getByRole('button', { name: 'Send test event' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByRole('status').getByText('Test event delivered').waitFor();
  await page.getByRole('button', { name: 'Rotate secret' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click();

  const shown = page.getByRole('status').getByText(/^whsec_/);
  await shown.waitFor();
  expect(await shown.textContent()).not.toBe(record(record(body).data).secret);
  await page.getByRole('button', { name: 'Send test event' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByRole('status').getByText('Test event delivered').waitFor();
  expect(await shown.count()).toBe(1);
  await page.getByRole('button', { name: 'I have copied it' }).click();
  expect(await shown.count()).toBe(0);
  await page.reload();
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.locator('dt').getByText('Old secret expires').waitFor();
  expect(await page.getByText(/whsec_\w/).count()).toBe(0);
});

async function completeCheckout(merchant: ApiClient): Promise<void> {
  const { body } = await merchant.post('/api/v1/checkout-sessions', {
    amount: '5000000',
    chain_id: 31_337,
    token_address: `0x${'0'.repeat(40)}`,
    recipient_address: `0x${'5e'.repeat(20)}`,
  });
  await merchant.post(`/api/v1/test/sessions/${text(record(body).id)}/simulate`, { outcome: 'completed' });
}
