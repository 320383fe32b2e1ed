import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { openDatabase } from '#db/open.ts';
import { transferStore } from '#payments/store/transfer-store.ts';
import { record, text } from '../lab/json.ts';
import { allDue } from '../lab/payments-records.ts';
import { aTransfer } from '../lab/payments-sessions.ts';
import { auditOf } from '../support/page-faults.ts';
import { test as signedIn } from './dashboard-page.ts';

const COIN = `0x${'0'.repeat(40)}`;
const PLACE = {
  chain_id: 31_337,
  token_address: COIN,
  recipient_address: `0x${'5e'.repeat(20)}`,
};

const test = signedIn
  /** Opens a checkout; returns its id. */
  .extend('checkout', ({ merchant }) => async (terms: object): Promise<string> => {
    const { body } = await merchant.post('/api/v1/checkout-sessions', { ...PLACE, ...terms });
    return text(record(body).id);
  })
  /** A confirmed transfer that matched nothing. */
  .extend('unmatched', ({ merchant, database }) => async (amount: string): Promise<string> => {
    const db = openDatabase(database);
    onTestFinished(() => db.destroy());
    const organization = record((await merchant.get('/api/v1/organization')).body);
    const transfer = aTransfer({
      chainId: PLACE.chain_id,
      tokenAddress: COIN,
      recipient: PLACE.recipient_address,
      amount: BigInt(amount),
      blockTime: Date.now(),
    });
    const store = transferStore(db);
    await store.upsert({ organizationId: text(organization.id), mode: 'test' }, transfer, Date.now());
    const unconfirmed = await store.unconfirmed(allDue(PLACE.chain_id));
    const [kept] = unconfirmed.filter(({ txHash }) => txHash === transfer.txHash);
    await store.confirm(kept === undefined ? [] : [kept], Date.now());
    return text(kept?.id);
  });

const rowOf = (page: Page, amount: string) => page.getByRole('row').filter({ hasText: `${amount} ETH` });

/** Checks an open dialog on a phone and a desktop, fills in the reason and confirms. */
async function decide(page: Page, label: string, reason: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  expect(await auditOf(page)).toEqual([]);
  await dialog.getByLabel('Reason').fill(reason);
  await dialog.getByRole('button', { name: label }).click();
  await dialog.waitFor({ state: 'hidden' });
}

test('a transfer is given to the best candidate, and its sold-out checkout is accepted beyond the uses of its link', async ({
  page,
  merchant,
  signIn,
  unmatched,
  complaints,
}) => {
  const amount = '310000000000000000';
  const terms = { ...PLACE, name: 'Last notebook', amount, max_uses: 1 };
  const link = record((await merchant.post('/api/v1/payment-links', terms)).body);
  const open = async () =>
    text(record((await merchant.post(`/api/v1/pay/links/${text(link.short_code)}/sessions`, {})).body).id);
  const [bought, late] = [await open(), await open()];
  await merchant.post(`/api/v1/test/sessions/${bought}/simulate`, { outcome: 'completed' });
  await unmatched(amount);
  await signIn();

  await page.goto('/dashboard/unmatched?status=open');
  await rowOf(page, '0.31').getByRole('button', { name: 'Assign' }).click();
  const best = page.getByRole('dialog').getByRole('radio').first();
  await best.waitFor();
  expect([await best.inputValue(), await best.isChecked()]).toEqual([late, true]);
  await page.getByRole('dialog').getByText('Last notebook').waitFor();
  await decide(page, 'Assign', 'Told us by mail');
  await page.getByText('No transfers match these filters.').waitFor();
  await page.goto(`/dashboard/payments/${late}`);
  await page.getByRole('heading', { name: 'Paid, sold out' }).waitFor();
  await page.getByText('was assigned to this checkout').waitFor();
  await page.getByText('Reason: Told us by mail').waitFor();
  await page.getByRole('button', { name: 'Accept' }).click();
  await page
    .getByText(
      'The link has 1 use, and 1 is taken: accepting counts use 2, which is more than the link allows.',
    )
    .waitFor();
  await decide(page, 'Accept', 'One was left after all');

  await page.getByRole('heading', { name: '0.31 ETH Completed' }).waitFor();
  await page.getByText('The checkout was accepted as paid.').waitFor();
  await page.getByText(/Owner\s*Reason: One was left after all/).waitFor();
  expect(await page.getByRole('button', { name: /Accept|Move/ }).count()).toBe(0);
  expect(complaints).toEqual([]);
});

