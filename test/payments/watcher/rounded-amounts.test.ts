import { afterAll, expect, test } from 'vitest';
import { execute } from '#db/query.ts';
import type { CheckoutSession } from '#payments/model/session.ts';
import { linkStore } from '#payments/store/link-store.ts';
import { startPaymentChain } from '../../lab/payment-chain.ts';
import { aLink } from '../../lab/payments-records.ts';
import { eachDatabase } from '../../support/databases.ts';
import { listedTransfers } from '../../support/listed-transfers.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { watchedShop } from './watched-shop.ts';

const PRICE = 5_000_000n;
const chain = await startPaymentChain({ clock: manualClock(Date.now()) });
afterAll(chain.stop);

eachDatabase('a transfer with a rounded amount', databases => {
  async function begin() {
    const ours = await watchedShop(chain, { database: await databases.create('payments') });
    return {
      ...ours,
      /** Adds a link to the chain, token and recipient of these tests. */
      async link(amount: bigint | null) {
        const { tokenAddress, chainId, recipientAddress } = await ours.open({ amount: 1n });
        const link = aLink(ours.owner, { amount, tokenAddress, chainId, recipientAddress });
        await linkStore(ours.db).insert(link);
        return link;
      },
      /** Pays from an unbound wallet; returns the unmatched transfers. */
      async paid(amount: bigint) {
        await chain.pay({ from: 7, to: ours.recipient, amount });
        await ours.settle();
        const { data } = await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 10 });
        return data.map(one => ({ amount: one.amount, suggested: one.suggestedSessionId }));
      },
      paymentStatus: async ({ id }: CheckoutSession) => (await ours.session(id)).paymentStatus,
    };
  }

  test('equal to the price never pays a stranger’s open session, and suggests the customer’s', async () => {
    await using ours = await begin();
    const link = await ours.link(PRICE);
    const stranger = await ours.open({ paymentLinkId: link.id });
    ours.clock.advance(1_000);
    const customer = await ours.open({ paymentLinkId: link.id });

    const unmatched = await ours.paid(PRICE);

    expect(unmatched).toEqual([{ amount: PRICE, suggested: customer.id }]);
    expect(await ours.paymentStatus(stranger)).toBe('awaiting_payment');
    expect(await ours.paymentStatus(customer)).toBe('awaiting_payment');
  });

  test('equal to the price never pays a stranger’s session for less at a link without an amount', async () => {
    await using ours = await begin();
    const link = await ours.link(null);
    const customer = await ours.open();
    ours.clock.advance(1_000);
    const strangers = [];
    for (let less = 1n; less <= 20n; less++) {
      strangers.push(
        await ours.open({ paymentLinkId: link.id, subtotal: PRICE - less, amount: PRICE - less }),
      );
    }

    const unmatched = await ours.paid(PRICE);

    expect(unmatched).toEqual([{ amount: PRICE, suggested: customer.id }]);
    expect(new Set(await Promise.all(strangers.map(ours.paymentStatus)))).toEqual(
      new Set(['awaiting_payment']),
    );
  });

  test('at any decimal place is unmatched, and suggests the session with the nearest amount', async () => {
    await using ours = await begin();
    const customer = await ours.open();
    await ours.open({ subtotal: 9_000_000n, amount: 9_000_000n });
    const up = (customer.amountDue / 10_000n + 1n) * 10_000n;

    const unmatched = await ours.paid(up);

    expect(unmatched).toEqual([{ amount: up, suggested: customer.id }]);
    expect(await ours.paymentStatus(customer)).toBe('awaiting_payment');
  });

  test('suggests a recently expired session, or none when it is far from every amount', async () => {
    await using ours = await begin();
    const late = await ours.open({ expiresAt: ours.clock.now() + 1, createdAt: ours.clock.now() - 60_000 });
    await ours.expire(late.id);

    expect(await ours.paid(PRICE)).toEqual([{ amount: PRICE, suggested: late.id }]);
    expect(await ours.paid(77n * PRICE)).toContainEqual({ amount: 77n * PRICE, suggested: null });
  });

  test('a late exact amount that two ended sessions asked for pays neither', async () => {
    await using ours = await begin();
    const [first, second] = [await ours.open(), await ours.open()];
    for (const { id } of [first, second]) await ours.expire(id);
    // As an hour after the end of the first one, when its amount is used again.
    const sql =
      'update checkout_sessions set amount_due = (select amount_due from checkout_sessions where id = ?)';
    await execute(ours.db, `${sql} where id = ?`, [first.id, second.id]);

    const unmatched = await ours.paid(first.amountDue);

    expect(unmatched).toMatchObject([{ amount: first.amountDue }]);
    for (const session of [first, second]) expect(await ours.paymentStatus(session)).toBe('awaiting_payment');
  });

  test('an exact amount pays its session unless it equals a price', async () => {
    await using ours = await begin();
    const link = await ours.link(PRICE);
    await ours.open({ paymentLinkId: link.id });
    const session = await ours.open({ paymentLinkId: link.id });

    expect(await ours.paid(session.amountDue)).toEqual([]);
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
  });
});
