import { expect } from 'vitest';
import { type PaymentChain, paymentChains } from '#payments/model/payment-chain.ts';
import type { SessionDraft } from '#payments/sessions/session-store.ts';
import { expiryWorker } from '#payments/watcher/expiry.ts';
import type { TestPaymentChain } from '../../support/payment-chain.ts';
import { BLOCKS_TO_SETTLE, paymentChain, seals } from './setting.ts';
import { eachWatchedShop, never } from './watched-shop.ts';

const DAY_MS = 24 * 3_600_000;
eachWatchedShop('the end of sessions', watchedTest => {
  const test = watchedTest
    /** Creates the worker that expires sessions, with these chains configured. */
    .extend(
      'expiryOf',
      ({ ours }) =>
        (chains: readonly PaymentChain[]) =>
          expiryWorker({ db: ours.db, seals, clock: ours.clock, chains: paymentChains(chains) }),
    )
    /** Opens a session whose payment is mined but not deep enough. */
    .extend('confirming', ({ chain, ours }) => async (changes: Partial<SessionDraft> = {}) => {
      const session = await ours.open(changes);
      await ours.payment(session.amountDue);
      await chain.mine(1);
      await ours.round();
      return session;
    });

  test('sessions expire once their chain was scanned, or could not be scanned for ten minutes', async ({
    chain,
    ours,
    expiryOf,
  }) => {
    const expiry = expiryOf([paymentChain(chain)]);
    const looked = await ours.open({ expiresAt: ours.clock.now() + 300_000 });
    const unknown = await ours.open({ chainId: 424_242, expiresAt: ours.clock.now() + 300_000 });
    await ours.round();
    ours.clock.advance(316_000);
    await expiry.runOnce(never);
    const unscanned = await ours.session(looked.id);
    await ours.round();
    await expiry.runOnce(never);
    const early = await ours.session(unknown.id);
    ours.clock.advance(600_000);
    await expiry.runOnce(never);

    expect(unscanned.status).toBe('active');
    expect(await ours.session(looked.id)).toMatchObject({ status: 'expired' });
    expect(early.status).toBe('active');
    expect(await ours.session(unknown.id)).toMatchObject({ status: 'expired' });
    expect(await ours.events()).toEqual(['checkout.expired', 'checkout.expired']);
  });

  test('on a chain removed from the configuration a confirming payment holds its session for a day, and is late afterwards', async ({
    chain,
    ours,
    expiryOf,
    confirming,
  }) => {
    const expiry = expiryOf([]);
    const session = await confirming();

    ours.clock.advance(session.expiresAt + DAY_MS - 1 - ours.clock.now());
    await expiry.runOnce(never);
    const before = await ours.session(session.id);
    ours.clock.advance(1);
    await expiry.runOnce(never);
    await expiry.runOnce(never);
    const gone = await ours.session(session.id);
    const [waiting] = await ours.payments(session.id);
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();

    expect(before.status).toBe('active');
    expect(gone).toMatchObject({ status: 'expired', paymentStatus: 'confirming', isLate: true });
    expect(waiting).toMatchObject({ status: 'confirming', isLate: true });
    expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', isLate: true }]);
    expect(await ours.session(session.id)).toMatchObject({ status: 'expired', paymentStatus: 'paid' });
    expect(await ours.events()).toEqual(['checkout.expired', 'payment.completed']);
  });

  test('a confirming payment on a configured chain keeps its session open for as long as the node is down', async ({
    chain,
    ours,
    expiryOf,
    confirming,
  }) => {
    const session = await confirming();

    ours.clock.advance(10 * DAY_MS);
    await expiryOf([paymentChain(chain)]).runOnce(never);
    const waiting = await ours.session(session.id);
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();

    expect(waiting).toMatchObject({ status: 'active', paymentStatus: 'confirming' });
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed', isLate: false });
  });

  test('a payment mined in time completes its session, even when its block is seen a little later', async ({
    chain,
    ours,
    expiryOf,
  }) => {
    const expiry = expiryOf([paymentChain(chain)]);
    const time = (await newestTime(chain, ours.clock.now())) + 300_000;
    const session = await ours.open({ expiresAt: time });
    await ours.payment(session.amountDue);

    ours.clock.advance(time - ours.clock.now());
    await ours.round();
    await expiry.runOnce(never);
    await chain.call('evm_setNextBlockTimestamp', Math.floor(time / 1000));
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();

    expect(await ours.session(session.id)).toMatchObject({ status: 'completed', isLate: false });
    expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed']);
  });

  test('a payment just after the end of a session does not pay the next one of the same price', async ({
    ours,
  }) => {
    const first = await ours.open();
    await ours.expire(first.id);
    const second = await ours.open();

    await ours.payment(first.amountDue);
    await ours.settle();

    expect(await ours.session(first.id)).toMatchObject({
      status: 'expired',
      isLate: true,
      paymentStatus: 'paid',
    });
    expect(await ours.session(second.id)).toMatchObject({
      status: 'active',
      paymentStatus: 'awaiting_payment',
    });
  });

  test('a session with a confirming payment does not expire', async ({
    chain,
    ours,
    expiryOf,
    confirming,
  }) => {
    const expiry = expiryOf([paymentChain(chain)]);
    const session = await confirming({ expiresAt: (await newestTime(chain, ours.clock.now())) + 300_000 });

    ours.clock.advance(session.expiresAt - ours.clock.now() + 400_000);
    await expiry.runOnce(never);
    const waiting = await ours.session(session.id);
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();

    expect(waiting).toMatchObject({ status: 'active', paymentStatus: 'confirming' });
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed', isLate: false });
  });
});

/** The later of `time` and the newest block's time, because earlier tests may have moved the chain's time ahead. */
async function newestTime(chain: TestPaymentChain, time: number): Promise<number> {
  const head = await chain.call('eth_getBlockByNumber', 'latest', false);
  return Math.max(Number(Object(head).timestamp) * 1000, time);
}
