import { numberToHex } from 'viem';
import { expect } from 'vitest';
import { type PaymentChain, paymentChains } from '#payments/model/payment-chain.ts';
import { expiryWorker } from '#payments/watcher/expiry.ts';
import { NOT_FOUND_MS } from '#payments/watcher/payment-hints.ts';
import type { Lie } from '../../support/faulty-node.ts';
import { addressOf } from '../../support/payment-chain.ts';
import { BLOCKS_TO_SETTLE, paymentChain, seals, watcherOf } from './setting.ts';
import { never, shopBehindNodes, test as watchedTest } from './watched-shop.ts';

const DAY_MS = 24 * 3_600_000;
const test = watchedTest
  /** Sends a transfer into the pool that can be sent again after a fork. */
  .extend('payment', ({ chain, ours }) => async (amount: bigint) => {
    const hash = await chain.pay({ from: 1, to: ours.recipient, amount });
    return { hash, raw: await chain.call('eth_getRawTransactionByHash', hash) };
  })
  /** Creates what ends sessions where these chains are configured. */
  .extend(
    'expiryOf',
    ({ ours, clock }) =>
      (chains: readonly PaymentChain[]) =>
        expiryWorker({ db: ours.db, seals, clock, chains: paymentChains(chains) }),
  );

function rawOf({ raw }: { raw: unknown }): `0x${string}` {
  return addressOf(`${raw}`);
}

test('a reorganisation before the depth takes a payment back and tells nobody; mined again, it settles once', async ({
  chain,
  ours,
  round,
  payment,
}) => {
  const session = await ours.open();
  const before = await chain.snapshot();
  const paid = await payment(session.amountDue);
  await chain.mine(BLOCKS_TO_SETTLE - 1);
  await round();
  const seen = await ours.session(session.id);

  await chain.fork(before, BLOCKS_TO_SETTLE);
  await round();
  const gone = await ours.session(session.id);
  const told = await ours.events();
  await chain.call('eth_sendRawTransaction', rawOf(paid));
  await chain.mine(BLOCKS_TO_SETTLE);
  await round();
  await round();

  expect(seen).toMatchObject({ paymentStatus: 'confirming', confirmations: BLOCKS_TO_SETTLE - 2 });
  expect(gone).toMatchObject({ status: 'active', paymentStatus: 'awaiting_payment', confirmations: 0 });
  expect(told).toEqual([]);
  expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
  expect(await ours.payments(session.id)).toHaveLength(1);
  expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed']);
});

test('a completed payment that the chain drops is told as failed, and its session says so', async ({
  chain,
  ours,
  round,
  payment,
}) => {
  const session = await ours.open();
  const before = await chain.snapshot();
  await payment(session.amountDue);
  await chain.mine(BLOCKS_TO_SETTLE);
  await round();

  await chain.fork(before, BLOCKS_TO_SETTLE);
  await round();
  const early = await ours.session(session.id);
  await chain.mine(1);
  await round();

  const [lost] = await ours.payments(session.id);
  expect(early).toMatchObject({ status: 'completed', isReorged: false });
  expect(lost).toMatchObject({ status: 'failed', failureReason: 'reorged' });
  expect(await ours.session(session.id)).toMatchObject({ status: 'completed', isReorged: true });
  expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed', 'payment.failed']);
});

test('a payment that was dropped while nobody watched is told, however much the chain has grown since', async ({
  chain,
  ours,
  clock,
  watcher,
  round,
  payment,
}) => {
  const session = await ours.open();
  const before = await chain.snapshot();
  await payment(session.amountDue);
  await chain.mine(BLOCKS_TO_SETTLE);
  await round();

  await chain.fork(before, 700);
  const restarted = watcherOf({ chain: paymentChain(chain), rpcUrls: [chain.rpcUrl], db: ours.db, clock });
  await watcher.resign();
  await restarted.runOnce(never);

  const [lost] = await ours.payments(session.id);
  expect(lost).toMatchObject({ status: 'failed', failureReason: 'reorged' });
  expect(await ours.session(session.id)).toMatchObject({ status: 'completed', isReorged: true });
  expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed', 'payment.failed']);
});