test('a payment after the deadline is accepted, unless refunds have reserved it', async ({
  page,
  database,
  signIn,
  merchant,
  checkout,
  unmatched,
}) => {
  const amount = '350000000000000000';
  const id = await checkout({ amount });
  const db = openDatabase(database);
  onTestFinished(() => db.destroy());
  // No chain is watched here, and a session ends by time only when its chain has been read up to its end.
  const ended = { status: 'expired', ended_reason: 'time', ended_at: Date.now() } as const;
  await db('checkout_sessions').where({ id }).update(ended);
  await unmatched(amount);
  await signIn();
  await page.goto('/dashboard/unmatched?status=open');
  await rowOf(page, '0.35').getByRole('button', { name: 'Assign' }).click();
  await page.getByRole('dialog').getByText(id.slice(-6)).waitFor();
  await decide(page, 'Assign', 'The bank holiday delayed it');

  await page.goto(`/dashboard/payments/${id}`);
  const heading = page.getByRole('heading', { name: '0.35 ETH Paid late' });
  const accept = page.getByRole('button', { name: 'Accept' });
  await accept.waitFor();
  const to = `0x${'7a'.repeat(20)}`;
  const destination = { destination_address: to, destination_confirmation: to };
  const { body } = await merchant.post('/api/v1/refunds', { session_id: id, ...destination });
  await page.reload();
  await heading.waitFor();
  expect(await accept.count()).toBe(0);
  await merchant.post(`/api/v1/refunds/${text(record(body).id)}/cancel`, {});
  await page.reload();
  await accept.click();
  await page.getByText('0.35 ETH of 0.35 ETH arrived.').waitFor();
  await decide(page, 'Accept', 'Still in stock');

  await page.getByRole('heading', { name: '0.35 ETH Completed' }).waitFor();
});

test('a transfer is assigned to a checkout that is no candidate by its typed id', async ({
  page,
  signIn,
  checkout,
  unmatched,
}) => {
  const id = await checkout({ amount: '320000000000000000' });
  await unmatched('1003');
  await signIn();
  await page.goto('/dashboard/unmatched?status=open');

  await rowOf(page, '0.000000000000001003').getByRole('button', { name: 'Assign' }).click();
  await page.getByText('No open or lately ended checkout').waitFor();
  await page.getByLabel('Checkout ID').fill(id);
  await decide(page, 'Assign', 'A part of it');

  await page.goto(`/dashboard/payments/${id}`);
  await page.getByRole('heading', { name: 'Partly paid' }).waitFor();
  await page.getByText('assigned by hand').waitFor();
});

test('a transfer is dismissed with a reason, can still be refunded, and is restored', async ({
  page,
  signIn,
  unmatched,
  complaints,
}) => {
  await unmatched('330000000000000000');
  await signIn();
  await page.goto('/dashboard/unmatched?status=open');
  const row = rowOf(page, '0.33');

  await row.getByRole('button', { name: 'Dismiss' }).click();
  await decide(page, 'Dismiss', 'A deposit of our own');
  await row.waitFor({ state: 'detached' });
  await page.getByLabel('Status').selectOption('Dismissed');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL(/\/dashboard\/unmatched\?.*status=dismissed/);
  await row.getByText('Reason: A deposit of our own').waitFor();
  await row.getByRole('link', { name: 'Refund' }).waitFor();
  expect(await row.getByRole('button', { name: 'Assign' }).count()).toBe(0);
  await row.getByRole('button', { name: 'Restore' }).click();
  await decide(page, 'Restore', 'It was a payment after all');
  await row.waitFor({ state: 'detached' });
  await page.goto('/dashboard/unmatched?status=open');

  await row.getByRole('button', { name: 'Assign' }).waitFor();
  await signIn('read_only');
  await page.goto('/dashboard/unmatched?status=open');
  await row.waitFor();
  expect(await row.getByRole('button', { name: /Assign|Dismiss/ }).count()).toBe(0);
  expect(complaints).toEqual([]);
});

test('a payment of an ended checkout is moved to an open one, and both stories say so', async ({
  page,
  merchant,
  signIn,
  checkout,
  unmatched,
  complaints,
}) => {
  const amount = '340000000000000000';
  const ended = await checkout({ amount });
  await merchant.post(`/api/v1/checkout-sessions/${ended}/expire`);
  const transfer = await unmatched(amount);
  await merchant.post(`/api/v1/unmatched-transfers/${transfer}/assign`, { session_id: ended });
  const target = await checkout({ amount, customerName: 'Ada Lovelace' });
  await signIn();
  await page.goto(`/dashboard/payments/${ended}`);

  await page.getByText('It cannot be accepted, because you ended it.').waitFor();
  await page.getByRole('button', { name: 'Move' }).click();
  await page.getByRole('dialog').getByRole('radio', { name: 'Ada Lovelace' }).check();
  await decide(page, 'Move', 'Her new order');

  await page.getByText('was moved to').waitFor();
  await page.getByText('Reason: Her new order').waitFor();
  await page.goto(`/dashboard/payments/${target}`);
  await page.getByRole('heading', { name: '0.34 ETH Completed' }).waitFor();
  await page.getByText('was moved here from').waitFor();
  await page.getByText('Reason: Her new order').waitFor();
  expect(await page.getByRole('button', { name: 'Move' }).count()).toBe(0);
  expect(complaints).toEqual([]);
});
