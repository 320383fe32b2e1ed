import { expect, test } from 'vitest';
import type { NoticePayload } from '#payments/model/notification.ts';
import { mailOf, messageOf, noticeContent } from '#payments/notifications/texts.ts';
import { aPaymentEvent, BASE, paymentFacts } from '../../support/notification-records.ts';

const OWNER = { organizationId: 'org_1', mode: 'live' } as const;
const MERCHANT = { name: 'Corner Books', mode: 'live' } as const;

function told(payload: NoticePayload, merchant: Parameters<typeof noticeContent>[1] = MERCHANT) {
  const content = noticeContent(payload, merchant, { chains: BASE });
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

test('payment.failed has the reason', () => {
  const { subject, text } = payment({ failure_reason: 'reverted', status: 'failed' }, 'payment.failed');

  expect(subject).toBe('Payment failed: 2.5 USDC');
  expect(text).toContain('Failure reason: the transaction was reverted by the chain');
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
  const { subject, text, message } = told({
    kind: 'webhook_disabled',
    webhookId: 'wh_1',
    url: 'https://shop.example/hook?token=hush',
    disabledAt: Date.UTC(2026, 0, 2, 3, 4, 5),
  });

  expect(subject).toBe('Webhook disabled');
  for (const part of [text, message]) {
    for (const fact of ['wh_1', 'https://shop.example/hook\n', '2026-01-02T03:04:05.000Z', 'is_active']) {
      expect(part).toContain(fact);
    }
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

  expect(payment({ token_address }).text).toContain(
    `Amount: 2500000 units of ${token_address}\nChain: Base\n`,
  );
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

test('a message never exceeds the messenger’s length limit', () => {
  const { message } = paymentOf('x'.repeat(100_000));

  expect(message.length).toBeLessThanOrEqual(4096);
});

/** Texts about a payment by a customer with this name. */
function paymentOf(customerName: string) {
  const session = { id: 'cs_1', clientReferenceId: null, metadata: {}, customerEmail: null };
  return payment({ checkoutSession: { ...session, customerName } });
}

function tags(html: string): string[] {
  return [...html.matchAll(/<\/?[a-z]+/gi)].map(([tag]) => tag);
}
