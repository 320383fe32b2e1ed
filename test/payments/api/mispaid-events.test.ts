import { expect } from 'vitest';
import { newId } from '#lib/ids.ts';
import { list, record, text } from '../../lab/json.ts';
import { aTransfer, hash } from '../../lab/payments-sessions.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import { PLACE } from '../../support/payments-api.ts';

const SESSIONS = '/api/v1/checkout-sessions';
const WALLET = `0x${'aa'.repeat(20)}`;
const PRICE = 12_500_000n;
const BY_WALLET = { matchedBy: 'wallet', confirmations: 1 } as const;

eachPaymentsApi('events of money that needs a decision', apiTest => {
  const test = apiTest
    .extend('opened', ({ api, merchant }) => async (): Promise<string> => {
      const { body } = await merchant.post(SESSIONS, { ...PLACE, amount: `${PRICE}` });
      const id = text(record(body).id);
      await api.db.raw('update checkout_sessions set signed_address = ?, payer_address = ? where id = ?', [
        WALLET,
        WALLET,
        id,
      ]);
      return id;
    })
    /** Records and confirms a transfer of the signed wallet; returns the id of its transaction. */
    .extend('pay', ({ api }) => async (id: string, amount: bigint, txHash = hashOf()): Promise<string> => {
      api.clock.advance(1);
      const transfer = aTransfer({ amount, txHash, sender: WALLET, blockTime: api.clock.now() });
      const seen = await api.settle(one => one.recordTransfer({ id }, transfer, BY_WALLET));
      return (await api.settle(one => one.complete(seen.id))).id;
    })
    .extend('told', ({ merchant }) => async (id: string): Promise<Record<string, unknown>[]> => {
      const { body } = await merchant.get(`/api/v1/events?session_id=${id}`);
      return list(record(body).data).map(record).reverse();
    });
  const typesOf = (events: readonly Record<string, unknown>[]) => events.map(({ event }) => event);
  const outcomesOf = (events: readonly Record<string, unknown>[]) =>
    events.map(({ data }) => record(record(data).checkoutSession).outcome);

  test('a payment after the end: checkout.paid_late, with the payment and what was received', async ({
    merchant,
    opened,
    pay,
    told,
  }) => {
    const id = await opened();
    await merchant.post(`${SESSIONS}/${id}/expire`);

    const transaction = await pay(id, PRICE);

    const events = await told(id);
    expect(typesOf(events)).toEqual(['checkout.expired', 'payment.completed', 'checkout.paid_late']);
    expect(outcomesOf(events)).toEqual(['expired', 'paid_late', 'paid_late']);
    expect(events.at(-1)?.data).toMatchObject({
      id,
      status: 'expired',
      ended_reason: 'merchant',
      amount: `${PRICE}`,
      amount_received: `${PRICE}`,
      transaction_id: transaction,
      transaction_amount: `${PRICE}`,
      overpaid_amount: null,
      sender_address: WALLET,
      checkoutSession: { name: null, outcome: 'paid_late' },
    });
  });

  test('too much, and twice: checkout.overpaid with what is too much', async ({ opened, pay, told }) => {
    const id = await opened();

    await pay(id, 2n * PRICE);
    await pay(id, 1_000_000n);

    const events = await told(id);
    expect(typesOf(events)).toEqual([
      'payment.completed',
      'checkout.completed',
      'checkout.overpaid',
      'payment.completed',
      'checkout.overpaid',
    ]);
    const [first, second] = events
      .filter(({ event }) => event === 'checkout.overpaid')
      .map(one => record(one.data));
    expect(first).toMatchObject({ status: 'completed', transaction_amount: `${2n * PRICE}` });
    expect(BigInt(text(first?.overpaid_amount))).toBeLessThanOrEqual(PRICE);
    expect(second).toMatchObject({ overpaid_amount: '1000000', transaction_amount: '1000000' });
    expect(outcomesOf(events)).toEqual(['overpaid', 'overpaid', 'overpaid', 'overpaid', 'overpaid']);
  });

  test('a part of the price: checkout.partially_paid once the checkout ends, and not before', async ({
    api,
    merchant,
    opened,
    pay,
    told,
  }) => {
    const id = await opened();
    await pay(id, 1_000_000n);
    const open = typesOf(await told(id));
    api.clock.advance(1);

    await merchant.post(`${SESSIONS}/${id}/expire`);

    const events = await told(id);
    expect(open).toEqual(['payment.completed']);
    expect(typesOf(events).slice(1)).toEqual(['checkout.expired', 'checkout.partially_paid']);
    expect(outcomesOf(events)).toEqual(['partial', 'partial', 'partial']);
    expect(events.at(-1)?.data).toMatchObject({
      id,
      ended_reason: 'merchant',
      amount_received: '1000000',
      transaction_id: null,
    });
  });

  test('is sent once, although a reorganisation drops the payment and brings it back', async ({
    api,
    merchant,
    opened,
    pay,
    told,
  }) => {
    const id = await opened();
    await merchant.post(`${SESSIONS}/${id}/expire`);
    const txHash = hashOf();
    const transaction = await pay(id, PRICE, txHash);

    await api.settle(one => one.reorg(transaction));
    await pay(id, PRICE, txHash);

    expect(typesOf(await told(id)).filter(type => type === 'checkout.paid_late')).toHaveLength(1);
  });

  test('goes to webhooks that name its type or all, and to no other', async ({
    api,
    merchant,
    opened,
    pay,
    told,
  }) => {
    const webhook = async (events: readonly string[]) => {
      const { body } = await merchant.post('/api/v1/webhooks', { url: 'http://127.0.0.1:9/hook', events });
      return text(record(record(body).data).id);
    };
    const hooks = [
      await webhook(['*']),
      await webhook(['checkout.paid_late']),
      await webhook(['payment.completed', 'payment.failed', 'checkout.completed', 'checkout.expired']),
    ];
    const id = await opened();
    await merchant.post(`${SESSIONS}/${id}/expire`);
    await pay(id, PRICE);
    await using _ = { [Symbol.asyncDispose]: api.tell().stop };

    const eventId = text((await told(id)).at(-1)?.id);
    const late = async (hook: string) => {
      const { body } = await merchant.get(`/api/v1/webhooks/${hook}/deliveries?event_id=${eventId}`);
      return record(body).total_count;
    };
    await expect.poll(() => Promise.all(hooks.map(late)), { timeout: 4_000 }).toEqual([1, 1, 0]);
  });
});

/** A hash that no other transaction has. */
function hashOf(): string {
  return hash(Number.parseInt(Buffer.from(newId('txn')).toString('hex').slice(-12), 16));
}
