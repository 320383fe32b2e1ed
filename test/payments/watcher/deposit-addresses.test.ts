import { afterAll, beforeAll, expect, test } from 'vitest';
import { execute } from '#db/query.ts';
import { CURRENT_FACTORY, forwarderAddress } from '#deposits/deposit-factory.ts';
import { sweepInput } from '#deposits/sweep-call.ts';
import { depositAddressStore } from '#payments/deposits/deposit-address-store.ts';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import { MAX_PAYMENTS } from '#payments/model/session.ts';
import { LATE_PAYMENT_MS } from '#payments/settlement/match.ts';
import { asAddress } from '#payments/watcher/node/transfer-logs.ts';
import { addressOf, startPaymentChain, type TestPaymentChain } from '../../lab/payment-chain.ts';
import { eachDatabase } from '../../support/databases.ts';
import { listedTransfers } from '../../support/listed-transfers.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { deployFactory, GAS } from './deposit-support.ts';
import { BLOCKS_TO_SETTLE } from './setting.ts';
import { watchedShop } from './watched-shop.ts';

const RULES = { depositRules: {} };
const HOUR_MS = 3_600_000;

eachDatabase('a session with a deposit address', databases => {
  let chain: TestPaymentChain<ManualClock>;

  beforeAll(async () => {
    chain = await startPaymentChain({ clock: manualClock(Date.now()) });
  });
  afterAll(() => chain.stop());

  async function begin() {
    const ours = await watchedShop(chain, { database: await databases.create('payments') });
    return {
      ...ours,
      async settled(id: string) {
        // Payments are listed by the time at which they were found.
        ours.clock.advance(1_000);
        await chain.mine(BLOCKS_TO_SETTLE);
        await ours.look();
        await ours.look();
        return ours.session(id);
      },
    };
  }

  test('is paid by any amounts of any senders, in parts', async () => {
    await using ours = await begin();
    const session = await ours.open(RULES);
    const to = `${session.depositAddress}`;

    await chain.pay({ from: 1, to, amount: session.amount - 5n });
    const part = await ours.settled(session.id);
    ours.clock.advance(1_000);
    await chain.pay({ from: 2, to, amount: 6n });
    const whole = await ours.settled(session.id);

    expect(session).toMatchObject({ amountDue: session.amount, isWalletOnly: true });
    expect(part).toMatchObject({ status: 'active', paymentStatus: 'underpaid' });
    expect(whole).toMatchObject({
      status: 'completed',
      amountReceived: session.amount + 1n,
      amountOverpaid: 1n,
    });
    expect(await ours.payments(session.id)).toMatchObject([
      { matchedBy: 'deposit_address', isPartial: true, recipient: to },
      { matchedBy: 'deposit_address', overpaidAmount: 1n },
    ]);
  });

  test('is paid in coins', async () => {
    await using ours = await begin();
    const session = await ours.open({ ...RULES, tokenAddress: NATIVE_COIN });

    await chain.send({ from: 1, to: asAddress(`${session.depositAddress}`), value: session.amount });

    expect(await ours.settled(session.id)).toMatchObject({
      status: 'completed',
      amountReceived: session.amount,
    });
  });

  test('keeps what comes late and twice, however long after its end', async () => {
    await using ours = await begin();
    const late = await ours.open(RULES);
    const twice = await ours.open(RULES);
    await ours.expire(late.id);
    await chain.pay({ from: 1, to: `${twice.depositAddress}`, amount: twice.amount });
    await ours.settled(twice.id);

    ours.clock.advance(LATE_PAYMENT_MS + HOUR_MS);
    await chain.mine();
    await chain.pay({ from: 1, to: `${late.depositAddress}`, amount: late.amount });
    await chain.pay({ from: 2, to: `${twice.depositAddress}`, amount: twice.amount });

    expect(await ours.settled(late.id)).toMatchObject({
      status: 'expired',
      isLate: true,
      paymentStatus: 'paid',
    });
    expect(await ours.session(twice.id)).toMatchObject({ status: 'completed', amountOverpaid: twice.amount });
  });

  test('is paid although a stranger sent a hundred small amounts before', async () => {
    await using ours = await begin();
    const session = await ours.open(RULES);
    const to = `${session.depositAddress}`;
    for (let count = 0; count < MAX_PAYMENTS; count++) await chain.pay({ from: 3, to, amount: 1n });
    await ours.settled(session.id);

    await chain.pay({ from: 3, to, amount: 1n });
    await chain.pay({ from: 1, to, amount: session.amount / 2n });
    await chain.pay({ from: 1, to, amount: session.amount / 2n });
    const paid = await ours.settled(session.id);

    const { data } = await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 10 });
    expect(paid).toMatchObject({ status: 'completed' });
    expect(await ours.payments(session.id)).toHaveLength(MAX_PAYMENTS + 2);
    expect(data.map(one => one.amount)).toEqual([1n]);
  });

  test('takes no payment for another session, and its amount is free for others', async () => {
    await using ours = await begin();
    const session = await ours.open(RULES);
    const other = await ours.open();

    await chain.pay({ from: 1, to: ours.recipient, amount: session.amountDue });
    await chain.pay({ from: 1, to: `${session.depositAddress}`, amount: other.amountDue });
    const paid = await ours.settled(session.id);

    expect(paid).toMatchObject({ status: 'completed', amountReceived: other.amountDue });
    expect(await ours.session(other.id)).toMatchObject({ paymentStatus: 'awaiting_payment' });
  });

  test.each([
    ['tokens', undefined],
    ['coins', NATIVE_COIN],
  ])('pays its recipient by a sweep of %s, which is a payment of nothing', async (_, tokenAddress) => {
    await deployFactory(chain);
    await using ours = await begin();
    const terms = tokenAddress === undefined ? {} : { tokenAddress };
    const session = await ours.open({ ...RULES, ...terms });
    const other = await ours.open(terms);
    const to = addressOf(`${session.depositAddress}`);
    await (tokenAddress === undefined
      ? chain.pay({ from: 1, to, amount: other.amountDue })
      : chain.send({ from: 1, to, value: other.amountDue }));
    await ours.settled(session.id);

    const issued = await depositAddressStore(ours.db).find(`${session.depositAddress}`);
    const token = tokenAddress === undefined ? chain.token : null;
    const item = { recipient: addressOf(ours.recipient), salt: issued?.salt ?? '0x', token };
    await chain.send({ from: 3, to: CURRENT_FACTORY.address, data: sweepInput([item]), gas: GAS });
    await chain.mine();
    await ours.settled(session.id);

    expect(await ours.session(other.id)).toMatchObject({ paymentStatus: 'awaiting_payment' });
    expect((await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 10 })).data).toEqual([]);
  });

  test('leaves its address to the organization when it is removed', async () => {
    await using ours = await begin();
    const session = await ours.open(RULES);
    await ours.look();
    await execute(ours.db, 'delete from checkout_sessions where id = ?', [session.id]);

    await chain.pay({ from: 1, to: `${session.depositAddress}`, amount: 3n });
    await ours.settled((await ours.open()).id);

    const [listed] = (await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 10 })).data;
    expect(listed).toMatchObject({ recipient: session.depositAddress, amount: 3n });
  });

  test('has sums without a transfer that the chain dropped', async () => {
    await using ours = await begin();
    const session = await ours.open(RULES);
    await ours.look();
    await execute(ours.db, 'delete from checkout_sessions where id = ?', [session.id]);
    const { id } = await ours.open();
    const before = await chain.snapshot();
    await chain.pay({ from: 1, to: `${session.depositAddress}`, amount: 3n });
    await ours.settled(id);
    const received = async () =>
      (await depositAddressStore(ours.db).find(`${session.depositAddress}`))?.amountReceived;
    const listed = await received();

    await chain.fork(before, BLOCKS_TO_SETTLE);
    await ours.settled(id);

    expect([listed, await received()]).toEqual([3n, 0n]);
  });

  test('has an address that follows from seed, epoch and number', async () => {
    await using ours = await begin();
    const sessions = [await ours.open(RULES), await ours.open(RULES)];

    const issued = await Promise.all(
      sessions.map(one => depositAddressStore(ours.db).find(`${one.depositAddress}`)),
    );

    expect(issued.map(one => one?.number)).toEqual([0, 1]);
    for (const [index, one] of issued.entries()) {
      const computed = one && forwarderAddress({ recipient: asAddress(ours.recipient), salt: one.salt });
      expect(computed?.toLowerCase()).toBe(sessions[index]?.depositAddress);
    }
  });
});
