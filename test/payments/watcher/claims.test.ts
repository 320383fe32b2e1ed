import { expect } from 'vitest';
import { NOT_FOUND_MS } from '#payments/watcher/look/claim-follower.ts';
import { addressOf } from '../../lab/payment-chain.ts';
import { BLOCKS_TO_SETTLE } from './setting.ts';
import { eachWatchedShop, never } from './watched-shop.ts';

eachWatchedShop('claimed transactions', test => {
  test('a claimed transaction that reverts fails, and the session stays open for another try', async ({
    chain,
    ours,
  }) => {
    const session = await ours.boundSession();
    const reverting = await chain.pay({ from: 1, to: ours.recipient, amount: 10n ** 18n });
    await ours.claim(session.id, reverting);
    await ours.round();
    const waiting = await ours.payments(session.id);

    await chain.mine(1);
    await ours.round();

    expect(waiting).toMatchObject([{ status: 'pending', nonce: expect.any(Number) }]);
    expect(await ours.payments(session.id)).toMatchObject([{ status: 'failed', failureReason: 'reverted' }]);
    expect(await ours.session(session.id)).toMatchObject({ status: 'active', paymentStatus: 'failed' });
    expect(await ours.events()).toEqual(['payment.failed']);
  });

  test('a claim of a stranger’s failed transaction does not fail', async ({ chain, ours }) => {
    const session = await ours.boundSession();
    const reverting = await chain.pay({ from: 2, to: ours.recipient, amount: 10n ** 18n });
    await ours.claim(session.id, reverting);

    await chain.mine(1);
    await ours.round();

    expect(await ours.payments(session.id)).toMatchObject([{ status: 'pending' }]);
  });

  test('a claimed transaction is recorded by its receipt while a node withholds its log, and another look follows', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    const session = await ours.boundSession();
    await ours.round();
    ours.node.tell(({ method }) => (method === 'eth_getLogs' ? [] : undefined));
    const { hash } = await ours.payment(session.amountDue);
    await ours.claim(session.id, hash);
    await chain.mine(1);
    ours.clock.advance(3_000);

    const changes = await ours.watcher.runOnce(never);

    expect(await ours.payments(session.id)).toMatchObject([{ status: 'confirming', txHash: hash }]);
    expect(changes).toBeGreaterThan(0);
  });

  test('a claimed transaction that its wallet replaces with a higher fee is followed', async ({
    chain,
    ours,
  }) => {
    const session = await ours.boundSession();
    const nonce = Number(await chain.call('eth_getTransactionCount', chain.accounts[1], 'latest'));
    const slow = await chain.pay({ from: 1, to: ours.recipient, amount: session.amountDue });
    await ours.claim(session.id, slow);
    await ours.round();

    const fast = await chain.pay({ from: 1, to: ours.recipient, amount: session.amountDue, nonce, tip: 50 });
    await ours.settle();

    expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', txHash: fast }]);
    expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed']);
  });

  test('a claimed transaction that its wallet cancels or replaces by another payment fails with that reason', async ({
    chain,
    ours,
  }) => {
    const wallet = `${chain.accounts[1]}`;
    const reasons: unknown[] = [];
    for (const [to, value] of [
      [wallet, 0n],
      [wallet, 1n],
      [`${chain.accounts[7]}`, 0n],
    ] as const) {
      const session = await ours.open();
      await ours.bind(session.id, wallet);
      const nonce = Number(await chain.call('eth_getTransactionCount', wallet, 'latest'));
      await ours.claim(session.id, await chain.pay({ from: 1, to: ours.recipient, amount: 5_000_000n }));
      await ours.round();
      await chain.send({ from: 1, to: addressOf(to), value, nonce, tip: 50 });
      await chain.mine(3);
      await ours.round();
      reasons.push((await ours.payments(session.id)).map(one => one.failureReason));
    }

    expect(reasons).toEqual([['cancelled'], ['replaced'], ['replaced']]);
  });

  test('a cancelled transaction is distinguished from another one of its wallet in the same block', async ({
    chain,
    ours,
  }) => {
    const session = await ours.boundSession();
    const wallet = addressOf(`${chain.accounts[1]}`);
    const nonce = Number(await chain.call('eth_getTransactionCount', wallet, 'latest'));
    await chain.send({ from: 1, to: addressOf(`${chain.accounts[7]}`), value: 1n, nonce });
    await ours.claim(session.id, await chain.pay({ from: 1, to: ours.recipient, amount: 5_000_000n }));
    await ours.round();

    await chain.send({ from: 1, to: wallet, value: 0n, nonce: nonce + 1, tip: 50 });
    await chain.mine(3);
    await ours.round();

    expect(await ours.payments(session.id)).toMatchObject([{ status: 'failed', failureReason: 'cancelled' }]);
  });

  test('a claimed hash that is never seen fails after half an hour, and still pays if it is seen later', async ({
    chain,
    ours,
  }) => {
    const session = await ours.boundSession({ expiresAt: ours.clock.now() + 86_400_000 });
    const before = await chain.snapshot();
    const paid = await ours.payment(session.amountDue);
    await chain.fork(before, 1);
    await ours.claim(session.id, paid.hash);
    await ours.round();
    const patient = await ours.payments(session.id);
    ours.clock.advance(NOT_FOUND_MS);
    await ours.round();
    const failed = await ours.payments(session.id);

    await chain.call('eth_sendRawTransaction', paid.raw);
    await ours.settle();

    expect(patient).toMatchObject([{ status: 'pending' }]);
    expect(failed).toMatchObject([{ status: 'failed', failureReason: 'not_found' }]);
    expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed' }]);
  });

  test('a failed hash that is claimed again is searched for another half hour', async ({ ours }) => {
    const session = await ours.boundSession({ expiresAt: ours.clock.now() + 86_400_000 });
    const nowhere = `0x${'ab'.repeat(32)}`;
    await ours.claim(session.id, nowhere);
    ours.clock.advance(NOT_FOUND_MS);
    await ours.round();
    ours.clock.advance(NOT_FOUND_MS);
    await ours.round();
    const given = await ours.events();

    await ours.claim(session.id, nowhere);
    await ours.round();
    const again = await ours.payments(session.id);
    ours.clock.advance(NOT_FOUND_MS);
    await ours.round();

    expect(given).toEqual(['payment.failed']);
    expect(again).toMatchObject([{ status: 'pending' }]);
    expect(await ours.events()).toEqual(['payment.failed', 'payment.failed']);
  });

  test('a claimed transaction that leaves the pool is searched for half an hour from then', async ({
    chain,
    ours,
  }) => {
    const session = await ours.boundSession({ expiresAt: ours.clock.now() + 86_400_000 });
    await ours.claim(session.id, (await ours.payment(session.amountDue)).hash);
    await ours.round();
    ours.clock.advance(NOT_FOUND_MS);
    await ours.round();

    await chain.call('anvil_dropAllTransactions');
    ours.clock.advance(NOT_FOUND_MS / 2);
    await ours.round();
    const missing = await ours.payments(session.id);
    ours.clock.advance(NOT_FOUND_MS);
    await ours.round();

    expect(missing).toMatchObject([{ status: 'pending' }]);
    expect(await ours.payments(session.id)).toMatchObject([{ status: 'failed', failureReason: 'not_found' }]);
  });

  test('a payment that a reorganisation drops is searched for half an hour from then', async ({
    chain,
    ours,
  }) => {
    const session = await ours.open({ expiresAt: ours.clock.now() + 86_400_000 });
    const before = await chain.snapshot();
    await ours.payment(session.amountDue);
    await chain.mine(1);
    await ours.round();

    ours.clock.advance((NOT_FOUND_MS * 2) / 3);
    await chain.fork(before, 2);
    await ours.round();
    ours.clock.advance((NOT_FOUND_MS * 2) / 3);
    await ours.round();
    const missing = await ours.payments(session.id);
    ours.clock.advance(NOT_FOUND_MS);
    await ours.round();

    expect(missing).toMatchObject([{ status: 'pending', blockNumber: null }]);
    expect(await ours.payments(session.id)).toMatchObject([{ status: 'failed', failureReason: 'not_found' }]);
  });

  test('a claim that pays another session fails half an hour after it was looked up', async ({
    chain,
    ours,
  }) => {
    const expiresAt = ours.clock.now() + 86_400_000;
    const [theirs, session] = [await ours.open(), await ours.open({ expiresAt })];
    await ours.bind(session.id, `${chain.accounts[2]}`);
    const paid = await ours.payment(theirs.amountDue);
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();
    await ours.claim(session.id, paid.hash);

    const statuses: unknown[] = [];
    for (let look = 0; look < 3; look += 1) {
      ours.clock.advance((NOT_FOUND_MS * 2) / 3);
      await ours.round();
      statuses.push((await ours.payments(session.id)).map(({ status }) => status));
    }

    expect(statuses).toEqual([['pending'], ['pending'], ['failed']]);
  });

  test('a hash that paid another session pays nothing here, and its claim fails in the end', async ({
    chain,
    ours,
  }) => {
    const [theirs, session] = [
      await ours.open(),
      await ours.open({ expiresAt: ours.clock.now() + 86_400_000 }),
    ];
    await ours.bind(session.id, `${chain.accounts[2]}`);
    const paid = await ours.payment(theirs.amountDue);
    await ours.claim(session.id, paid.hash);
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();
    const pending = await ours.payments(session.id);
    ours.clock.advance(NOT_FOUND_MS);
    await ours.round();

    expect(await ours.session(theirs.id)).toMatchObject({ status: 'completed' });
    expect(pending).toMatchObject([{ status: 'pending' }]);
    expect(await ours.payments(session.id)).toMatchObject([{ status: 'failed', failureReason: 'not_found' }]);
  });
});
