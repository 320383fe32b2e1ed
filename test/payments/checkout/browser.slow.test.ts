import { parseUnits } from 'viem';
import { expect } from 'vitest';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import { record, text } from '../../lab/json.ts';
import { until } from '../../lab/until.ts';
import { payButton, REJECTED, started, status, test } from './paid-page.ts';

test('a payer opens a link, pays its price with a wallet, sees it confirmed and gets the receipt', async ({
  page,
  complaints,
  wallet,
  createLink,
  chain,
}) => {
  const link = await createLink({
    name: 'Field notebooks',
    amount: '12500000',
    return_url: 'https://books.example/?s={SESSION_ID}',
  });

  await page.goto(`${link.url}?client_reference_id=order-1042`);
  await page.getByRole('button', { name: 'Continue to payment' }).click();
  await started(page);
  const id = page.url().split('/').at(-1);
  await payButton(page).click();
  await status(page, 'sent').waitFor();
  await chain.mine();
  await status(page, 'confirming').waitFor();
  expect(await page.getByText('0 of 1 confirmation').isVisible()).toBe(true);
  await chain.mine();
  await status(page, 'paid').waitFor();

  const receipt = page.getByRole('region', { name: 'Receipt' });
  expect(await receipt.getByText('12.5 USDS').count()).toBeGreaterThan(0);
  expect(await receipt.getByText('Received').count()).toBe(0); // the price, without a tail
  expect(await receipt.getByRole('link', { name: /^0x[0-9a-f]{64}/ }).getAttribute('href')).toMatch(
    /^https:\/\/explorer\.example\/tx\/0x[0-9a-f]{64}$/,
  );
  expect(await receipt.getByRole('link', { name: 'Back to' }).getAttribute('href')).toBe(
    `https://books.example/?s=${id}`,
  );
  expect(wallet.asked.filter(method => /request|sign|send/i.test(method))).toEqual([
    'eth_requestAccounts',
    'personal_sign',
    'eth_sendTransaction',
  ]);
  expect(complaints).toEqual([]);
});

test('at the end of the time a page shows no address, although the server does not answer', async ({
  page,
  openCheckout,
}) => {
  await page.clock.install();
  await openCheckout(page, { amount: '4000000' });
  await status(page, 'waiting').waitFor();
  expect(await page.locator('.qr').count()).toBeGreaterThan(0);
  await page.route('**/api/v1/pay/sessions/**', route => route.abort());

  await page.clock.fastForward('01:00:00');

  await status(page, 'closing').waitFor();
  expect(await page.locator('.qr').count()).toBe(0);
  expect(await payButton(page).count()).toBe(0);
});

test('at its end a page no longer says that a use is reserved, although the server does not answer', async ({
  patientPage: page,
  service,
  post,
}) => {
  const terms = { name: 'The last notebook', amount: '4000000', max_uses: 1, reserve_uses: true };
  const link = await post('/payment-links', terms);
  const { body } = await post('/checkout-sessions', { payment_link_id: link.body.id });
  await page.clock.install();
  await page.goto(`${service.url}/pay/s/${text(body.id)}`);
  await page.getByText('Reserved for you until').waitFor();
  await page.route('**/api/v1/pay/sessions/**', route => route.abort());

  await page.clock.fastForward('10:01');

  await page.getByText('Reserved for you until').waitFor({ state: 'detached' });
  expect(await page.locator('.qr').count()).toBeGreaterThan(0);
});

test('a transfer from elsewhere completes the checkout with the tab closed', async ({
  browser,
  page,
  openCheckout,
  payFromElsewhere,
}) => {
  const tab = await browser.newPage();
  await openCheckout(tab, { amount: '3000000' });
  const url = tab.url();
  const units = await tab.locator('.amount').first().textContent();
  await tab.close();

  await payFromElsewhere(parseUnits(units?.trim() ?? '', 6));

  await page.goto(url);
  await status(page, 'paid').waitFor();
});

test('a payer can pay in the native coin by keyboard only', async ({
  page,
  complaints,
  wallet,
  createLink,
  confirmed,
}) => {
  const link = await createLink({
    name: 'Open amount',
    token_address: NATIVE_COIN,
    min_amount: '1000000000000000',
  });
  await page.goto(link.url);

  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.type('0.0001');
  await page.keyboard.press('Enter');
  await page.locator('.field-error', { hasText: 'The minimum is 0.001 ETH.' }).waitFor();
  await page.keyboard.press('Control+A');
  await page.keyboard.type('0.25');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await started(page);
  await page.locator('#pay:enabled').waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await status(page, 'sent').waitFor();
  await confirmed();

  expect(await page.locator('#price').textContent()).toBe('0.25 ETH');
  expect(wallet.asked).toContain('eth_sendTransaction');
  expect(complaints).toEqual([]);
});

test('a payment whose claim was lost with the connection is claimed on the next visit', async ({
  page,
  wallet,
  openCheckout,
  confirmed,
}) => {
  await openCheckout(page, { amount: '7000000' });

  await page.route('**/claims', route => route.abort());
  await payButton(page).click();
  await page.getByText('Sent. You may close this page.').waitFor();
  expect(await payButton(page).isDisabled()).toBe(true);
  await page.unroute('**/claims');
  await page.reload();
  await status(page, 'sent').waitFor();
  await confirmed();

  expect(wallet.asked.filter(method => method === 'eth_sendTransaction')).toHaveLength(1);
});

const BLOCKED = `throw new DOMException('Access is denied for this document.', 'SecurityError')`;

