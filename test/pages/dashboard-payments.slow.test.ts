import { text as readAll } from 'node:stream/consumers';
import { expect, onTestFinished } from 'vitest';
import { openDatabase } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { DAY_MS } from '#lib/clock.ts';
import { setAsideBlockStore } from '#payments/store/set-aside-block-store.ts';
import { setAsideStore } from '#payments/store/set-aside-store.ts';
import { transferStore } from '#payments/store/transfer-store.ts';
import { record, text } from '../lab/json.ts';
import { aTransfer } from '../lab/payments-sessions.ts';
import { test as signedIn } from './dashboard-page.ts';

const COIN = `0x${'0'.repeat(40)}`;
const SHOP = `0x${'5e'.repeat(20)}`;

const test = signedIn
  /** Opens a checkout; returns its id. */
  .extend('checkout', ({ merchant }) => async (terms: object = {}): Promise<string> => {
    const place = { chain_id: 31_337, token_address: COIN, recipient_address: SHOP };
    const { body } = await merchant.post('/api/v1/checkout-sessions', {
      ...place,
      amount: '250000000000000000',
      ...terms,
    });
    return text(record(body).id);
  })
  .extend('simulate', ({ merchant }) => async (id: string, outcome: string): Promise<void> => {
    await merchant.post(`/api/v1/test/sessions/${id}/simulate`, { outcome });
  });

test('payments page by cursor, and the filters are part of the address', async ({
  page,
  signIn,
  checkout,
  simulate,
  complaints,
}) => {
  for (let made = 0; made < 21; made++) await checkout({ clientReferenceId: `order-${made}` });
  const paid = await checkout({ clientReferenceId: 'order-paid' });
  await simulate(paid, 'completed');
  await signIn();

  const rows = page.getByRole('region', { name: 'Checkouts' }).locator('tbody tr');
  await rows.filter({ hasText: 'order-paid' }).getByText('0.25 ETH').waitFor();
  expect(await rows.count()).toBe(20);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Page 2').waitFor();
  await rows.nth(2).waitFor({ state: 'detached' });
  expect(await rows.count()).toBe(2);

  await page.getByLabel('Status').selectOption('Completed');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL('**/dashboard/payments?*state=paid*');
  await rows.getByText('Completed').waitFor();
  expect(await rows.count()).toBe(1);
  await page.goto('/dashboard/payments');
  await page.getByLabel('Search').fill('ORDER-7');
  await page.getByLabel('Search').press('Enter');
  await page.waitForURL('**/dashboard/payments?*query=ORDER-7*');
  await rows.getByText('order-7').waitFor();
  expect(await rows.count()).toBe(1);
  expect(complaints).toEqual([]);
});

test('transfers are exported as a file, with the filters of the page', async ({
  page,
  signIn,
  checkout,
  simulate,
}) => {
  const failing = await checkout();
  await simulate(failing, 'failed');
  await signIn();
  await page.goto('/dashboard/payments?tab=transfers&status=failed');

  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Export (CSV)' }).click();
  const file = await download;

  expect(file.suggestedFilename()).toMatch(/\.csv$/);
  const content = await readAll(await file.createReadStream());
  expect(content.trim().split('\n')).toHaveLength(2);
  expect(content).toContain(failing);
});

test('a payment completes without a reload, with its transfer and its events', async ({
  page,
  signIn,
  checkout,
  simulate,
  complaints,
}) => {
  const id = await checkout({ customerName: '<b>Ada</b>' });
  await signIn();
  await page.goto(`/dashboard/payments/${id}`);
  await page.getByRole('heading', { name: '0.25 ETH Open' }).waitFor();
  const loaded = await page.evaluate(() => performance.timeOrigin);

  await simulate(id, 'completed');

  await page.getByRole('heading', { name: '0.25 ETH Completed' }).waitFor();
  await page.getByText('A transfer of').waitFor();
  await page.getByText('Checkout completed').waitFor();
  expect(await page.getByText('<b>Ada</b>').count()).toBe(1);
  expect(await page.getByRole('button', { name: 'Expire' }).count()).toBe(0);
  expect(await page.evaluate(() => performance.timeOrigin)).toBe(loaded);
  expect(complaints).toEqual([]);
});