test('a payment that was dropped is told although the node could not show its block, or the newest one, at first', async ({
  chain,
}) => {
  const eventsAfter = async (lieOf: (paidIn: number) => Promise<Lie>) => {
    await using ours = await shopBehindNodes(chain);
    const session = await ours.open();
    const before = await chain.snapshot();
    await chain.pay({ from: 1, to: ours.recipient, amount: session.amountDue });
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();
    const paidIn = (await ours.payments(session.id))[0]?.blockNumber ?? -1;

    await chain.fork(before, 200);
    ours.node.tell(await lieOf(paidIn));
    await ours.round();
    ours.node.tell(undefined);
    await ours.round();
    await chain.mine(1);
    await ours.round();
    return ours.events();
  };

  const withoutBlock = await eventsAfter(
    async paidIn =>
      ({ method, params }) =>
        method === 'eth_getBlockByNumber' && params?.[0] === numberToHex(paidIn) ? null : undefined,
  );
  const withoutHead = await eventsAfter(async () => {
    const head = await chain.call('eth_getBlockByNumber', 'latest', false);
    const replaced = { ...Object(head), hash: `0x${'9'.repeat(64)}` };
    return ({ method, params }) =>
      method === 'eth_getBlockByNumber' && params?.[0] === 'latest' ? replaced : undefined;
  });

  const told = ['payment.completed', 'checkout.completed', 'payment.failed'];
  expect({ withoutBlock, withoutHead }).toEqual({ withoutBlock: told, withoutHead: told });
});

test('a completed payment that comes back in another block, with its log elsewhere, changes nothing', async ({
  chain,
  ours,
  round,
  payment,
}) => {
  const session = await ours.open();
  const before = await chain.snapshot();
  const paid = await payment(session.amountDue);
  await chain.mine(BLOCKS_TO_SETTLE);
  await round();
  const [first] = await ours.payments(session.id);

  // Another transfer comes first in the new block.
  await chain.fork(before, 0);
  await chain.pay({ from: 5, to: ours.recipient, amount: 1n, tip: 50 });
  await chain.call('eth_sendRawTransaction', rawOf(paid));
  await chain.mine(BLOCKS_TO_SETTLE + 2);
  await round();
  await round();

  const payments = await ours.payments(session.id);
  expect(payments).toHaveLength(1);
  expect(payments[0]).toMatchObject({ status: 'completed', txHash: paid.hash, logIndex: 1 });
  expect(first?.logIndex).toBe(0);
  expect(payments[0]?.blockHash).not.toBe(first?.blockHash);
  expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed']);
});

test('a payment that was told as lost and is seen later is completed after all', async ({
  chain,
  ours,
  round,
  payment,
}) => {
  const session = await ours.open();
  const before = await chain.snapshot();
  const paid = await payment(session.amountDue);
  await chain.mine(BLOCKS_TO_SETTLE);
  await round();
  await chain.fork(before, BLOCKS_TO_SETTLE + 1);
  await round();
  const lost = await ours.session(session.id);

  await chain.call('eth_sendRawTransaction', rawOf(paid));
  await chain.mine(BLOCKS_TO_SETTLE);
  await round();
  await round();

  const payments = await ours.payments(session.id);
  expect(lost.isReorged).toBe(true);
  expect(payments.map(one => one.status)).toEqual(['completed']);
  expect(await ours.session(session.id)).toMatchObject({ status: 'completed', isReorged: false });
});

test('a claimed transaction that reverts fails, and the session stays open for another try', async ({
  chain,
  ours,
  round,
}) => {
  const session = await ours.open();
  await ours.bind(session.id, `${chain.accounts[1]}`);
  const reverting = await chain.pay({ from: 1, to: ours.recipient, amount: 10n ** 18n });
  await ours.claim(session.id, reverting);
  await round();
  const waiting = await ours.payments(session.id);

  await chain.mine(1);
  await round();

  expect(waiting).toMatchObject([{ status: 'pending', nonce: expect.any(Number) }]);
  expect(await ours.payments(session.id)).toMatchObject([{ status: 'failed', failureReason: 'reverted' }]);
  expect(await ours.session(session.id)).toMatchObject({ status: 'active', paymentStatus: 'failed' });
  expect(await ours.events()).toEqual(['payment.failed']);
});

test('a stranger’s failed transaction that was claimed fails nothing', async ({ chain, ours, round }) => {
  const session = await ours.open();
  await ours.bind(session.id, `${chain.accounts[1]}`);
  const reverting = await chain.pay({ from: 2, to: ours.recipient, amount: 10n ** 18n });
  await ours.claim(session.id, reverting);

  await chain.mine(1);
  await round();

  expect(await ours.payments(session.id)).toMatchObject([{ status: 'pending' }]);
});

