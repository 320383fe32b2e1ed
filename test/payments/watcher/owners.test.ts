import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { transaction } from '#db/transaction.ts';
import type { Owner } from '#payments/model/owner.ts';
import type { CheckoutSession } from '#payments/model/session.ts';
import { recipientOwnership } from '#payments/recipients/recipient-ownership.ts';
import { recipientStore } from '#payments/recipients/recipient-store.ts';
import { settlement } from '#payments/settlement/settlement.ts';
import { startPaymentChain } from '../../lab/payment-chain.ts';
import { eachDatabase } from '../../support/databases.ts';
import { insertOwner } from '../../support/given-database.ts';
import { listedTransfers } from '../../support/listed-transfers.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { seals } from './setting.ts';
import { type WatchedShop, watchedShop } from './watched-shop.ts';

const PAYER = 1;
const PRICE = 5_000_000n;
const chain = await startPaymentChain({ clock: manualClock(Date.now()) });
afterAll(chain.stop);

eachDatabase('two organizations at one address', databases => {
  /** The owner of the address, because it named the address first. */
  let ours: WatchedShop;
  let theirs: Owner;
  beforeEach(async () => {
    ours = await watchedShop(chain, { database: await databases.create('payments') });
    theirs = await insertOwner(ours.db, 'test');
  });
  afterEach(() => ours[Symbol.asyncDispose]());

  const at = () => ({ chainId: chain.chainId, address: ours.recipient });
  const wallet = () => `${chain.accounts[PAYER]}`;
  const pay = (amount: bigint) => chain.pay({ from: PAYER, to: ours.recipient, amount });
  async function stateOf({ id }: CheckoutSession): Promise<string> {
    const { status, paymentStatus } = await ours.session(id);
    return `${status} ${paymentStatus}`;
  }
  const unmatchedOf = async (owner: Owner) =>
    (await listedTransfers(ours.db, owner, {}, { page: 1, limit: 10 })).data;
  const prove = (owner: Owner) =>
    transaction(ours.db, async handle => {
      const recipient = await recipientStore(handle).name(owner, at(), ours.clock.now());
      return recipientOwnership(handle).prove(recipient, 'signature', ours.clock.now());
    });

  test('money without a signed wallet is matched with the owner’s sessions, and the rest is the owner’s unmatched transfer', async () => {
    const own = await ours.open();
    const foreign = await ours.open(theirs);

    await pay(own.amountDue);
    await chain.pay({ from: PAYER + 1, to: ours.recipient, amount: foreign.amountDue });
    await ours.settle();

    expect([own.isWalletOnly, foreign.isWalletOnly]).toEqual([false, true]);
    expect(await stateOf(own)).toBe('completed paid');
    expect(await stateOf(foreign)).toBe('active awaiting_payment');
    expect((await unmatchedOf(ours.owner)).map(one => one.amount)).toEqual([foreign.amountDue]);
    expect(await unmatchedOf(theirs)).toEqual([]);
  });

  test('the owner can assign unmatched transfers, and the other organization has none', async () => {
    const own = await ours.open();
    const foreign = await ours.open(theirs);
    await pay(777n);
    await ours.settle();
    const [transfer] = await unmatchedOf(ours.owner);
    const assign = (owner: Owner, session: CheckoutSession) =>
      transaction(ours.db, handle =>
        settlement({ handle, seals, now: ours.clock.now() }).assign(owner, transfer?.id ?? '', session, {
          actor: 'api_key:ak_1',
          reason: null,
        }),
      );

    const taken = await assign(theirs, foreign);
    const assigned = await assign(ours.owner, own);

    expect(taken).toBeUndefined();
    expect(assigned).toMatchObject({ status: 'completed', amount: 777n });
    expect(await unmatchedOf(theirs)).toEqual([]);
  });

  test('a wallet that signed for both pays the owner’s session first and then the other', async () => {
    const foreign = await ours.open(theirs);
    await ours.bind(foreign.id, wallet());
    expect(foreign.isWalletOnly).toBe(false);
    await prove(ours.owner);
    // By age alone the session of the other organization would come first.
    ours.clock.advance(1_000);
    const own = await ours.open();
    await ours.bind(own.id, wallet());

    await pay(PRICE);
    await ours.settle();
    const first = [await stateOf(own), await stateOf(foreign)];
    await pay(PRICE);
    await ours.settle();

    expect(first).toEqual(['completed paid', 'active awaiting_payment']);
    expect([await stateOf(own), await stateOf(foreign)]).toEqual(['completed paid', 'completed paid']);
    expect(await unmatchedOf(ours.owner)).toEqual([]);
  });

  test('a claim for the other organization’s session does not take the owner’s payment', async () => {
    const own = await ours.open();
    const foreign = await ours.open(theirs);
    for (const { id } of [own, foreign]) await ours.bind(id, wallet());

    const hash = await pay(PRICE);
    await ours.claim(foreign.id, hash);
    await ours.settle();

    expect(await stateOf(own)).toBe('completed paid');
    expect((await ours.session(foreign.id)).status).toBe('active');
    expect((await ours.session(foreign.id)).amountReceived).toBe(0n);
  });

  test('a wallet that signed only for the other organization pays its session', async () => {
    const own = await ours.open();
    const foreign = await ours.open(theirs);
    await ours.bind(foreign.id, wallet());

    await pay(PRICE);
    await ours.settle();

    expect(await stateOf(foreign)).toBe('completed paid');
    expect(await stateOf(own)).toBe('active awaiting_payment');
    expect(await unmatchedOf(ours.owner)).toEqual([]);
  });

  test('a wallet that signed only for the other organization pays its ended session by the price alone', async () => {
    await ours.open({ subtotal: 9_000_000n, amount: 9_000_000n });
    const foreign = await ours.open(theirs);
    await ours.bind(foreign.id, wallet());
    await ours.expire(foreign.id);

    await pay(PRICE - 1n);
    await pay(PRICE);
    await ours.settle();

    expect(await ours.payments(foreign.id)).toMatchObject([{ amount: PRICE, isLate: true }]);
    expect((await unmatchedOf(ours.owner)).map(one => one.amount)).toEqual([PRICE - 1n]);
  });

  test('a transfer after the wallet’s session of the other organization was paid is the owner’s', async () => {
    await ours.open();
    const foreign = await ours.open(theirs);
    await ours.bind(foreign.id, wallet());
    await pay(PRICE);
    await ours.settle();

    await pay(123n);
    await ours.settle();

    expect((await unmatchedOf(ours.owner)).map(one => one.amount)).toEqual([123n]);
    expect(await ours.payments(foreign.id)).toHaveLength(1);
  });

  test('after the other organization proves its ownership, new money is matched with its sessions', async () => {
    const before = await ours.open();
    await pay(777n);
    await ours.settle();
    await prove(theirs);
    const after = await ours.open(theirs);

    await pay(before.amountDue);
    await pay(after.amountDue);
    await ours.settle();

    expect(await stateOf(before)).toBe('active awaiting_payment');
    expect(await stateOf(after)).toBe('completed paid');
    const amounts = (await unmatchedOf(theirs)).map(one => one.amount);
    expect(new Set(amounts)).toEqual(new Set([777n, before.amountDue]));
    expect(await unmatchedOf(ours.owner)).toEqual([]);
  });

  test('a transfer of the price of an older or since expired session suggests that session', async () => {
    await ours.open(theirs);
    const open = await ours.open();
    const expired = await ours.open({ subtotal: 9_000_000n, amount: 9_000_000n });
    await ours.expire(expired.id);
    await prove(ours.owner);

    for (const { amount } of [open, expired]) await pay(amount);
    await ours.settle();

    expect([open.isWalletOnly, expired.isWalletOnly]).toEqual([true, true]);
    const suggested = (await unmatchedOf(ours.owner)).map(one => [one.amount, one.suggestedSessionId]);
    expect(suggested).toHaveLength(2);
    expect(suggested).toEqual(
      expect.arrayContaining([
        [open.amount, open.id],
        [expired.amount, expired.id],
      ]),
    );
  });

  test('a hundred sessions of the other organization take none of the owner’s exact amounts', async () => {
    // With two decimals the tail is at most 20 units at this price, so only 18 amounts are not round.
    const scarce = { tokenDecimals: 2, amount: 2_000n, subtotal: 2_000n };
    const own = await ours.open(scarce);
    const foreign: CheckoutSession[] = [];
    for (let index = 0; index < 100; index++) foreign.push(await ours.open({ ...theirs, ...scarce }));

    const after = await ours.open(scarce);

    expect(foreign.filter(one => !one.isWalletOnly)).toEqual([]);
    expect([own.isWalletOnly, after.isWalletOnly]).toEqual([false, false]);
  });
});
