import { afterAll, expect, test } from 'vitest';
import type { CheckoutSession } from '#payments/model/session.ts';
import { candidateStore } from '#payments/sessions/candidates.ts';
import { transferDecisions } from '#payments/settlement/transfer-decisions.ts';
import { text } from '../../lab/json.ts';
import { startPaymentChain } from '../../lab/payment-chain.ts';
import { eachDatabase } from '../../support/databases.ts';
import { listedTransfers } from '../../support/listed-transfers.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { BLOCKS_TO_SETTLE } from './setting.ts';
import { watchedShop } from './watched-shop.ts';

const PRICE = 5_000_000n;
const STRANGER = 7;
const chain = await startPaymentChain({ clock: manualClock(Date.now()) });
afterAll(chain.stop);

eachDatabase('an unmatched transfer', databases => {
  async function begin() {
    const ours = await watchedShop(chain, { database: await databases.create('payments') });
    return {
      ...ours,
      async arrived(amount: bigint) {
        await chain.pay({ from: STRANGER, to: ours.recipient, amount });
        await ours.settle();
      },
      shown: async ({ id }: CheckoutSession) =>
        (await candidateStore(ours.db).ofSessions([id])).get(id)?.map(one => [one.amount, one.isOnly]) ?? [],
      confirmations: async ({ id }: CheckoutSession) =>
        (await candidateStore(ours.db).ofSessions([id])).get(id)?.map(one => one.confirmations),
      listed: async () =>
        (await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 10 })).data.map(one => one.amount),
    };
  }

  test('of a rounded amount is shown to the only checkout at that price as its own', async () => {
    await using ours = await begin();
    const rounding = await ours.open();
    const other = await ours.open({ subtotal: 9_000_000n, amount: 9_000_000n });

    await ours.arrived(PRICE);

    expect(await ours.shown(rounding)).toEqual([[PRICE, true]]);
    expect(await ours.shown(other)).toEqual([]);
  });

  test('that could be of several checkouts is shown to each of them, as not theirs alone', async () => {
    await using ours = await begin();
    const both = [await ours.open(), await ours.open()];

    await ours.arrived(PRICE);

    expect(await Promise.all(both.map(ours.shown))).toEqual([[[PRICE, false]], [[PRICE, false]]]);
  });

  test('of another amount is shown to the only open checkout from a tenth of its price to twice its exact amount', async () => {
    await using ours = await begin();
    const session = await ours.open();

    const twice = session.amountDue * 2n;
    for (const amount of [PRICE / 10n - 1n, twice + 1n, PRICE / 10n, twice]) await ours.arrived(amount);

    expect(await ours.shown(session)).toEqual([
      [PRICE / 10n, true],
      [twice, true],
    ]);
    expect(await ours.listed()).toHaveLength(4);
  });

  test('of another amount is shown to none while two checkouts are open', async () => {
    await using ours = await begin();
    const both = [await ours.open(), await ours.open({ subtotal: 9_000_000n, amount: 9_000_000n })];

    await ours.arrived(3_000_000n);

    expect(await Promise.all(both.map(ours.shown))).toEqual([[], []]);
  });

  test('is shown three at a time', async () => {
    await using ours = await begin();
    const session = await ours.open();

    for (let more = 1n; more <= 4n; more++) await ours.arrived(PRICE / 2n + more);

    expect(await ours.shown(session)).toHaveLength(3);
    expect(await ours.listed()).toHaveLength(4);
  });

  test('is shown from its first block on, with its confirmations, and listed once it has them', async () => {
    await using ours = await begin();
    const session = await ours.open();
    await chain.pay({ from: STRANGER, to: ours.recipient, amount: PRICE });
    const seen = [];

    for (let block = 0; block < BLOCKS_TO_SETTLE; block++) {
      await chain.mine(1);
      await ours.round();
      seen.push([await ours.confirmations(session), await ours.listed()]);
    }

    expect(seen).toEqual([
      [[0], []],
      [[1], []],
      [[2], [PRICE]],
    ]);
  });

  test('is shown to a checkout that opened after its block once it is confirmed', async () => {
    await using ours = await begin();
    const session = await ours.open();
    await chain.pay({ from: STRANGER, to: ours.recipient, amount: PRICE });
    await chain.mine(1);
    await ours.round();
    const before = await ours.shown(session);

    const later = await ours.open();
    await chain.mine(1);
    await ours.round();
    const unconfirmed = await ours.shown(later);
    await ours.settle();

    expect([before, unconfirmed]).toEqual([[[PRICE, true]], []]);
    expect(await Promise.all([session, later].map(ours.shown))).toEqual([[[PRICE, false]], [[PRICE, false]]]);
  });

  test('that the chain drops before it is confirmed is shown no longer', async () => {
    await using ours = await begin();
    const session = await ours.open();
    const before = await chain.snapshot();
    await ours.payment(PRICE);
    await chain.mine(1);
    await ours.round();
    const seen = await ours.shown(session);

    await chain.fork(before, 2);
    await ours.round();

    expect(seen).toEqual([[PRICE, true]]);
    expect(await ours.shown(session)).toEqual([]);
  });

  test('pays the checkout for which its sender signs before it is confirmed', async () => {
    await using ours = await begin();
    const session = await ours.open();
    await chain.pay({ from: STRANGER, to: ours.recipient, amount: PRICE });
    await chain.mine(1);
    await ours.round();

    const signed = await ours.prove(session.id, text(chain.accounts[STRANGER]).toLowerCase());
    await ours.settle();

    expect(signed).toMatchObject({ status: 'active', paymentStatus: 'confirming', amountReceived: 0n });
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed', amountReceived: PRICE });
    expect(await ours.shown(session)).toEqual([]);
  });

  test('that the merchant dismissed is shown to no payer, and pays nothing when its sender signs', async () => {
    await using ours = await begin();
    const session = await ours.open();
    await ours.arrived(PRICE);
    const [transfer] = (await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 10 })).data;

    const decision = { actor: 'api_key:ak_1', reason: null, now: chain.clock.now() } as const;
    await transferDecisions(ours.db).dismiss(text(transfer?.id), decision);

    expect(await ours.shown(session)).toEqual([]);
    expect(await ours.prove(session.id, text(chain.accounts[STRANGER]).toLowerCase())).toMatchObject({
      status: 'active',
      amountReceived: 0n,
    });
  });

  test('of several parts of the price completes the checkout for which their sender signs, with as many as it takes', async () => {
    await using ours = await begin();
    const session = await ours.open();
    for (const part of [2_000_000n, 1_000_000n, 2_000_000n, 1_500_000n]) await ours.arrived(part);

    const settled = await ours.prove(session.id, text(chain.accounts[STRANGER]).toLowerCase());

    expect(settled).toMatchObject({ status: 'completed', amountReceived: PRICE, amountOverpaid: 0n });
    expect((await ours.payments(session.id)).map(one => one.amount).toSorted()).toEqual([
      1_000_000n,
      2_000_000n,
      2_000_000n,
    ]);
    expect(await ours.listed()).toEqual([1_500_000n]);
  });

  test('completes the checkout for which its sender signs later, and is no candidate any more', async () => {
    await using ours = await begin();
    const [mine, other] = [await ours.open(), await ours.open()];
    await ours.arrived(PRICE);

    const settled = await ours.prove(mine.id, text(chain.accounts[STRANGER]).toLowerCase());
    const repeated = await ours.prove(mine.id, text(chain.accounts[STRANGER]).toLowerCase());

    expect(settled).toMatchObject({ status: 'completed', amountReceived: PRICE });
    expect(repeated).toEqual(settled);
    expect(await ours.shown(other)).toEqual([]);
    expect(await ours.listed()).toEqual([]);
  });
});