test('a claimed transaction that its wallet sends again with a higher fee is followed', async ({
  chain,
  ours,
  round,
}) => {
  const session = await ours.open();
  await ours.bind(session.id, `${chain.accounts[1]}`);
  const nonce = Number(await chain.call('eth_getTransactionCount', chain.accounts[1], 'latest'));
  const slow = await chain.pay({ from: 1, to: ours.recipient, amount: session.amountDue });
  await ours.claim(session.id, slow);
  await round();

  const fast = await chain.pay({ from: 1, to: ours.recipient, amount: session.amountDue, nonce, tip: 50 });
  await chain.mine(BLOCKS_TO_SETTLE);
  await round();
  await round();

  expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', txHash: fast }]);
  expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed']);
});

test('a claimed transaction that its wallet cancels or spends elsewhere fails with that reason', async ({
  chain,
  ours,
  round,
}) => {
  const wallet = `${chain.accounts[1]}`;
  const reasons: unknown[] = [];
  for (const to of [wallet, `${chain.accounts[7]}`]) {
    const session = await ours.open();
    await ours.bind(session.id, wallet);
    const nonce = Number(await chain.call('eth_getTransactionCount', wallet, 'latest'));
    await ours.claim(session.id, await chain.pay({ from: 1, to: ours.recipient, amount: 5_000_000n }));
    await round();
    await chain.send({ from: 1, to: addressOf(to), nonce, tip: 50 });
    await chain.mine(3);
    await round();
    reasons.push((await ours.payments(session.id)).map(one => one.failureReason));
  }

  expect(reasons).toEqual([['cancelled'], ['replaced']]);
});

test('a claimed hash that nobody ever sees fails after half an hour, and pays if it is seen later', async ({
  chain,
  ours,
  clock,
  round,
  payment,
}) => {
  const session = await ours.open({ expiresAt: clock.now() + 86_400_000 });
  await ours.bind(session.id, `${chain.accounts[1]}`);
  const before = await chain.snapshot();
  const paid = await payment(session.amountDue);
  await chain.fork(before, 1);
  await ours.claim(session.id, paid.hash);
  await round();
  const patient = await ours.payments(session.id);
  clock.advance(NOT_FOUND_MS);
  await round();
  const failed = await ours.payments(session.id);

  await chain.call('eth_sendRawTransaction', rawOf(paid));
  await chain.mine(BLOCKS_TO_SETTLE);
  await round();
  await round();

  expect(patient).toMatchObject([{ status: 'pending' }]);
  expect(failed).toMatchObject([{ status: 'failed', failureReason: 'not_found' }]);
  expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed' }]);
});

test('a hash that is claimed again after it was given up is looked for as long again', async ({
  chain,
  ours,
  clock,
  round,
}) => {
  const session = await ours.open({ expiresAt: clock.now() + 86_400_000 });
  await ours.bind(session.id, `${chain.accounts[1]}`);
  const nowhere = `0x${'ab'.repeat(32)}`;
  await ours.claim(session.id, nowhere);
  clock.advance(NOT_FOUND_MS);
  await round();
  clock.advance(NOT_FOUND_MS);
  await round();
  const given = await ours.events();

  await ours.claim(session.id, nowhere);
  await round();
  const again = await ours.payments(session.id);
  clock.advance(NOT_FOUND_MS);
  await round();

  expect(given).toEqual(['payment.failed']);
  expect(again).toMatchObject([{ status: 'pending' }]);
  expect(await ours.events()).toEqual(['payment.failed', 'payment.failed']);
});

test('a hash that paid for somebody else pays nothing here, and its claim fails in the end', async ({
  chain,
  ours,
  clock,
  round,
  payment,
}) => {
  const [theirs, session] = [await ours.open(), await ours.open({ expiresAt: clock.now() + 86_400_000 })];
  await ours.bind(session.id, `${chain.accounts[2]}`);
  const paid = await payment(theirs.amountDue);
  await ours.claim(session.id, paid.hash);
  await chain.mine(BLOCKS_TO_SETTLE);
  await round();
  const pending = await ours.payments(session.id);
  clock.advance(NOT_FOUND_MS);
  await round();

  expect(await ours.session(theirs.id)).toMatchObject({ status: 'completed' });
  expect(pending).toMatchObject([{ status: 'pending' }]);
  expect(await ours.payments(session.id)).toMatchObject([{ status: 'failed', failureReason: 'not_found' }]);
});

