import { expect } from 'vitest';
import { uintColumn } from '#db/columns.ts';
import { execute } from '#db/query.ts';
import { LIFE_ALLOWANCE } from '#payments/model/session.ts';
import { linkStore } from '#payments/store/link-store.ts';
import { aLink } from '../../lab/payments-records.ts';
import { listedTransfers } from '../../support/listed-transfers.ts';
import { eachWatchedShop, type WatchedShop } from './watched-shop.ts';

const PRICE = 5_000_000n;
/** Account that pays for many people, as the hot wallet of an exchange does. */
const EXCHANGE = 7;

async function unmatchedOf({ db, owner }: WatchedShop) {
  const { data } = await listedTransfers(db, owner, {}, { page: 1, limit: 200 });
  return data.map(one => ({ amount: one.amount, suggested: one.suggestedSessionId }));
}

eachWatchedShop('a payer', test => {
  test('of an exchange pays nothing for another customer of it', async ({ chain, ours }) => {
    const first = await ours.open();
    await chain.pay({ from: EXCHANGE, to: ours.recipient, amount: first.amountDue });
    await chain.mine(1);
    await ours.round();
    const second = await ours.open({ subtotal: 9_000_000n, amount: 9_000_000n });
    await chain.pay({ from: EXCHANGE, to: ours.recipient, amount: 9_000_000n });
    await ours.settle();

    expect(await ours.session(first.id)).toMatchObject({
      status: 'completed',
      amountReceived: first.amountDue,
    });
    expect(await ours.payments(first.id)).toHaveLength(1);
    expect(await ours.session(second.id)).toMatchObject({ paymentStatus: 'awaiting_payment' });
    expect(await unmatchedOf(ours)).toEqual([{ amount: 9_000_000n, suggested: second.id }]);
  });

  test('of an exchange who is late pays his own session by its exact amount', async ({ chain, ours }) => {
    const [first, second] = [await ours.open(), await ours.open()];
    for (const { id } of [first, second]) await ours.expire(id);
    for (const { amountDue: amount } of [first, second]) {
      await chain.pay({ from: EXCHANGE, to: ours.recipient, amount });
      await ours.settle();
    }

    for (const session of [first, second]) {
      expect(await ours.payments(session.id)).toMatchObject([{ amount: session.amountDue, isLate: true }]);
    }
  });

  test('who pays an exact amount twice has paid too much, and a later transfer of any amount is unmatched', async ({
    chain,
    ours,
  }) => {
    const session = await ours.open();
    for (const amount of [session.amountDue, session.amountDue, 1n]) {
      await chain.pay({ from: EXCHANGE, to: ours.recipient, amount });
      await ours.settle();
    }

    const payments = await ours.payments(session.id);
    expect(payments.map(one => [one.amount, one.matchedBy, one.isDuplicate])).toEqual([
      [session.amountDue, 'amount', false],
      [session.amountDue, 'amount', true],
    ]);
    expect(await unmatchedOf(ours)).toEqual([{ amount: 1n, suggested: null }]);
  });

  test('while an exact amount is confirmed, other transfers of its sender are not added to it', async ({
    chain,
    ours,
  }) => {
    const session = await ours.open();
    await chain.pay({ from: EXCHANGE, to: ours.recipient, amount: session.amountDue });
    await chain.mine(1);
    await ours.round();
    expect(await ours.session(session.id)).toMatchObject({ paymentStatus: 'confirming' });
    for (let index = 0; index < 3; index++)
      await chain.pay({ from: EXCHANGE, to: ours.recipient, amount: 1n });
    await ours.settle();

    expect(await ours.payments(session.id)).toHaveLength(1);
    expect(await unmatchedOf(ours)).toHaveLength(3);
  });

  test('who returns with the price of an open session pays neither it nor his ended one', async ({
    ours,
  }) => {
    const ended = await ours.boundSession();
    await ours.expire(ended.id);
    ours.clock.advance(1_000);
    const open = await ours.open();

    await ours.payment(PRICE);
    await ours.settle();

    expect(await ours.payments(ended.id)).toEqual([]);
    expect(await ours.session(open.id)).toMatchObject({ paymentStatus: 'awaiting_payment' });
    expect(await unmatchedOf(ours)).toEqual([{ amount: PRICE, suggested: open.id }]);
  });

  test('who is late with his exact amount pays his ended session, also when an open one has that price', async ({
    ours,
  }) => {
    const ended = await ours.boundSession();
    await ours.expire(ended.id);
    await ours.open({ subtotal: ended.amountDue, amount: ended.amountDue });

    await ours.payment(ended.amountDue);
    await ours.settle();

    expect(await ours.payments(ended.id)).toMatchObject([{ matchedBy: 'wallet', isLate: true }]);
  });

  test('of an exact amount pays no checkout that opened long after the payment', async ({ chain, ours }) => {
    const before = await ours.open();
    await ours.expire(before.id);
    await execute(ours.db, 'update checkout_sessions set amount_due = 1 where id = ?', [before.id]);
    await chain.pay({ from: EXCHANGE, to: ours.recipient, amount: before.amountDue });
    await chain.mine(1);
    ours.clock.advance(LIFE_ALLOWANCE.beforeMs + 60_000);
    const later = await ours.open();
    await execute(ours.db, 'update checkout_sessions set amount_due = ? where id = ?', [
      uintColumn(before.amountDue),
      later.id,
    ]);

    await ours.settle();

    expect(await ours.payments(later.id)).toEqual([]);
    expect((await unmatchedOf(ours)).map(one => one.amount)).toEqual([before.amountDue]);
  });

  test('who signed for an abandoned session pays another ended one by its exact amount', async ({ ours }) => {
    const abandoned = await ours.boundSession();
    const meant = await ours.open({ subtotal: 9_000_000n, amount: 9_000_000n });
    for (const { id } of [abandoned, meant]) await ours.expire(id);

    await ours.payment(meant.amountDue);
    await ours.settle();

    expect(await ours.payments(abandoned.id)).toEqual([]);
    expect(await ours.payments(meant.id)).toMatchObject([{ matchedBy: 'amount', isLate: true }]);
  });

  test('who signed is late with the price when no open session asks for it', async ({ ours }) => {
    const ended = await ours.boundSession();
    await ours.expire(ended.id);
    await ours.open({ subtotal: 9_000_000n, amount: 9_000_000n });

    await ours.payment(PRICE);
    await ours.settle();

    expect(await ours.payments(ended.id)).toMatchObject([{ matchedBy: 'wallet', isLate: true }]);
  });

  test('who signed for several checkouts pays each of them once, with parts and prices in one block', async ({
    ours,
  }) => {
    const sessions = [];
    for (let count = 0; count < 3; count++) {
      sessions.push(await ours.boundSession());
      ours.clock.advance(1_000);
    }
    const parts = [2_000_000n, 3_000_000n, PRICE, PRICE];
    for (const amount of parts) await ours.payment(amount);

    await ours.settle();

    const paid = await Promise.all(sessions.map(({ id }) => ours.payments(id)));
    expect(paid.map(some => some.map(({ amount }) => amount).toSorted())).toEqual([
      [2_000_000n, 3_000_000n],
      [PRICE],
      [PRICE],
    ]);
    for (const { id } of sessions)
      expect(await ours.session(id)).toMatchObject({ status: 'completed', amountOverpaid: 0n });
  });

  test('who signed for two checkouts pays the one whose price he sends within its tolerance', async ({
    ours,
  }) => {
    const dear = await ours.boundSession({ amount: 9_000_000n, toleranceBps: 100 });
    const cheap = await ours.boundSession({ toleranceBps: 100 });

    await ours.payment(PRICE - 50_000n);
    await ours.settle();
    await ours.payment(9_000_000n - 90_000n);
    await ours.settle();

    expect(await ours.session(cheap.id)).toMatchObject({
      status: 'completed',
      amountReceived: PRICE - 50_000n,
    });
    expect(await ours.session(dear.id)).toMatchObject({ status: 'completed', amountReceived: 8_910_000n });
  });

  test('who signed is late with less than the price for the ended checkout that it is enough for', async ({
    ours,
  }) => {
    const cheap = await ours.boundSession({ toleranceBps: 100 });
    ours.clock.advance(1_000);
    const dear = await ours.boundSession({ amount: 9_000_000n, toleranceBps: 100 });
    for (const { id } of [cheap, dear]) await ours.expire(id);

    await ours.payment(PRICE - 50_000n);
    await ours.settle();

    expect(await ours.session(cheap.id)).toMatchObject({ status: 'expired', paymentStatus: 'paid' });
    expect(await ours.payments(dear.id)).toEqual([]);
  });

  test('who sends an exact amount pays its session, whatever prices were set since', async ({
    chain,
    ours,
  }) => {
    const session = await ours.open();
    const { tokenAddress, chainId, recipientAddress } = session;
    await ours.open({ subtotal: session.amountDue, amount: session.amountDue });
    const link = { amount: session.amountDue, tokenAddress, chainId, recipientAddress };
    await linkStore(ours.db).insert(aLink(ours.owner, link));

    await chain.pay({ from: EXCHANGE, to: ours.recipient, amount: session.amountDue });
    await ours.settle();

    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
  });

  test('who sends one unit too much is suggested for his own session', async ({ chain, ours }) => {
    const session = await ours.open();
    // A cheaper one, between whose price and exact amount the transfer lies.
    const other = await ours.open({ subtotal: PRICE - 20_000n, amount: PRICE - 20_000n });
    await execute(ours.db, 'update checkout_sessions set amount_due = ? where id = ?', [
      uintColumn(session.amountDue + 20_000n),
      other.id,
    ]);
    const amount = session.amountDue + 1n;

    await chain.pay({ from: EXCHANGE, to: ours.recipient, amount });
    await ours.settle();

    expect(await unmatchedOf(ours)).toEqual([{ amount, suggested: session.id }]);
  });
});
