import { expect, test } from 'vitest';
import { testEventData } from '#payments/events/test-event.ts';
import type { EventData } from '#payments/model/event.ts';
import type { NoticePayload } from '#payments/model/notification.ts';
import type { TextContext } from '#payments/notifications/content.ts';
import { mailOf, messageOf, noticeContent } from '#payments/notifications/texts.ts';
import { RECORD_TIME } from '../../lab/payments-records.ts';
import { aPaymentEvent, BASE, paymentFacts } from '../../support/notification-records.ts';

const OWNER = { organizationId: 'org_1', mode: 'live' } as const;
const MERCHANT = { name: 'Corner Books', mode: 'live' } as const;

function told(
  payload: NoticePayload,
  merchant: Parameters<typeof noticeContent>[1] = MERCHANT,
  context: TextContext = { chains: BASE },
) {
  const content = noticeContent(payload, merchant, context);
  const mail = mailOf(content, { id: 'ntc_1', to: 'orders@books.example' });
  return { ...mail, message: messageOf(content) };
}
const payment = (
  changes: Parameters<typeof paymentFacts>[0] = {},
  type: 'payment.completed' | 'payment.failed' = 'payment.completed',
) => told({ kind: 'payment', event: aPaymentEvent(OWNER, { type, data: paymentFacts(changes) }) });

test('payment.completed names amount, chain, payer and hash, in the mail’s two parts and in the message', () => {
  const { subject, text, html, message } = payment();

  expect(subject).toBe('Payment received: 2.5 USDC');
  for (const part of [text, html, message]) {
    for (const fact of [
      'Corner Books',
      '2.5 USDC',
      'Base',
      'Ada Lovelace, ada@example.com',
      'order-1042',
      `0x${'ab'.repeat(32)}`,
    ]) {
      expect(part).toContain(fact);
    }
  }
  expect(text).toContain('Chain: Base\n');
  expect(html).toContain('href="https://explorer.example/tx/0x');
  expect(html).toContain('?a=1&amp;b=2"');
});

test('addresses in mails have their checksum, for the payer of a refund too', () => {
  const address = '0xab5801a7d398351b8be11c439e05c5b3259aec9b';
  const checksummed = '0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B';
  const paid = payment({ sender_address: address, recipient_address: address });
  const refund = testEventData('refund.created', RECORD_TIME);
  if (!('destination_address' in refund)) throw new Error('no refund');
  const data = { ...refund, destination_address: address };
  const refunded = told({ kind: 'customer', event: aPaymentEvent(OWNER, { type: 'refund.created', data }) });
  const added = told({
    kind: 'recipients_changed',
    email: 'owner@books.example',
    change: { kind: 'added', chainId: 8453, address },
    changedAt: RECORD_TIME,
  });

  expect(paid.text).toContain(`From: ${checksummed}\nTo: ${checksummed}\n`);
  expect(refunded.text).toContain(`To: ${checksummed}\n`);
  expect(refunded.text).toContain(`to ${checksummed}. Nothing was sent yet`);
  expect(added.text).toContain(`Address: ${checksummed}\n`);
});

test('a mail to a payer is in the language of the session, names items and contact, and is answered by the shop', () => {
  const contact = { contactEmail: 'help@books.example', siteUrl: 'https://books.example', termsUrl: null };
  const data = testEventData('checkout.completed', RECORD_TIME);
  if (!('total' in data)) throw new Error('no completed checkout');
  const event = aPaymentEvent(OWNER, { type: 'checkout.completed', data });
  const item = { id: 'a', name: 'Field notebook', description: null, image_url: null, amount: '5' };
  const items = [{ ...item, quantity: 2 }];
  const mailIn = (language: string) =>
    told(
      { kind: 'customer', event },
      { ...MERCHANT, contact },
      { chains: BASE, order: { language, items, shipping: 'Parcel' } },
    );

  const [german, arabic, unknown] = ['de', 'ar', 'xx'].map(mailIn);

  expect(german?.subject).toBe('Corner Books: Bezahlt. Vielen Dank!');
  expect(german?.text).toContain('Artikel: 2 × Field notebook');
  expect(german?.text).toContain('Versand: Parcel');
  expect(german?.text).toContain('Kontakt: help@books.example');
  expect(german?.replyTo).toBe('help@books.example');
  expect(german?.html).toContain('<html lang="de" dir="ltr">');
  expect(arabic?.html).toContain('<html lang="ar" dir="rtl">');
  expect(unknown?.subject).toBe('Corner Books: Paid. Thank you!');
});

test('payment.failed has the reason', () => {
  const { subject, text } = payment({ failure_reason: 'reverted', status: 'failed' }, 'payment.failed');

  expect(subject).toBe('Payment failed: 2.5 USDC');
  expect(text).toContain('Failure reason: the transaction was reverted by the chain');
});

