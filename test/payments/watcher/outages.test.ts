import { expect } from 'vitest';
import { paymentChains } from '#payments/model/payment-chain.ts';
import { expiryWorker } from '#payments/watcher/expiry.ts';
import { log, paymentChain, seals } from './setting.ts';
import { eachWatchedShop, never, type WatchedShop } from './watched-shop.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const PAYERS = 5;

eachWatchedShop('after an outage', watchedTest => {
  const test = watchedTest
    /** A worker that expires sessions, as of a process that starts now. */
    .extend('startExpiry', ({ chain }) => (ours: WatchedShop, mode: 'live' | 'test') => {
      const chains = paymentChains([{ ...paymentChain(chain), mode }]);
      return expiryWorker({ ...ours, seals, log, chains });
    })
    /** The time of the newest block, after which the clock of the shop is set. */
    .extend('meet', ({ chain }) => async (ours: WatchedShop) => {
      const time = Math.max(await chain.newestTime(), ours.clock.now());
      ours.clock.advance(time - ours.clock.now());
      return time;
    });

  test.for([
    ['live', 45 * MINUTE_MS],
    ['test', 45 * MINUTE_MS],
    ['live', 26 * HOUR_MS],
    ['test', 26 * HOUR_MS],
  ] as const)(
    'on a chain with %s money of %i ms, everybody who paid in time has paid',
    async ([mode, outageMs], { chain, ours, meet, startExpiry }) => {
      const start = await meet(ours);
      const sessions = [];
      for (let payer = 0; payer < PAYERS; payer++) sessions.push(await ours.open());
      await ours.round();
      for (const { amountDue } of sessions) await ours.payment(amountDue);
      await chain.mineAt(start + 2 * MINUTE_MS);
      await chain.mineAt(start + 31 * MINUTE_MS);
      await chain.mineAt(start + outageMs);

      ours.clock.advance(outageMs);
      const expiry = startExpiry(ours, mode);
      await expiry.runOnce(never);
      for (let round = 0; round < 3; round++) {
        await ours.round();
        await expiry.runOnce(never);
      }

      const events = await ours.events();
      expect(events.filter(type => type === 'checkout.completed')).toHaveLength(PAYERS);
      expect(events).not.toContain('checkout.expired');
      const ended = await Promise.all(sessions.map(({ id }) => ours.session(id)));
      expect(ended.map(({ isLate }) => isLate)).toEqual(sessions.map(() => false));
    },
  );

  test('a payment that was mined after the end is late, and an unpaid session ends with the blocks', async ({
    chain,
    ours,
    meet,
    startExpiry,
  }) => {
    const start = await meet(ours);
    const [late, unpaid] = [await ours.open(), await ours.open()];
    await ours.round();
    await ours.payment(late.amountDue);
    await chain.mineAt(start + 35 * MINUTE_MS);
    await chain.mineAt(start + 36 * MINUTE_MS);
    await chain.mineAt(start + 45 * MINUTE_MS);

    ours.clock.advance(45 * MINUTE_MS);
    const expiry = startExpiry(ours, 'live');
    for (let round = 0; round < 3; round++) {
      await ours.round();
      await expiry.runOnce(never);
    }

    expect(await ours.session(late.id)).toMatchObject({ status: 'expired', isLate: true });
    expect(await ours.session(unpaid.id)).toMatchObject({ status: 'expired', isLate: false });
    expect(await ours.events()).not.toContain('checkout.completed');
  });

  test('without a block for a day a session ends, and what is found later is late', async ({
    chain,
    behindNodes,
    meet,
    startExpiry,
  }) => {
    await using ours = await behindNodes();
    const start = await meet(ours);
    const session = await ours.open();
    await ours.round();
    const expiry = startExpiry(ours, 'live');
    ours.node.tell(() => new Error('out'));
    await ours.payment(session.amountDue);
    await chain.mineAt(start + MINUTE_MS);
    await chain.mineAt(start + 2 * MINUTE_MS);
    await chain.mineAt(start + 3 * MINUTE_MS);

    ours.clock.advance(session.expiresAt + 24 * HOUR_MS - SECOND_MS - ours.clock.now());
    await expiry.runOnce(never);
    const before = await ours.session(session.id);
    ours.clock.advance(SECOND_MS);
    await expiry.runOnce(never);
    const after = await ours.session(session.id);
    ours.node.tell(undefined);
    for (let round = 0; round < 3; round++) await ours.round();

    expect([before.status, after.status]).toEqual(['active', 'expired']);
    expect(await ours.session(session.id)).toMatchObject({
      status: 'expired',
      isLate: true,
      paymentStatus: 'paid',
    });
    expect(await ours.events()).toEqual(['checkout.expired', 'payment.completed', 'checkout.paid_late']);
  });

  test.for([20, 60, 180])(
    'and with a clock %i s ahead of the chain, a quick payer has paid',
    async (aheadSeconds, { chain, ours, meet }) => {
      const chainTime = await meet(ours);
      await ours.round();
      ours.clock.advance(aheadSeconds * SECOND_MS);
      const session = await ours.open();
      await ours.payment(session.amountDue);
      await chain.mineAt(chainTime + 4 * SECOND_MS);
      await chain.mineAt(chainTime + 5 * SECOND_MS);
      await chain.mineAt(chainTime + 6 * SECOND_MS);

      for (let round = 0; round < 2; round++) await ours.round();

      expect(await ours.session(session.id)).toMatchObject({ status: 'completed', isLate: false });
    },
  );

  test('and with a clock a minute behind the chain, a session waits for the payments of its last seconds', async ({
    chain,
    ours,
    meet,
    startExpiry,
  }) => {
    const start = await meet(ours);
    const expiry = startExpiry(ours, 'live');
    const session = await ours.open();
    await ours.round();
    ours.clock.advance(session.expiresAt - ours.clock.now());
    await chain.mineAt(start + 31 * MINUTE_MS);
    await ours.round();
    await expiry.runOnce(never);
    const atEnd = await ours.session(session.id);

    ours.clock.advance(15 * SECOND_MS);
    await chain.mineAt(start + 31.5 * MINUTE_MS);
    await ours.round();
    await expiry.runOnce(never);

    expect(atEnd.status).toBe('active');
    expect(await ours.session(session.id)).toMatchObject({ status: 'expired' });
  });
});