test('sessions expire once their chain was looked through, or could not be for ten minutes', async ({
  chain,
  ours,
  clock,
  round,
  expiryOf,
}) => {
  const expiry = expiryOf([paymentChain(chain)]);
  const looked = await ours.open({ expiresAt: clock.now() + 300_000 });
  const unknown = await ours.open({ chainId: 424_242, expiresAt: clock.now() + 300_000 });
  await round();
  clock.advance(316_000);
  await expiry.runOnce(never);
  const unscanned = await ours.session(looked.id);
  await round();
  await expiry.runOnce(never);
  const early = await ours.session(unknown.id);
  clock.advance(600_000);
  await expiry.runOnce(never);

  expect(unscanned.status).toBe('active');
  expect(await ours.session(looked.id)).toMatchObject({ status: 'expired' });
  expect(early.status).toBe('active');
  expect(await ours.session(unknown.id)).toMatchObject({ status: 'expired' });
  expect(await ours.events()).toEqual(['checkout.expired', 'checkout.expired']);
});

test('a payment in confirmation on a chain that left the configuration ends its session after a day, and is told as late once the chain is back', async ({
  chain,
  ours,
  clock,
  round,
  payment,
  expiryOf,
}) => {
  const session = await ours.open();
  await payment(session.amountDue);
  await chain.mine(1);
  await round();
  const expiry = expiryOf([]);

  clock.advance(session.expiresAt + DAY_MS - 1 - clock.now());
  await expiry.runOnce(never);
  const before = await ours.session(session.id);
  clock.advance(1);
  await expiry.runOnce(never);
  await expiry.runOnce(never);
  const gone = await ours.session(session.id);
  const [waiting] = await ours.payments(session.id);
  await chain.mine(BLOCKS_TO_SETTLE);
  await round();

  expect(before.status).toBe('active');
  expect(gone).toMatchObject({ status: 'expired', paymentStatus: 'confirming', isLate: true });
  expect(waiting).toMatchObject({ status: 'confirming', isLate: true });
  expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', isLate: true }]);
  expect(await ours.session(session.id)).toMatchObject({ status: 'expired', paymentStatus: 'paid' });
  expect(await ours.events()).toEqual(['checkout.expired', 'payment.completed']);
});

test('a payment in confirmation on a configured chain keeps its session open, however long the node is out', async ({
  chain,
  ours,
  clock,
  round,
  payment,
  expiryOf,
}) => {
  const session = await ours.open();
  await payment(session.amountDue);
  await chain.mine(1);
  await round();

  clock.advance(10 * DAY_MS);
  await expiryOf([paymentChain(chain)]).runOnce(never);
  const waiting = await ours.session(session.id);
  await chain.mine(BLOCKS_TO_SETTLE);
  await round();

  expect(waiting).toMatchObject({ status: 'active', paymentStatus: 'confirming' });
  expect(await ours.session(session.id)).toMatchObject({ status: 'completed', isLate: false });
});

test('a payment that was mined in time completes its session, also when its block is seen a little after', async ({
  chain,
  ours,
  clock,
  round,
  payment,
  expiryOf,
}) => {
  const expiry = expiryOf([paymentChain(chain)]);
  const latest = Number(Object(await chain.call('eth_getBlockByNumber', 'latest', false)).timestamp) * 1000;
  const time = Math.max(latest, clock.now()) + 300_000;
  const session = await ours.open({ expiresAt: time });
  await payment(session.amountDue);

  clock.advance(time - clock.now());
  await round();
  await expiry.runOnce(never);
  await chain.call('evm_setNextBlockTimestamp', Math.floor(time / 1000));
  await chain.mine(BLOCKS_TO_SETTLE);
  await round();

  expect(await ours.session(session.id)).toMatchObject({ status: 'completed', isLate: false });
  expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed']);
});

test('who pays just after the end of a session does not pay the next one of the same price', async ({
  chain,
  ours,
  round,
  payment,
}) => {
  const first = await ours.open();
  await ours.expire(first.id);
  const second = await ours.open();

  await payment(first.amountDue);
  await chain.mine(BLOCKS_TO_SETTLE);
  await round();
  await round();

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

test('a session whose payment is being confirmed does not expire', async ({
  chain,
  ours,
  clock,
  round,
  payment,
  expiryOf,
}) => {
  const expiry = expiryOf([paymentChain(chain)]);
  const session = await ours.open({ expiresAt: clock.now() + 300_000 });
  await payment(session.amountDue);
  await chain.mine(1);
  await round();

  clock.advance(700_000);
  await expiry.runOnce(never);
  const waiting = await ours.session(session.id);
  await chain.mine(BLOCKS_TO_SETTLE);
  await round();

  expect(waiting).toMatchObject({ status: 'active', paymentStatus: 'confirming' });
  expect(await ours.session(session.id)).toMatchObject({ status: 'completed', isLate: false });
});
