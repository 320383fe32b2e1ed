import { getAddress } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS } from '#lib/clock.ts';
import type { CheckoutSession } from '#payments/model/session.ts';
import { PAGE_LIFETIME_MS, type ServedPages, servePages } from '../../support/checkout-pages.ts';

const HASH = `0x${'4f'.repeat(32)}`;
const PAYER = `0x${'3c'.repeat(20)}`;
const PAID = {
  status: 'completed',
  paymentStatus: 'paid',
  amountReceived: 2_500_000n,
  txHash: HASH,
} as const;

let pages: ServedPages;
beforeAll(async () => {
  pages = await servePages();
});
afterAll(() => pages[Symbol.asyncDispose]());

async function shown(changes: Partial<CheckoutSession>) {
  await chainInTime();
  const session = await pages.session(await pages.link(), {}, changes);
  return (await pages.get(`/pay/s/${session.id}`)).text;
}

const DELAY = 'Payments on Local network are detected with a delay. A payment that was sent is not lost';
/** A chain is late `LATE_MS` after it was last read. Its lateness is checked every `READ_AGAIN_MS`. */
const LATE_MS = 60_000;
const READ_AGAIN_MS = 5_000;

/** Has the chain read now, in the sight of the pages too. */
async function chainInTime(): Promise<void> {
  pages.clock.advance(READ_AGAIN_MS);
  await pages.looked();
}

async function shownAfter(silenceMs: number, changes: Partial<CheckoutSession> = {}) {
  const session = await pages.session(await pages.link(), {}, changes);
  const page = () => pages.get(`/pay/s/${session.id}`);
  await chainInTime();
  const before = await page();
  pages.clock.advance(silenceMs);
  const after = await pages.get(`/pay/s/${session.id}`, {
    'If-None-Match': before.headers.get('etag') ?? '',
  });
  return { before: before.text, after };
}

/** A page without the data of its script. */
const visible = (text: string) => text.replace(/data-page="[^"]*"/, '');
const asksForPayment = (text: string) => text.includes('id="pay"');

test.each<[string, Partial<CheckoutSession>, string[], boolean]>([
  ['waiting', {}, ['Waiting for your payment', 'Pay before'], true],
  [
    'sent',
    { txHash: HASH, payerAddress: PAYER },
    ['on its way', 'paid twice', 'explorer.example/tx/0x4f'],
    true,
  ],
  [
    'confirming',
    { paymentStatus: 'confirming', confirmations: 2, txHash: HASH },
    ['2 of 3 confirmations', 'You may close this page', '<progress max="3" value="2"'],
    false,
  ],
  [
    'partial',
    {
      paymentStatus: 'underpaid',
      amountReceived: 2_000_000n,
      signedAddress: PAYER,
      payerAddress: PAYER,
      txHash: HASH,
    },
    [
      '0.5 USDC still to pay',
      '2 USDC of 2.5 USDC received',
      `from the same wallet, <code>${getAddress(PAYER)}`,
      'uint256=500000"',
    ],
    true,
  ],
  [
    'failed',
    { paymentStatus: 'failed', failureReason: 'reverted', txHash: HASH },
    ['The payment failed', 'it failed; the amount was not transferred', 'try again'],
    true,
  ],
  [
    'sold_out',
    { status: 'expired', endedReason: 'sold_out' },
    ['The last one was bought', 'do not send anything', 'do not pay again'],
    false,
  ],
  [
    'paid_sold_out',
    {
      status: 'expired',
      endedReason: 'sold_out',
      paymentStatus: 'paid',
      amountReceived: 2_500_000n,
      txHash: HASH,
    },
    ['Sold out before your payment arrived', '2.5 USDC arrived', 'do not pay again'],
    false,
  ],
  [
    'paid_unproven',
    {
      status: 'expired',
      endedReason: 'unproven',
      paymentStatus: 'paid',
      amountReceived: 2_500_000n,
      txHash: HASH,
    },
    ['is being checked', '2.5 USDC arrived', 'do not pay again'],
    false,
  ],
  [
    'partial',
    { status: 'expired', paymentStatus: 'underpaid', amountReceived: 2_000_000n, isLate: true, txHash: HASH },
    ['2 USDC arrived, 0.5 USDC is missing', 'do not send the rest', 'Corner Books can see what arrived'],
    false,
  ],
  [
    'dropped',
    { paymentStatus: 'failed', failureReason: 'reorged', txHash: HASH },
    ['dropped your payment', 'It may come back', 'pay again below'],
    true,
  ],
  [
    'failed',
    { status: 'expired', paymentStatus: 'failed', failureReason: 'reverted', txHash: HASH },
    ['The payment failed', 'do not send anything now'],
    false,
  ],
  [
    'overpaid',
    { ...PAID, amountReceived: 5_000_000n, amountOverpaid: 2_500_000n },
    ['Paid. 2.5 USDC too much', 'They can see that', 'Receipt'],
    false,
  ],
  [
    'paid',
    { ...PAID, completedAt: Date.UTC(2026, 4, 4, 12, 30) },
    ['Paid. Thank you!', 'Receipt', '4 May 2026'],
    false,
  ],
  ['dropped', { ...PAID, isReorged: true }, ['dropped your payment', 'before you pay again'], false],
  [
    'paid_late',
    { status: 'expired', paymentStatus: 'paid', isLate: true, amountReceived: 2_500_000n, txHash: HASH },
    ['arrived late', '2.5 USDC arrived after', 'do not pay again'],
    false,
  ],
  [
    'confirming',
    { status: 'expired', paymentStatus: 'confirming', isLate: true, confirmations: 1, txHash: HASH },
    ['after the deadline', '1 of 3 confirmations', 'do not pay again'],
    false,
  ],
  ['expired', { status: 'expired' }, ['This checkout has expired', 'do not send anything'], false],
])(
  'a session that is %s says so, and asks for money only while it can be paid',
  async (name, changes, parts, asks) => {
    const text = await shown(changes);

    expect(text).toContain(`data-state-name="${name}"`);
    for (const part of parts) expect(text).toContain(part);
    expect(asksForPayment(text)).toBe(asks);
  },
);