test.for([
  ['throws', BLOCKED],
  ['is null', 'return null'],
])(
  'a payment is sent once and followed to its receipt when session storage %s',
  async ([, answer], { page, wallet, openCheckout, confirmed }) => {
    await page.addInitScript(
      `Object.defineProperty(window, 'sessionStorage', { get() { ${answer}; }, configurable: true });`,
    );
    await page.clock.install();
    await openCheckout(page, { amount: '2000000' });

    await page.route('**/claims', route => route.abort());
    await page.locator('#pay:enabled').waitFor();
    await payButton(page).click();
    await page.getByText('Sent. You may close this page.').waitFor();
    expect(await payButton(page).isDisabled()).toBe(true);
    await page.unroute('**/claims');
    await page.clock.fastForward('01:00');
    await status(page, 'sent').waitFor();
    await confirmed();

    expect(wallet.asked.filter(method => method === 'eth_sendTransaction')).toHaveLength(1);
  },
);

test('the missing part is paid once: its button stays disabled while that payment is on its way', async ({
  page,
  wallet,
  openCheckout,
  payFromElsewhere,
  confirmed,
}) => {
  await openCheckout(page, { amount: '8000000' });
  wallet.refuse('eth_sendTransaction', REJECTED);
  await payButton(page).click();
  await page.getByText('You declined in the wallet').waitFor();
  wallet.refuse('eth_sendTransaction', null);
  await payFromElsewhere(3_000_000n);
  await status(page, 'partial').waitFor();

  await page.getByRole('button', { name: 'Pay 5 USDS' }).click();
  await page.getByText('Sent. You may close this page.').waitFor();
  expect(await payButton(page).isDisabled()).toBe(true);
  await confirmed();
});

test('an open page long-polls the state, and slowly for a day when the checkout has ended', async ({
  patientPage: page,
  openCheckout,
  post,
}) => {
  const asked: string[] = [];
  page.on('request', request => {
    if (request.url().includes('/status')) asked.push(request.url().replace(/.*\?/, ''));
  });
  let answered = 0;
  page.on('requestfinished', request => {
    if (request.url().includes('/status')) answered += 1;
  });
  await page.clock.install();
  const id = await openCheckout(page, { amount: '2200000' });
  await until(
    async () => asked.length,
    count => count === 2,
  );
  await page.clock.fastForward('00:20');
  expect(asked).toEqual(['wait=0', 'wait=25']);

  const ended = await post(`/checkout-sessions/${id}/expire`, {});
  await status(page, 'expired').waitFor();
  const before = asked.length;
  await page.clock.fastForward('00:29');
  await page.evaluate('fetch("/healthz")');
  const soon = asked.length;
  await page.clock.fastForward('00:02');
  // The page waits for the next time only after it has read the answer.
  await until(
    async () => Math.min(asked.length, answered),
    count => count === before + 1,
  );
  await page.evaluate('fetch("/healthz")');
  await page.clock.fastForward('24:31:00');
  await until(
    async () => asked.length,
    count => count === before + 2,
  );
  await page.clock.fastForward('10:00');
  await page.evaluate('fetch("/healthz")');

  expect(ended.status).toBe(200);
  expect(soon).toBe(before);
  expect(asked.slice(before)).toEqual(['wait=0', 'wait=0']);
});

test('the page of an expired checkout says by itself that a payment arrived late', async ({
  page,
  openCheckout,
  payFromElsewhere,
  post,
  service,
}) => {
  const id = await openCheckout(page, { amount: '2400000' });
  await status(page, 'waiting').waitFor();
  const checkout = await (await fetch(`${service.url}/api/v1/pay/sessions/${id}`)).json();
  await post(`/checkout-sessions/${id}/expire`, {});
  await status(page, 'expired').waitFor();

  await payFromElsewhere(BigInt(text(record(checkout).amount_due)));

  await status(page, 'paid_late').waitFor();
});

test('a rate-limited page says so and how long it waits', async ({
  patientPage: page,
  walletIn,
  openCheckout,
}) => {
  await walletIn(page);
  await page.route('**/status*', route => route.fulfill({ status: 429, headers: { 'Retry-After': '37' } }));
  await openCheckout(page, { amount: '2300000' });

  await page.getByText('too many requests from your network').waitFor();
  expect(await page.locator('#connection').textContent()).toContain('in 37 seconds');
  await payButton(page).click();
  await page
    .locator('#wallet-status', { hasText: 'Nothing was sent; please try again in 37 seconds' })
    .waitFor();
});

test('an error of the server is shown at its field, and shipping is added to the price', async ({
  page,
  createLink,
}) => {
  const link = await createLink({
    name: 'Form',
    amount: '7500000',
    shipping_options: [
      { id: 'slow', name: 'Slow', amount: '0' },
      { id: 'fast', name: 'Fast', amount: '500000' },
    ],
    form_schema: { fields: [{ id: 'phone', type: 'phone', label: 'Phone', required: true }] },
  });
  await page.goto(link.url);

  await page.getByRole('button', { name: 'Continue to payment' }).click();
  await page.locator('.field-error:not(:empty)').waitFor();
  expect(await page.getByLabel('Phone').getAttribute('aria-invalid')).toBe('true');
  await page.getByLabel('Phone').fill('nobody');
  await page.getByLabel('Fast').check();
  await page.locator('#price', { hasText: '8 USDS' }).waitFor();
  await page.getByRole('button', { name: 'Continue to payment' }).click();
  await page.getByText('The field must be a phone number').waitFor();
  expect(await page.getByLabel('Phone').getAttribute('aria-invalid')).toBe('true');
  await page.getByLabel('Phone').fill('+44 20 7946 0000');
  await page.getByRole('button', { name: 'Continue to payment' }).click();
  await started(page);

  expect(await page.locator('#price').textContent()).toBe('8 USDS');
});