test('a checkout expires after a confirmation, and a member who may only view does not see the button', async ({
  page,
  signIn,
  checkout,
}) => {
  const id = await checkout();
  await signIn();
  await page.goto(`/dashboard/payments/${id}`);
  await page.getByRole('button', { name: 'Expire' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('heading', { name: 'Open' }).waitFor();
  await page.getByRole('button', { name: 'Expire' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Expire' }).click();
  await page.getByRole('heading', { name: 'Expired' }).waitFor();

  const open = await checkout();
  await signIn('read_only');
  await page.goto(`/dashboard/payments/${open}`);
  await page.getByRole('link', { name: 'Open payment page' }).waitFor();
  expect(
    await page
      .getByRole('main')
      .getByRole('button', { name: /Expire|Simulate/ })
      .count(),
  ).toBe(0);
});

test('a transaction without a receipt is shown with the reason, and is tried again on request', async ({
  page,
  signIn,
  merchant,
  database,
  complaints,
}) => {
  const db = openDatabase(database);
  onTestFinished(() => db.destroy());
  const organization = record((await merchant.get('/api/v1/organization')).body);
  const owner = { organizationId: text(organization.id), mode: 'test' } as const;
  const place = { chainId: 31_337, tokenAddress: COIN, recipient: SHOP };
  const transfer = aTransfer({ ...place, amount: 1003n, blockTime: Date.now() });
  await transferStore(db).upsert(owner, transfer, Date.now());
  const unread = { txHash: transfer.txHash, reason: 'refused' } as const;
  await transaction(db, handle => setAsideStore(handle).add(31_337, unread, Date.now() - 30_000));
  await signIn();
  await page.goto('/dashboard');
  await page.getByText('One transaction is waiting').waitFor();
  await page.goto('/dashboard/unmatched');

  await page.getByText('the node refuses its receipt').waitFor();
  await page.getByText('Waiting for the receipt of its transaction').waitFor();
  const nextAttempt = async () => (await setAsideStore(db).nextAttempts(31_337)).get(transfer.txHash);
  const planned = (await nextAttempt()) ?? 0;
  await page.getByRole('button', { name: 'Try again now' }).click();

  await expect.poll(nextAttempt).toBeLessThan(planned);
  expect(complaints).toEqual([]);
});

test('the overview warns of blocks that are not read completely, which are tried again on request', async ({
  page,
  signIn,
  checkout,
  database,
  complaints,
}) => {
  await checkout();
  const db = openDatabase(database);
  onTestFinished(() => db.destroy());
  const store = setAsideBlockStore(db);
  const now = Date.now();
  const block = { part: 'coins', number: 1_000_000, hash: `0x${'b7'.repeat(32)}`, time: now } as const;
  await store.add(31_337, [{ ...block, reason: 'too_large' }], now - 60_000);
  onTestFinished(async () => store.remove((await store.all(31_337)).map(({ id }) => id)));
  for (const one of await store.all(31_337)) {
    await store.progress(one, { ...one, nextAttemptAt: now + DAY_MS }, now - 60_000);
  }
  await signIn();

  await page.goto('/dashboard');
  const warning = page.getByRole('status').filter({ hasText: 'No node returns whole blocks of' });
  await warning.getByRole('button', { name: 'Try again now' }).click();

  const nextAttempt = async () => (await store.all(31_337))[0]?.nextAttemptAt;
  await expect.poll(nextAttempt).toBeLessThanOrEqual(Date.now());
  expect(complaints).toEqual([]);
});

test('events are filtered by type, and one is shown as its receivers get it', async ({
  page,
  signIn,
  checkout,
  simulate,
  complaints,
}) => {
  const id = await checkout();
  await simulate(id, 'failed');
  await signIn();
  await page.goto('/dashboard/events');
  await page.getByLabel('Type').selectOption('Payment failed');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL('**/dashboard/events?type=payment.failed*');

  await page
    .getByRole('row')
    .filter({ hasText: id.slice(-6) })
    .getByRole('link', { name: 'Payment failed' })
    .click();

  await page.getByRole('heading', { name: 'Payment failed' }).waitFor();
  await page.getByText(`"session_id": "${id}"`).waitFor();
  await page.getByText('Deliveries').click();
  await page.getByText('No webhook receives events').waitFor();
  expect(complaints).toEqual([]);
});