function withoutReceipt(text: string): string {
  return text.replace(/<section class="receipt"[\s\S]*?<\/section>/, '');
}

test('an open session whose link has no use left says so, and shows no address', async () => {
  await chainInTime();
  const link = await pages.link({ maxUses: 1 });
  const [waiting, claimed] = [await pages.session(link), await pages.session(link, {}, { txHash: HASH })];
  await pages.used(link);
  const pageOf = async ({ id }: CheckoutSession) => (await pages.get(`/pay/s/${id}`)).text;

  const sold = await pageOf(waiting);
  const sent = await pageOf(claimed);

  expect(sold).toContain('data-state-name="sold_out"');
  expect(sold).toContain('Please do not send anything');
  expect(sent).toContain('data-state-name="sent"');
  for (const text of [sold, withoutReceipt(sent)]) {
    expect(asksForPayment(text)).toBe(false);
    expect(visible(text).toLowerCase()).not.toContain(link.recipientAddress);
  }
});

test('an open session says that its use is reserved, and the others of the link show no address', async () => {
  await chainInTime();
  const link = await pages.link({ maxUses: 1, reserveUses: true });
  const until = pages.clock.now() + 600_000;
  const [reserved, other, partial, failed, dropped] = [
    await pages.session(link, {}, { useReservedUntil: until }),
    await pages.session(link),
    await pages.session(link, {}, { paymentStatus: 'underpaid', amountReceived: 1n, txHash: HASH }),
    await pages.session(link, {}, { paymentStatus: 'failed', failureReason: 'reverted', txHash: HASH }),
    await pages.session(link, {}, { paymentStatus: 'failed', failureReason: 'reorged', txHash: HASH }),
  ];
  const pageOf = async ({ id }: CheckoutSession) => (await pages.get(`/pay/s/${id}`)).text;

  const own = await pageOf(reserved);
  const waiting = await pageOf(other);
  const others = [await pageOf(partial), await pageOf(failed), await pageOf(dropped)];

  expect(own).toContain('Reserved for you until');
  expect(asksForPayment(own)).toBe(true);
  expect(waiting).toContain('data-state-name="reserved"');
  expect(waiting).toContain('The next reservation ends at');
  for (const text of [waiting, ...others]) {
    expect(text).toContain('Please do not send anything yet');
    expect(text).not.toContain('again below');
    expect(asksForPayment(text)).toBe(false);
    expect(visible(withoutReceipt(text)).toLowerCase()).not.toContain(link.recipientAddress);
  }
});

test('a reservation is shown until its end', async () => {
  await chainInTime();
  const link = await pages.link({ maxUses: 1, reserveUses: true });
  const until = pages.clock.now() + 1;
  const { id } = await pages.session(link, {}, { useReservedUntil: until });
  const page = () => pages.get(`/pay/s/${id}`);

  const before = await page();
  pages.clock.advance(1);
  const after = await page();

  expect(before.text).toContain('Reserved for you until');
  expect(after.text).not.toContain('Reserved for you until');
  expect(asksForPayment(after.text)).toBe(true);
  expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
});