test.each<
  [outcome: EventData<'payment.completed'>['checkoutSession']['outcome'], title: string, text: string]
>([
  ['paid_late', '2.5 USDC (paid late)', 'arrived after the checkout had ended'],
  ['partial', '2.5 USDC (partly paid)', 'Less than the price arrived'],
  ['overpaid', '2.5 USDC (overpaid)', 'the rest belongs to the payer'],
  ['paid_sold_out', '2.5 USDC (paid, sold out)', 'after the last use of the link was taken'],
  ['paid_unproven', '2.5 USDC (paid, not proven)', 'its block could not be proven'],
  ['dropped', '2.5 USDC (dropped by the chain)', 'Do not deliver before it does'],
])('a payment of a checkout that is %s says so in the words of the dashboard', (outcome, title, words) => {
  const { subject, text, message } = payment({
    checkoutSession: { ...paymentFacts().checkoutSession, outcome },
  });

  expect(subject).toBe(`Payment received: ${title}`);
  for (const part of [text, message]) expect(part).toContain(words);
});

test('a payment has product, answers, address and the page of the dashboard', () => {
  const form_data = {
    size: 'M',
    email: 'ada@example.com',
    shipping_address: {
      ...{ name: 'Ada Lovelace', line1: '1 Main Street', line2: null, city: 'London' },
      ...{ state: null, zip: 'SW1Y', country: 'GB' },
    },
  };
  const event = aPaymentEvent(OWNER, { data: paymentFacts({ form_data }) });
  const { text, message } = told({ kind: 'payment', event }, MERCHANT, {
    chains: BASE,
    publicUrl: 'https://pay.example',
  });

  for (const part of [text, message]) {
    expect(part).toContain('Product: Field notebooks\n');
    expect(part).toContain('Answer: size: M\nShip to: Ada Lovelace, 1 Main Street, London, SW1Y, GB\n');
    expect(part).toContain(`https://pay.example/dashboard/payments/${event.data.checkoutSession?.id}`);
    expect(part.match(/ada@example\.com/g)).toHaveLength(1);
  }
});

test('a late checkout that the merchant accepted is not called late', () => {
  const data = testEventData('checkout.completed', 0);
  if (!('total' in data)) throw new Error('not a completed checkout');
  const accepted = { accepted_at: data.created_at, accepted_reason: 'Late by a minute' };
  const event = aPaymentEvent(OWNER, {
    type: 'checkout.completed',
    data: { ...data, late: true, ...accepted },
  });

  const { text } = told({ kind: 'payment', event });

  expect(text).toContain('Accepted as paid: Late by a minute\n');
  expect(text).not.toContain('too late');
});

test('a notice that an older version recorded has no product and no outcome', () => {
  const { name: _, outcome: __, ...checkoutSession } = paymentFacts().checkoutSession;
  const stored = JSON.stringify({ ...aPaymentEvent(OWNER), data: { ...paymentFacts(), checkoutSession } });

  const { subject, text } = told({ kind: 'payment', event: JSON.parse(stored) });

  expect(subject).toBe('Payment received: 2.5 USDC');
  expect(text).not.toMatch(/Product|Checkout:|undefined|null/);
});

test('checkout.completed has the total of the checkout and the amount sent', () => {
  const data = {
    ...paymentFacts({ amount: '2600000' }),
    shipping_address: null,
    shipping_option: null,
    discount: null,
    subtotal: '2500000',
    total: '2500000',
  };
  const { subject, text } = told({
    kind: 'payment',
    event: aPaymentEvent(OWNER, { type: 'checkout.completed', data }),
  });

  expect(subject).toBe('Checkout completed: 2.6 USDC');
  expect(text).toContain('Amount: 2.6 USDC\nTotal: 2.5 USDC\n');
});

test('a disabled webhook is named without secrets of its address, with steps to repair it', () => {
  const { subject, text, message } = told(
    {
      kind: 'webhook_disabled',
      webhookId: 'wh_1',
      url: 'https://shop.example/hook?token=hush',
      disabledAt: Date.UTC(2026, 0, 2, 3, 4, 5),
    },
    MERCHANT,
    { chains: BASE, publicUrl: 'https://pay.example' },
  );

  expect(subject).toBe('Webhook disabled');
  for (const part of [text, message]) {
    for (const fact of ['wh_1', 'https://shop.example/hook\n', '2026-01-02T03:04:05.000Z']) {
      expect(part).toContain(fact);
    }
    expect(part).toContain('choose Enable on its page in the dashboard');
    expect(part).toContain('https://pay.example/dashboard/webhooks/wh_1');
    expect(part).not.toContain('hush');
  }
});

