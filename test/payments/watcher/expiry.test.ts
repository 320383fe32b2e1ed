import { expect } from 'vitest';
import { type PaymentChain, paymentChains } from '#payments/model/payment-chain.ts';
import type { SessionDraft } from '#payments/sessions/opening.ts';
import { expiryWorker } from '#payments/watcher/expiry.ts';
import { isAnvil } from '../../lab/chain-kind.ts';
import { BLOCKS_TO_SETTLE, log, paymentChain, seals } from './setting.ts';
import { eachWatchedShop, never } from './watched-shop.ts';

const DAY_MS = 24 * 3_600_000;
eachWatchedShop('the end of sessions', watchedTest => {
  const test = watchedTest
    /** Creates the worker that expires sessions, with these chains configured. */
    .extend(
      'expiryOf',
      ({ ours }) =>
        (chains: readonly PaymentChain[]) =>
          expiryWorker({ ...ours, seals, log, chains: paymentChains(chains) }),
    )
    /** Opens a session whose payment is mined but not deep enough. */
    .extend('confirming', ({ chain, ours }) => async (changes: Partial<SessionDraft> = {}) => {
      const session = await ours.open(changes);
      await ours.payment(session.amountDue);
      await chain.mine(1);
      await ours.round();
      return session;
    });

  test('a session expires once a block 15 seconds after its end was read, and not by the clock', async ({
    chain,
    ours,
    expiryOf,
  }) => {
    const expiry = expiryOf([paymentChain(chain)]);
    const end = ours.clock.now() + 300_000;
    const { id } = await ours.open({ expiresAt: end });
    const stateAfter = async (blockTime: number) => {
      await chain.mineAt(blockTime);
      await ours.round();
      await expiry.runOnce(never);
      return (await ours.session(id)).status;
    };

    ours.clock.advance(end - ours.clock.now() + 60_000);
    await ours.round();
    await expiry.runOnce(never);
    const byClock = (await ours.session(id)).status;
    const atEnd = await stateAfter(end + 10_000);
    const later = await stateAfter(end + 17_000);

    expect([byClock, atEnd, later]).toEqual(['active', 'active', 'expired']);
    expect(await ours.events()).toEqual(['checkout.expired']);
  });

  test.for([
    ['test', 600_000],
    ['live', DAY_MS],
  ] as const)(
    'without a new block, sessions on a chain with %s money expire %i ms after their end',
    async ([mode, silenceMs], { chain, ours, expiryOf }) => {
      const expiry = expiryOf([{ ...paymentChain(chain), mode }]);
      const { id, expiresAt } = await ours.open({
        expiresAt: ours.clock.now() + 300_000,
      });
      await ours.round();

      ours.clock.advance(expiresAt + silenceMs - 1 - ours.clock.now());
      await ours.look();
      await expiry.runOnce(never);
      const before = await ours.session(id);
      ours.clock.advance(1);
      await expiry.runOnce(never);

      expect(before.status).toBe('active');
      expect(await ours.session(id)).toMatchObject({ status: 'expired' });
    },
  );

  test('a payment in time completes its session, although its node stood still beyond the end', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    const chains = paymentChains([{ ...paymentChain(chain), mode: 'live' }]);
    const expiry = expiryWorker({ ...ours, seals, log, chains });
    const session = await ours.open({ expiresAt: ours.clock.now() + 300_000 });
    await ours.round();
    const stale = await chain.call('eth_getBlockByNumber', 'latest', false);
    ours.node.tell(({ method, params }) =>
      method === 'eth_getBlockByNumber' && params?.[0] === 'latest' ? stale : undefined,
    );
    await ours.payment(session.amountDue);
    await chain.mine(BLOCKS_TO_SETTLE);

    for (let look = 0; look < 20; look++) {
      ours.clock.advance(60_000);
      await ours.look();
      await expiry.runOnce(never);
    }
    const during = await ours.session(session.id);
    ours.node.tell(undefined);
    await ours.round();

    expect(during).toMatchObject({ status: 'active', paymentStatus: 'awaiting_payment' });
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed', isLate: false });
    expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed']);
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
    expect(await ours.events()).toEqual(['checkout.expired', 'payment.completed', 'checkout.paid_late']);
  });

  test('on a chain removed from the configuration a confirming payment holds its session for a day after the last scan', async ({
    ours,
    expiryOf,
    confirming,
  }) => {
    const expiry = expiryOf([]);
    const session = await confirming();
    ours.clock.advance(session.expiresAt + 2 * DAY_MS - ours.clock.now());
    await ours.round();
    await expiry.runOnce(never);
    const scanned = await ours.session(session.id);

    ours.clock.advance(DAY_MS - 1);
    await expiry.runOnce(never);
    const before = await ours.session(session.id);
    ours.clock.advance(1);
    await expiry.runOnce(never);

    expect([scanned.status, before.status]).toEqual(['active', 'active']);
    expect(await ours.session(session.id)).toMatchObject({ status: 'expired', isLate: true });
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

  // EDR refuses two blocks of the same second.
  test.runIf(isAnvil)(
    'a payment mined in time completes its session, even when its block is seen a little later',
    async ({ chain, ours, expiryOf }) => {
      const expiry = expiryOf([paymentChain(chain)]);
      const time = ours.clock.now() + 300_000;
      const session = await ours.open({ expiresAt: time });
      await ours.payment(session.amountDue);

      ours.clock.advance(time - ours.clock.now());
      await ours.round();
      await expiry.runOnce(never);
      for (let mined = 0; mined < BLOCKS_TO_SETTLE; mined += 1) await chain.mineAt(time);
      await ours.round();

      expect(await ours.session(session.id)).toMatchObject({ status: 'completed', isLate: false });
      expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed']);
    },
  );

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
    const session = await confirming({ expiresAt: ours.clock.now() + 300_000 });

    ours.clock.advance(session.expiresAt - ours.clock.now() + 400_000);
    await expiry.runOnce(never);
    const waiting = await ours.session(session.id);
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();

    expect(waiting).toMatchObject({ status: 'active', paymentStatus: 'confirming' });
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed', isLate: false });
  });
});