test('the page of a link says that all uses are reserved, reloads, and has a form again after them', async () => {
  const link = await pages.link({ maxUses: 1, reserveUses: true });
  await pages.session(link, {}, { useReservedUntil: pages.clock.now() + 600_000 });
  const page = () => pages.get(`/pay/${link.shortCode}`);

  const { status, text } = await page();
  pages.clock.advance(615_000);
  const free = await page();

  expect(status).toBe(200);
  expect(text).toContain('All are reserved right now');
  expect(text).toContain('The next reservation ends at');
  expect(text).not.toContain('<form');
  expect(text.replaceAll(/<noscript>.*?<\/noscript>/gs, '')).toContain('http-equiv="refresh" content="20"');
  expect(free.text).toContain('<form');
  expect(free.text).not.toContain('http-equiv="refresh"');
});

test('the rest of a part that the merchant assigned is paid with the wallet button only', async () => {
  await chainInTime();
  const session = await pages.session(
    await pages.link(),
    {},
    { paymentStatus: 'underpaid', amountReceived: 2_000_000n, payerAddress: PAYER, txHash: HASH },
  );

  const { text } = await pages.get(`/pay/s/${session.id}`);

  expect(text).toContain('Send the remaining 0.5 USDC with the button below');
  expect(asksForPayment(text)).toBe(true);
  expect(visible(text).toLowerCase()).not.toContain(session.recipientAddress);
});

test('a session past its end asks for no payment, even before it is marked as expired', async () => {
  const session = await pages.session(await pages.link());

  pages.clock.advance(PAGE_LIFETIME_MS);
  const { text } = await pages.get(`/pay/s/${session.id}`);

  expect(text).toContain('data-state-name="closing"');
  expect(asksForPayment(text)).toBe(false);
});

test('a confirming payment is shown as such even after the end of its session', async () => {
  const session = await pages.session(await pages.link(), {}, { paymentStatus: 'confirming', txHash: HASH });

  pages.clock.advance(2 * PAGE_LIFETIME_MS);
  const { text } = await pages.get(`/pay/s/${session.id}`);

  expect(text).toContain('data-state-name="confirming"');
});

test.each(['reverted', 'cancelled', 'replaced', 'not_found'] as const)(
  'a payment that was %s says why',
  async failureReason => {
    const text = await shown({ paymentStatus: 'failed', failureReason, txHash: HASH });

    expect(text).toMatch(/<p>The (network|transaction|wallet)[^<]+\. Nothing was received/);
  },
);

test('without scripts a page reloads until its state is final', async () => {
  expect(await shown({})).toContain('<noscript><meta http-equiv="refresh" content="20"/></noscript>');
  expect(await shown(PAID)).not.toContain('http-equiv="refresh"');
});

test('the page of an expired checkout reloads slowly for a day, in which a late payment is recognised', async () => {
  const endedAt = pages.clock.now();
  const session = await pages.session(await pages.link(), {}, { status: 'expired', endedAt });
  const page = async () => (await pages.get(`/pay/s/${session.id}`)).text;

  pages.clock.advance(DAY_MS - 1_000);
  const lastHour = await page();
  pages.clock.advance(1_000);

  expect(lastHour).toContain('<noscript><meta http-equiv="refresh" content="60"/></noscript>');
  expect(await page()).not.toContain('http-equiv="refresh"');
});

test('a receipt names everything that identifies the payment', async () => {
  const link = await pages.link({ name: 'Field notebooks' });
  const session = await pages.session(link, {}, { ...PAID, payerAddress: PAYER, completedAt: 1 });

  const { text } = await pages.get(`/pay/s/${session.id}`);
  const receipt = /<section class="receipt"[\s\S]*?<\/section>/.exec(text)?.[0];

  for (const part of [
    'Corner Books',
    'Field notebooks',
    '2.5 USDC',
    `<dt>From</dt><dd><code>${getAddress(PAYER)}</code>`,
    `<dt>To</dt><dd><code>${getAddress(link.recipientAddress)}</code>`,
    HASH,
    session.id,
  ])
    expect(receipt).toContain(part);
  expect(receipt).toContain(`href="https://explorer.example/tx/${HASH}"`);
});

test('a page says that its chain is late and that a payment already sent is not lost', async () => {
  const { before, after } = await shownAfter(LATE_MS + 1);

  expect(before).not.toContain('with a delay');
  expect(after.status).toBe(200);
  expect(after.text).toContain(DELAY);
});

test('a page shows no address while its chain is late, and asks to wait', async () => {
  const { before, after } = await shownAfter(LATE_MS + 1);

  expect(asksForPayment(before)).toBe(true);
  expect(after.text).toContain('data-state-name="stalled"');
  expect(asksForPayment(after.text)).toBe(false);
  expect(after.text).not.toContain('class="qr"');
});

test('a page mentions no delay while its chain is on time or once the session is paid', async () => {
  const timely = await shownAfter(LATE_MS);
  const paid = await shownAfter(LATE_MS + 1, PAID);

  expect(timely.after.status).toBe(304);
  expect(paid.after.text).not.toContain('with a delay');
});
