import { afterAll, beforeAll, expect, test } from 'vitest';
import { NATIVE_COIN, type PaymentChain } from '#payments/model/payment-chain.ts';
import { addressOf, startPaymentChain, type TestPaymentChain } from '../../lab/payment-chain.ts';
import { eachDatabase } from '../../support/databases.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { BLOCKS_TO_SETTLE, paymentChain, watcherOf } from './setting.ts';
import { never, watchedShop } from './watched-shop.ts';

eachDatabase('watching a chain', databases => {
  let chain: TestPaymentChain<ManualClock>;

  beforeAll(async () => {
    chain = await startPaymentChain({ clock: manualClock(Date.now()) });
  });
  afterAll(() => chain.stop());

  async function begin(changes: Partial<PaymentChain> = {}) {
    const ours = await watchedShop(chain, { database: await databases.create('payments'), changes });
    return {
      ...ours,
      async minedAndSeen(id: string) {
        await chain.mine();
        await ours.look();
        return ours.session(id);
      },
    };
  }

  test('an exact amount from any wallet settles its session once, after its confirmations and without an open page', async () => {
    await using ours = await begin();
    const other = await ours.open();
    const session = await ours.open();

    await chain.pay({ from: 1, to: ours.recipient, amount: session.amountDue });
    await chain.mine();
    await ours.look();
    const seen = await ours.session(session.id);
    await chain.mine(BLOCKS_TO_SETTLE - 1);
    await ours.look();
    await ours.look();

    const settled = await ours.session(session.id);
    expect(session.amountDue).not.toBe(other.amountDue);
    expect(seen).toMatchObject({ status: 'active', paymentStatus: 'confirming', confirmations: 0 });
    expect(settled).toMatchObject({
      status: 'completed',
      paymentStatus: 'paid',
      payerAddress: chain.accounts[1],
      amountReceived: session.amountDue,
    });
    expect(await ours.session(other.id)).toMatchObject({ paymentStatus: 'awaiting_payment' });
    expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed']);
  });

  test('the last confirmation completes a payment, and not the block before it', async () => {
    await using ours = await begin({ confirmations: 2 });
    const session = await ours.open();

    await chain.pay({ from: 1, to: ours.recipient, amount: session.amountDue });
    const [inBlock, first, second] = [
      await ours.minedAndSeen(session.id),
      await ours.minedAndSeen(session.id),
      await ours.minedAndSeen(session.id),
    ];

    expect(inBlock).toMatchObject({ paymentStatus: 'confirming', confirmations: 0 });
    expect(first).toMatchObject({ paymentStatus: 'confirming', confirmations: 1 });
    expect(second).toMatchObject({ status: 'completed', confirmations: 2, requiredConfirmations: 2 });
  });

  test('with no confirmations required, a payment completes in its own block', async () => {
    await using ours = await begin({ confirmations: 0 });
    const session = await ours.open();

    await chain.pay({ from: 1, to: ours.recipient, amount: session.amountDue });
    const inBlock = await ours.minedAndSeen(session.id);

    expect(inBlock).toMatchObject({ status: 'completed', confirmations: 0, requiredConfirmations: 0 });
  });

  test('a wallet that signed settles its session with the price, in coins as well as tokens', async () => {
    await using ours = await begin();
    await ours.open();
    const tokens = await ours.open();
    await ours.open({ tokenAddress: NATIVE_COIN });
    const coins = await ours.open({ tokenAddress: NATIVE_COIN });
    await ours.bind(tokens.id, `${chain.accounts[2]}`);
    await ours.bind(coins.id, `${chain.accounts[3]}`);

    await chain.pay({ from: 2, to: ours.recipient, amount: tokens.amount });
    await chain.send({ from: 3, to: addressOf(ours.recipient), value: coins.amount });
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.look();
    await ours.look();

    expect(await ours.session(tokens.id)).toMatchObject({ status: 'completed', paymentStatus: 'paid' });
    expect(await ours.session(coins.id)).toMatchObject({ status: 'completed', paymentStatus: 'paid' });
  });

  test('two watchers of one chain settle each payment once', async () => {
    await using ours = await begin();
    const watched = paymentChain(chain);
    const second = watcherOf({ chain: watched, rpcUrls: [chain.rpcUrl], db: ours.db, clock: ours.clock });
    const sessions = await Promise.all(Array.from({ length: 5 }, () => ours.open()));

    for (const { amountDue } of sessions) await chain.pay({ from: 4, to: ours.recipient, amount: amountDue });
    await chain.mine();
    for (let mined = 0; mined < BLOCKS_TO_SETTLE; mined++) {
      await Promise.all([ours.look(), second.runOnce(never)]);
      ours.clock.advance(16_000);
      await Promise.all([second.runOnce(never), ours.look()]);
      await chain.mine();
    }
    await Promise.all([second.runOnce(never), ours.look()]);

    const events = await ours.events();
    expect(events.filter(type => type === 'payment.completed')).toHaveLength(5);
    expect(events.filter(type => type === 'checkout.completed')).toHaveLength(5);
  });
});
