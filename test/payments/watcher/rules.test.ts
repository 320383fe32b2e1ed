import { expect } from 'vitest';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import { MAX_PAYMENTS } from '#payments/model/session.ts';
import { transferStore } from '#payments/store/transfer-store.ts';
import { addressOf, mintPostcard } from '../../lab/payment-chain.ts';
import { allDue } from '../../lab/payments-records.ts';
import { listedTransfers } from '../../support/listed-transfers.ts';
import { BLOCKS_TO_SETTLE } from './setting.ts';
import { eachWatchedShop } from './watched-shop.ts';

eachWatchedShop('rules of payments', test => {
  test('payments of one wallet add up, and the session stays open until they suffice', async ({ ours }) => {
    const session = await ours.boundSession();

    await ours.payment(2_000_000n);
    await ours.settle();
    const halfway = await ours.session(session.id);
    await ours.payment(3_000_000n);
    await ours.settle();

    expect(halfway).toMatchObject({
      status: 'active',
      paymentStatus: 'underpaid',
      amountReceived: 2_000_000n,
    });
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed', amountReceived: 5_000_000n });
    expect(await ours.events()).toEqual(['payment.completed', 'payment.completed', 'checkout.completed']);
  });

  test('a session accepts at most a hundred partial payments, and further transfers are unmatched', async ({
    ours,
  }) => {
    const session = await ours.boundSession();

    for (let index = 0; index < MAX_PAYMENTS + 2; index++) await ours.payment(1n);
    await ours.settle();

    const { data } = await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 10 });
    expect(await ours.payments(session.id)).toHaveLength(MAX_PAYMENTS);
    expect(data.map(one => one.amount)).toEqual([1n, 1n]);
  });

  test('the missing part of one session is not matched to another session with that exact amount', async ({
    ours,
  }) => {
    const session = await ours.boundSession();
    await ours.payment(2_000_000n);
    await ours.settle();
    const other = await ours.open({ subtotal: 3_000_000n, amount: 3_000_000n });

    await ours.payment(3_000_000n);
    await ours.settle();

    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
    expect(await ours.session(other.id)).toMatchObject({
      status: 'active',
      paymentStatus: 'awaiting_payment',
    });
  });

  test('a wallet with an abandoned session pays another session by its exact amount', async ({ ours }) => {
    const abandoned = await ours.boundSession();
    const session = await ours.open();

    await ours.payment(session.amountDue);
    await ours.settle();

    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
    expect(await ours.session(abandoned.id)).toMatchObject({ status: 'active' });
  });

  test('a wallet with two open sessions pays the one whose price it sends', async ({ ours }) => {
    const first = await ours.boundSession();
    // Otherwise the older one would be paid.
    ours.clock.advance(1_000);
    const second = await ours.boundSession({ subtotal: 9_000_000n, amount: 9_000_000n });

    await ours.payment(second.amount);
    await ours.settle();

    expect(await ours.session(second.id)).toMatchObject({ status: 'completed' });
    expect(await ours.session(first.id)).toMatchObject({ status: 'active', amountReceived: 0n });
  });

  test('an overpayment completes the session and records the excess', async ({ ours }) => {
    const session = await ours.boundSession();

    await ours.payment(session.amountDue + 1_000_000n);
    await ours.settle();

    const [payment] = await ours.payments(session.id);
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
    expect(payment).toMatchObject({ status: 'completed', overpaidAmount: 1_000_000n, isLate: false });
  });

  test('a second payment of a paid session is a duplicate', async ({ ours }) => {
    const session = await ours.boundSession();

    await ours.payment(5_000_000n);
    await ours.settle();
    await ours.payment(5_000_000n);
    await ours.settle();

    const payments = await ours.payments(session.id);
    expect(payments.map(one => [one.status, one.isDuplicate])).toEqual([
      ['completed', false],
      ['completed', true],
    ]);
    expect(await ours.events()).toEqual([
      'payment.completed',
      'checkout.completed',
      'payment.completed',
      'checkout.overpaid',
    ]);
  });

  test('two payments in one block complete the session once', async ({ ours }) => {
    const session = await ours.boundSession();

    await ours.payment(5_000_000n);
    await ours.payment(5_000_000n);
    await ours.settle();

    const payments = await ours.payments(session.id);
    const inOrder = payments.toSorted((a, b) => Number(a.logIndex) - Number(b.logIndex));
    expect(inOrder.map(one => one.isDuplicate)).toEqual([false, true]);
    expect((await ours.events()).sort()).toEqual([
      'checkout.completed',
      'checkout.overpaid',
      'payment.completed',
      'payment.completed',
    ]);
  });

  test('a payment after the end of the session is late and completes no checkout', async ({ ours }) => {
    const session = await ours.open({
      expiresAt: ours.clock.now() - 60_000,
      createdAt: ours.clock.now() - 600_000,
    });

    await ours.payment(session.amountDue);
    await ours.settle();

    const [payment] = await ours.payments(session.id);
    expect(payment).toMatchObject({ status: 'completed', isLate: true });
    expect(await ours.session(session.id)).toMatchObject({ status: 'active', isLate: true });
    expect(await ours.events()).toEqual(['payment.completed', 'checkout.paid_late']);
  });

  test('a look-alike token, another recipient and an ERC-721 token pay nothing', async ({ chain, ours }) => {
    const session = await ours.boundSession();
    await mintPostcard(chain, ours.recipient);
    await chain.pay({ from: 1, to: ours.recipient, amount: 5_000_000n, token: chain.lookalike });
    await chain.pay({ from: 1, to: `${chain.accounts[9]}`, amount: 5_000_000n });
    await ours.payment(0n);

    await ours.settle();

    expect(await ours.payments(session.id)).toEqual([]);
    expect(await transferStore(ours.db).unconfirmed(allDue(chain.chainId))).toEqual([]);
  });

  test('a transfer of an address to itself pays nothing and is not listed', async ({ chain, ours }) => {
    const payer = `${chain.accounts[1]}` as const;
    const tokens = await ours.open({ recipientAddress: payer.toLowerCase() });
    const coins = await ours.open({ recipientAddress: payer.toLowerCase(), tokenAddress: NATIVE_COIN });

    await chain.pay({ from: 1, to: payer, amount: tokens.amountDue });
    await chain.send({ from: 1, to: addressOf(payer), value: coins.amountDue });
    await ours.settle();

    expect(await ours.payments(tokens.id)).toEqual([]);
    expect(await ours.payments(coins.id)).toEqual([]);
    const { data } = await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 10 });
    expect(data.filter(one => one.sender === one.recipient)).toEqual([]);
  });

  test('a failed transfer of tokens or coins pays nothing', async ({ chain, ours }) => {
    const tokens = await ours.boundSession();
    const coins = await ours.open({ tokenAddress: NATIVE_COIN, recipientAddress: chain.token.toLowerCase() });
    const failing = await ours.payment(10n ** 18n);
    // The token takes no coins.
    const refused = await chain.send({
      from: 2,
      to: addressOf(coins.recipientAddress),
      value: coins.amountDue,
    });

    await ours.settle();

    const receipts = await Promise.all(
      [failing.hash, refused.hash].map(hash => chain.call('eth_getTransactionReceipt', hash)),
    );
    expect(receipts).toEqual([
      expect.objectContaining({ status: '0x0' }),
      expect.objectContaining({ status: '0x0' }),
    ]);
    expect(await ours.payments(tokens.id)).toEqual([]);
    expect(await ours.payments(coins.id)).toEqual([]);
  });

  test('a transfer older than the session does not pay it', async ({ chain, ours }) => {
    await ours.payment(5_000_000n);
    await chain.mine();
    const session = await ours.open({
      createdAt: ours.clock.now() + 600_000,
      expiresAt: ours.clock.now() + 1_200_000,
    });
    await ours.bind(session.id, `${chain.accounts[1]}`);

    await ours.settle();

    expect(await ours.payments(session.id)).toEqual([]);
  });

  test('a payment from before the watcher first ran is found', async ({ chain, ours }) => {
    const session = await ours.open();
    await ours.payment(session.amountDue);
    await chain.mine(600);

    await ours.look();

    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
  });

  test('an unmatched transfer is listed once confirmed, unless its wallet signs for a session before that', async ({
    chain,
    ours,
  }) => {
    const session = await ours.open();
    await ours.payment(1_234_567n);
    await chain.pay({ from: 2, to: ours.recipient, amount: 7_654_321n });
    await chain.mine();
    await ours.look();
    const listedEarly = await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 10 });

    await ours.bind(session.id, `${chain.accounts[1]}`);
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.look();
    const listed = await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 10 });

    expect(listedEarly.data).toEqual([]);
    expect(listed.data.map(one => one.amount)).toEqual([7_654_321n]);
    expect(await ours.session(session.id)).toMatchObject({
      paymentStatus: 'underpaid',
      amountReceived: 1_234_567n,
    });
  });
});