test.each([
  [
    '115792089237316195423570985008687907853269984665640564039457584007913129639935',
    '115792089237316195423570985008687907853269984665640564039457584007913129.639935 USDC',
  ],
  ['1', '0.000001 USDC'],
  ['1000000', '1 USDC'],
  ['9007199254740993', '9007199254.740993 USDC'],
])('%s smallest units are shown exactly', (amount, shown) => {
  expect(payment({ amount }).text).toContain(`Amount: ${shown}\n`);
});

test('an amount in a token that is no longer configured is shown in smallest units', () => {
  const token_address = `0x${'99'.repeat(20)}`;

  expect(payment({ token_address }).text).toContain(`Amount: 2500000 units of ${token_address}\n`);
  expect(payment({ chain_id: 5 }).text).toContain('Chain: chain 5\n');
});

test.each([
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onclick='x",
  '&lt;b&gt;',
  '<a href="https://evil.example">pay here</a>',
])('the name %j is escaped in HTML', name => {
  const event = aPaymentEvent(OWNER, {
    data: paymentFacts({
      checkoutSession: {
        id: 'cs_1',
        name,
        outcome: 'paid',
        clientReferenceId: name,
        metadata: {},
        customerEmail: null,
        customerName: name,
      },
    }),
  });
  const { html } = told({ kind: 'payment', event }, { name, mode: 'live' });
  const plain = told({ kind: 'payment', event: aPaymentEvent(OWNER) }).html;

  expect(html).not.toContain(name);
  expect(tags(html)).toEqual(tags(plain));
});

test('a name with line breaks cannot fake another line of the text or message', () => {
  const { text, message } = paymentOf('Ada\r\nAmount: 9000 USDC\u2028Chain: Mars');

  for (const part of [text, message]) {
    expect(part.split(/[\r\n\u2028]+/).filter(line => line.startsWith('Amount:'))).toEqual([
      'Amount: 2.5 USDC',
    ]);
  }
});

test('test money is marked as such', () => {
  const event = aPaymentEvent({ ...OWNER, mode: 'test' });

  expect(told({ kind: 'payment', event }, { name: 'Shop', mode: 'test' }).subject).toBe(
    '[Test] Payment received: 2.5 USDC',
  );
});

test('each event of a list keeps the address of its page, however long its names are', () => {
  const data = testEventData('checkout.paid_late', 0);
  if (!('overpaid_amount' in data)) throw new Error('not a late checkout');
  const checkoutSession = { ...data.checkoutSession, name: 'n'.repeat(100), customerName: 'c'.repeat(100) };
  const event = aPaymentEvent(OWNER, { type: 'checkout.paid_late', data: { ...data, checkoutSession } });

  const { text } = told({ kind: 'attention', events: [event, event], more: 0 }, MERCHANT, {
    chains: BASE,
    publicUrl: 'https://pay.example',
  });

  const lines = text.split('\n').filter(line => line.startsWith('Paid late: '));
  expect(lines).toHaveLength(2);
  for (const line of lines)
    expect(line.endsWith(` · https://pay.example/dashboard/payments/${data.id}`)).toBe(true);
});

test('a message never exceeds the messenger’s length limit, and keeps what is below the facts', () => {
  const checkoutSession = { ...paymentFacts().checkoutSession, outcome: 'dropped' } as const;
  const answers = Array.from({ length: 20 }, (_, index) => [`note_${index}`, 'x'.repeat(400)]);
  const form_data = Object.fromEntries(answers);
  const { message, text } = payment({ checkoutSession, form_data });

  expect(message).toHaveLength(4096);
  expect(message).toContain('Payment received: 2.5 USDC (dropped by the chain)');
  const end = text.slice(text.indexOf('The chain dropped')).trimEnd();
  expect(end).toContain('https://explorer.example/tx/');
  expect(message.endsWith(end)).toBe(true);
});

/** Texts about a payment by a customer with this name. */
function paymentOf(customerName: string) {
  return payment({
    checkoutSession: { ...paymentFacts().checkoutSession, customerEmail: null, customerName },
  });
}

function tags(html: string): string[] {
  return [...html.matchAll(/<\/?[a-z]+/gi)].map(([tag]) => tag);
}

test('a passkey that was added is mailed with what to do about one that is not known', () => {
  const { subject, text } = told({
    kind: 'passkey_changed',
    email: 'ada@books.example',
    change: 'added',
    name: 'Laptop',
    changedAt: RECORD_TIME,
  });

  expect(subject).toContain('Passkey added');
  expect(text).toContain('Passkey: Laptop\n');
  expect(text).toContain('sign out all your sessions');
});
