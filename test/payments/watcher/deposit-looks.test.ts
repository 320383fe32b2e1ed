import { expect } from 'vitest';
import { execute } from '#db/query.ts';
import { DAY_MS } from '#lib/clock.ts';
import { watchedStore } from '#payments/store/watched-store.ts';
import { addressOf } from '../../lab/payment-chain.ts';
import { COINS, confirm, deployFactory, sendByContract, withoutTraces } from './deposit-support.ts';
import { eachWatchedShop, type ShopBehindNodes, type WatchedShop } from './watched-shop.ts';

const HOUR_MS = 3_600_000;

async function isWatched({ db }: WatchedShop, chainId: number, address: string): Promise<boolean> {
  const recipients = await watchedStore(db).recipients(chainId);
  return recipients.some(({ recipientAddress }) => recipientAddress === address);
}

eachWatchedShop('the deposit address of an ended checkout', databaseTest => {
  const test = databaseTest.extend(
    'untraced',
    ({ chain, behindNodes }) =>
      async (): Promise<ShopBehindNodes> => {
        await deployFactory(chain);
        const ours = await behindNodes();
        ours.node.tell(withoutTraces);
        return ours;
      },
  );

  test('is watched in each block for an hour, and then found by looks that skip nothing', async ({
    chain,
    untraced,
  }) => {
    await using ours = await untraced();
    const session = await ours.open({ depositRules: {} });
    const to = `${session.depositAddress}`;
    await ours.expire(session.id);
    await confirm(chain, ours);
    const early = await isWatched(ours, chain.chainId, to);

    ours.clock.advance(HOUR_MS);
    await confirm(chain, ours);
    const late = await isWatched(ours, chain.chainId, to);
    for (const amount of [5n, 7n]) {
      // The memory of watched recipients is read again in the meantime.
      ours.clock.advance(HOUR_MS);
      await confirm(chain, ours);
      await chain.pay({ from: 1, to, amount });
      await chain.mine();
    }
    await confirm(chain, ours);
    const before = await ours.payments(session.id);
    ours.clock.advance(DAY_MS);
    await confirm(chain, ours);
    const after = await ours.payments(session.id);
    for (const amount of [11n, 13n]) {
      await chain.pay({ from: 2, to, amount });
      await confirm(chain, ours);
      ours.clock.advance(7 * DAY_MS);
      await confirm(chain, ours);
    }

    expect([early, late]).toEqual([true, false]);
    expect(before).toEqual([]);
    const amountsOf = (payments: typeof before) => payments.map(({ amount }) => amount).toSorted();
    expect(amountsOf(after)).toEqual([5n, 7n]);
    const all = await ours.payments(session.id);
    expect(amountsOf(all)).toEqual([11n, 13n, 5n, 7n]);
    expect(new Set(all.map(({ status, isLate }) => `${status} ${isLate}`))).toEqual(
      new Set(['completed true']),
    );
  });

  test('shows coins by its balance, also those of accounts, at once when the merchant asks', async ({
    chain,
    untraced,
  }) => {
    await using ours = await untraced();
    const session = await ours.open(COINS);
    const to = addressOf(`${session.depositAddress}`);
    await ours.expire(session.id);
    ours.clock.advance(2 * HOUR_MS);
    await confirm(chain, ours);
    ours.clock.advance(HOUR_MS);
    await confirm(chain, ours);
    await chain.send({ from: 1, to, value: 5n });
    await sendByContract(chain, to, 7n);
    await confirm(chain, ours);
    const before = await ours.payments(session.id);

    await execute(ours.db, 'update deposit_addresses set next_look_at = ? where address = ?', [
      ours.clock.now(),
      to,
    ]);
    ours.clock.advance(11_000);
    await ours.look();

    expect(before).toEqual([]);
    expect(await ours.payments(session.id)).toMatchObject([
      { amount: 12n, txHash: null, status: 'completed', isLate: true },
    ]);
    expect(await ours.events()).toContain('checkout.paid_late');
  });

  test('is watched again when its session is open again, and nothing between is lost', async ({
    chain,
    untraced,
  }) => {
    await using ours = await untraced();
    const session = await ours.open({ depositRules: {} });
    const to = `${session.depositAddress}`;
    await ours.expire(session.id);
    for (let count = 0; count < 2; count++) {
      ours.clock.advance(2 * HOUR_MS);
      await confirm(chain, ours);
    }
    await chain.pay({ from: 1, to, amount: 5n });
    await confirm(chain, ours);
    const before = await ours.payments(session.id);

    // As one of a link that had sold out.
    await execute(ours.db, "update checkout_sessions set status = 'active', ended_at = null where id = ?", [
      session.id,
    ]);
    ours.clock.advance(60_000);
    await confirm(chain, ours);
    await confirm(chain, ours);
    const between = await ours.payments(session.id);
    const isAgain = await isWatched(ours, chain.chainId, to);
    await chain.pay({ from: 1, to, amount: 7n });
    await confirm(chain, ours);

    expect(before).toEqual([]);
    expect(between).toMatchObject([{ amount: 5n }]);
    expect(isAgain).toBe(true);
    expect(await ours.payments(session.id)).toHaveLength(2);
  });

  test('that the merchant looks at while it is open stays watched', async ({ chain, untraced }) => {
    await using ours = await untraced();
    const session = await ours.open({ depositRules: {} });
    await confirm(chain, ours);

    await execute(ours.db, 'update deposit_addresses set next_look_at = ?', [ours.clock.now()]);
    await confirm(chain, ours);
    await chain.pay({ from: 1, to: `${session.depositAddress}`, amount: session.amount });
    await confirm(chain, ours);

    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
  });

  test('keeps a payment that a reorganisation moves to another block', async ({ chain, untraced }) => {
    await using ours = await untraced();
    const session = await ours.open({ depositRules: {} });
    await ours.expire(session.id);
    for (let count = 0; count < 2; count++) {
      ours.clock.advance(2 * HOUR_MS);
      await confirm(chain, ours);
    }
    await chain.mine();
    const before = await chain.snapshot();
    const hash = await chain.pay({ from: 1, to: `${session.depositAddress}`, amount: 5n });
    const raw = chain.rawOf(hash);
    await confirm(chain, ours);
    ours.clock.advance(DAY_MS);
    await confirm(chain, ours);
    const [paid] = await ours.payments(session.id);

    await chain.fork(before, 2);
    await chain.call('eth_sendRawTransaction', raw);
    await chain.mine(8);
    for (let count = 0; count < 3; count++) await ours.round();

    expect(paid).toMatchObject({ status: 'completed', amount: 5n });
    const payments = await ours.payments(session.id);
    expect(payments).toMatchObject([{ id: paid?.id, status: 'completed', txHash: hash }]);
    expect(payments[0]?.blockNumber).toBeGreaterThan(paid?.blockNumber ?? 0);
  });
});
