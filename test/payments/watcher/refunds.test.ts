import { encodeFunctionData } from 'viem';
import { expect } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { fungibleAbi } from '#devnet/activity/abis.ts';
import { DAY_MS } from '#lib/clock.ts';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import type { Refund } from '#payments/model/refund.ts';
import { recipientStore } from '#payments/recipients/recipient-store.ts';
import { refundMoves } from '#payments/refunds/refund-moves.ts';
import { refundStore } from '#payments/refunds/refund-store.ts';
import { list, record } from '../../lab/json.ts';
import { addressOf } from '../../lab/payment-chain.ts';
import { aRefund } from '../../lab/payments-refunds.ts';
import { insertOwner } from '../../support/given-database.ts';
import { BLOCKS_TO_SETTLE, seals } from './setting.ts';
import { eachWatchedShop, never, type WatchedShop } from './watched-shop.ts';

const DESTINATION = addressOf(`0x${'d0'.repeat(20)}`);
const BY = 'api_key:ak_1' as const;
const HALF_HOUR_MS = 30 * 60_000;

eachWatchedShop('refunds', watchedTest => {
  const moves = <T>(
    { db, clock }: WatchedShop,
    work: (moves: ReturnType<typeof refundMoves>) => Promise<T>,
  ) => transaction(db, handle => work(refundMoves({ handle, seals, now: clock.now() })));
  const stateOf = async ({ db }: WatchedShop, id: string) => refundStore(db).byId(id);
  const named = (ours: WatchedShop, id: string, hash: string) => moves(ours, one => one.name(id, hash, BY));

  const test = watchedTest
    /** Requests a refund of 2.5 tokens. */
    .extend('asked', ({ chain }) => async (ours: WatchedShop, changes: Partial<Refund> = {}) => {
      const refund = aRefund(ours.owner, {
        tokenAddress: chain.token.toLowerCase(),
        destination: DESTINATION,
        createdAt: ours.clock.now(),
        afterBlock: await chain.head(),
        ...changes,
      });
      await moves(ours, one => one.create(refund));
      return refund;
    })
    /** Sends tokens to the destination; the transfer waits in the pool. */
    .extend('sent', ({ chain }) => async (amount = 2_500_000n) => {
      const hash = await chain.pay({ from: 4, to: DESTINATION, amount });
      return { hash, raw: chain.rawOf(hash) };
    });

  test('complete with the confirmations of their named transaction', async ({ chain, ours, asked, sent }) => {
    const session = await ours.open();
    const refund = await asked(ours, { sessionId: session.id, unmatchedTransferId: null });
    const { hash } = await sent();
    await named(ours, refund.id, hash);

    await ours.round();
    const waiting = await stateOf(ours, refund.id);
    await chain.mine(BLOCKS_TO_SETTLE - 1);
    await ours.round();
    const confirming = await stateOf(ours, refund.id);
    await chain.mine(1);
    await ours.round();
    await ours.round();

    expect(waiting).toMatchObject({ status: 'pending', blockNumber: null });
    expect(confirming).toMatchObject({ status: 'pending', confirmations: BLOCKS_TO_SETTLE - 2 });
    expect(await stateOf(ours, refund.id)).toMatchObject({
      status: 'completed',
      confirmations: BLOCKS_TO_SETTLE - 1,
      txHash: hash,
      completedBy: BY,
      completedAt: ours.clock.now() - 3_000,
    });
    expect(await ours.session(session.id)).toMatchObject({ amountRefunded: 2_500_000n, status: 'active' });
    expect(await ours.events()).toEqual(['refund.created', 'refund.completed']);
  });

  test('whose named transaction is not there yet cause no other look at once', async ({ ours, asked }) => {
    const refund = await asked(ours);
    await named(ours, refund.id, `0x${'ab'.repeat(32)}`);
    for (let count = 0; count < 2; count++) await ours.round();

    ours.clock.advance(3_000);

    expect(await ours.watcher.runOnce(never)).toBe(0);
  });

  test('a transaction that was mined before it is named completes its refund without a new block', async ({
    chain,
    ours,
    asked,
    sent,
  }) => {
    const refund = await asked(ours);
    const { hash } = await sent();
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();

    await named(ours, refund.id, hash);
    await ours.round();

    expect(await stateOf(ours, refund.id)).toMatchObject({ status: 'completed' });
  });

  test('in the native coin complete by the value of the transaction', async ({ chain, ours, asked }) => {
    const refund = await asked(ours, { tokenAddress: NATIVE_COIN, amount: 7n });
    const { hash } = await chain.send({ from: 4, to: DESTINATION, value: 7n });
    await named(ours, refund.id, hash);

    await ours.settle();

    expect(await stateOf(ours, refund.id)).toMatchObject({ status: 'completed', logIndex: -1 });
  });

  test('require action again after a transaction that sends something else, or fails', async ({
    chain,
    ours,
    asked,
    sent,
  }) => {
    const reasonAfter = async (send: () => Promise<string>, changes: Partial<Refund> = {}) => {
      const refund = await asked(ours, changes);
      await named(ours, refund.id, await send());
      await chain.mine(BLOCKS_TO_SETTLE - 1);
      await ours.round();
      const early = await stateOf(ours, refund.id);
      await chain.mine(1);
      await ours.round();
      const { status, failureReason } = await stateOf(ours, refund.id);
      return [early.status, status, failureReason].join(' ');
    };
    const mismatch = 'pending requires_action mismatch';
    const past = ours.clock.now() + DAY_MS;

    expect(await reasonAfter(async () => (await sent(2_500_001n)).hash)).toBe(mismatch);
    expect(
      await reasonAfter(() => chain.pay({ from: 4, to: `0x${'d1'.repeat(20)}`, amount: 2_500_000n })),
    ).toBe(mismatch);
    expect(
      await reasonAfter(() =>
        chain.pay({ from: 4, to: DESTINATION, amount: 2_500_000n, token: chain.lookalike }),
      ),
    ).toBe(mismatch);
    expect(await reasonAfter(() => chain.pay({ from: 4, to: DESTINATION, amount: 10n ** 18n }))).toBe(
      'pending requires_action reverted',
    );
    expect(await reasonAfter(async () => (await sent()).hash, { createdAt: past })).toBe(mismatch);
    expect(await reasonAfter(async () => (await sent()).hash, { afterBlock: (await chain.head()) + 1 })).toBe(
      mismatch,
    );
    expect((await ours.events()).filter(type => type === 'refund.failed')).toHaveLength(6);
  });

  test('one transfer completes one refund', async ({ ours, asked, sent }) => {
    const [first, second] = [await asked(ours), await asked(ours)];
    const { hash } = await sent();
    await named(ours, first.id, hash);
    await named(ours, second.id, hash);

    await ours.settle();

    const states = [await stateOf(ours, first.id), await stateOf(ours, second.id)];
    expect(states.map(({ status }) => status).sort()).toEqual(['completed', 'requires_action']);
    expect((await ours.events()).filter(type => type === 'refund.completed')).toHaveLength(1);
  });

  test('whose transaction no node knows require action again after half an hour, and complete if it appears', async ({
    chain,
    ours,
    asked,
    sent,
  }) => {
    const refund = await asked(ours);
    const { hash, raw } = await sent();
    await chain.call('anvil_dropAllTransactions');
    await named(ours, refund.id, hash);
    await ours.round();
    const early = await stateOf(ours, refund.id);
    ours.clock.advance(HALF_HOUR_MS);
    await ours.round();
    const lost = await stateOf(ours, refund.id);
    await chain.call('eth_sendRawTransaction', raw);
    ours.clock.advance(HALF_HOUR_MS);
    await ours.settle();

    expect(early).toMatchObject({ status: 'pending' });
    expect(lost).toMatchObject({ status: 'requires_action', failureReason: 'not_found', txHash: hash });
    expect(await stateOf(ours, refund.id)).toMatchObject({ status: 'completed', failureReason: null });
    expect(await ours.events()).toEqual(['refund.created', 'refund.failed', 'refund.completed']);
  });

  test('lose their block before the confirmations without an event, and complete in another one', async ({
    chain,
    ours,
    asked,
    sent,
  }) => {
    const refund = await asked(ours);
    const before = await chain.snapshot();
    const { hash, raw } = await sent();
    await named(ours, refund.id, hash);
    await chain.mine(BLOCKS_TO_SETTLE - 1);
    await ours.round();
    await chain.fork(before, BLOCKS_TO_SETTLE);
    await ours.round();
    const gone = await stateOf(ours, refund.id);
    await chain.call('eth_sendRawTransaction', raw);
    await ours.settle();

    expect(gone).toMatchObject({ status: 'pending', blockNumber: null, confirmations: 0 });
    expect(await stateOf(ours, refund.id)).toMatchObject({ status: 'completed' });
    expect(await ours.events()).toEqual(['refund.created', 'refund.completed']);
  });

  test('do not expire when they lose their block after their time', async ({ chain, ours, asked, sent }) => {
    const created = ours.clock.now() - 7 * DAY_MS;
    const refund = await asked(ours, { createdAt: created, updatedAt: created });
    const before = await chain.snapshot();
    const { hash } = await sent();
    await named(ours, refund.id, hash);
    const { expiresAt } = refund;
    await refundStore(ours.db).update({ ...(await stateOf(ours, refund.id)), expiresAt });
    await chain.mine(1);
    await ours.round();
    const seen = await stateOf(ours, refund.id);
    await chain.fork(before, 2);
    await ours.round();

    const expired = await moves(ours, one => one.expireDue([]));

    expect(seen).toMatchObject({ status: 'pending', confirmations: 0 });
    expect(expired).toEqual([]);
    expect(await stateOf(ours, refund.id)).toMatchObject({ status: 'pending', blockNumber: null });
  });

  test('completed, move silently to another block of their transaction', async ({
    chain,
    ours,
    asked,
    sent,
  }) => {
    const refund = await asked(ours);
    const before = await chain.snapshot();
    const { hash, raw } = await sent();
    await named(ours, refund.id, hash);
    await ours.settle();
    const first = await stateOf(ours, refund.id);

    ours.clock.advance(1_000);
    await chain.fork(before, BLOCKS_TO_SETTLE + 1, [raw]);
    await ours.round();
    await chain.mine(1);
    await ours.round();

    const moved = await stateOf(ours, refund.id);
    expect(first.status).toBe('completed');
    expect(moved.status).toBe('completed');
    expect(moved.blockHash).not.toBe(first.blockHash);
    expect(await ours.events()).toEqual(['refund.created', 'refund.completed']);
  });

  test('completed, require action again when the chain drops their transfer, and complete when it returns', async ({
    chain,
    ours,
    asked,
    sent,
  }) => {
    const session = await ours.open();
    const refund = await asked(ours, { sessionId: session.id });
    const before = await chain.snapshot();
    const { hash, raw } = await sent();
    await named(ours, refund.id, hash);
    await ours.settle();

    await chain.fork(before, BLOCKS_TO_SETTLE);
    await ours.round();
    const early = await stateOf(ours, refund.id);
    await chain.mine(1);
    await ours.round();
    const lost = await stateOf(ours, refund.id);
    const reduced = await ours.session(session.id);
    await chain.call('eth_sendRawTransaction', raw);
    ours.clock.advance(HALF_HOUR_MS);
    await ours.settle();

    expect(early).toMatchObject({ status: 'completed' });
    expect(lost).toMatchObject({ status: 'requires_action', failureReason: 'reorged', completedAt: null });
    expect(reduced.amountRefunded).toBe(0n);
    expect(await stateOf(ours, refund.id)).toMatchObject({ status: 'completed' });
    expect((await ours.session(session.id)).amountRefunded).toBe(2_500_000n);
    expect(await ours.events()).toEqual([
      'refund.created',
      'refund.completed',
      'refund.failed',
      'refund.completed',
    ]);
  });

  test('count although payment and refund were dropped, and only the payment is back', async ({
    chain,
    ours,
    asked,
    sent,
  }) => {
    const session = await ours.boundSession();
    const part = session.amount - 500_000n;
    const before = await chain.snapshot();
    const paid = await ours.payment(part);
    await ours.settle();
    const refund = await asked(ours, { sessionId: session.id, unmatchedTransferId: null, amount: part });
    const { hash, raw } = await sent(part);
    await named(ours, refund.id, hash);
    await ours.settle();
    const sentBack = await ours.session(session.id);

    await chain.fork(before, 4 * BLOCKS_TO_SETTLE);
    for (let count = 0; count < 3; count++) await ours.round();
    const dropped = [
      (await stateOf(ours, refund.id)).status,
      (await ours.session(session.id)).amountReceived,
    ];
    await chain.call('eth_sendRawTransaction', paid.raw);
    await ours.payment(500_000n);
    await ours.settle();
    const open = await ours.session(session.id);
    await chain.call('eth_sendRawTransaction', raw);
    ours.clock.advance(4 * 60_000);
    await ours.settle();

    expect(sentBack).toMatchObject({ status: 'active', amountReceived: part, amountRefunded: part });
    expect(dropped).toEqual(['requires_action', 0n]);
    expect(open).toMatchObject({
      status: 'active',
      paymentStatus: 'underpaid',
      amountReceived: session.amount,
      amountRefunded: 0n,
      amountReserved: part,
    });
    expect(await ours.session(session.id)).toMatchObject({ status: 'active', amountRefunded: part });
    expect(await ours.events()).not.toContain('checkout.completed');
  });

  test('complete without a name by a transfer from an address of the organization, and by no other', async ({
    chain,
    ours,
    asked,
    sent,
  }) => {
    const refund = await asked(ours);
    await ours.round();
    await chain.pay({ from: 5, to: DESTINATION, amount: refund.amount });
    await ours.settle();
    const before = await stateOf(ours, refund.id);
    const at = { chainId: chain.chainId, address: `${chain.accounts[4]}` };
    await transaction(ours.db, handle => recipientStore(handle).name(ours.owner, at, ours.clock.now()));
    await sent(2_500_001n);
    await chain.mine(1);
    await ours.round();
    const { hash } = await sent();
    await ours.settle();

    expect(before).toMatchObject({ status: 'requires_action', txHash: null });
    expect(await stateOf(ours, refund.id)).toMatchObject({
      status: 'completed',
      completedBy: null,
      txHash: hash,
    });
  });

  test('are found although a stranger logs a transfer of nothing between the same addresses', async ({
    chain,
    ours,
    asked,
    sent,
  }) => {
    const at = { chainId: chain.chainId, address: `${chain.accounts[4]}` };
    await transaction(ours.db, handle => recipientStore(handle).name(ours.owner, at, ours.clock.now()));
    const refund = await asked(ours);
    const args = [addressOf(at.address), DESTINATION, 0n] as const;
    const data = encodeFunctionData({ abi: fungibleAbi, functionName: 'transferFrom', args });
    await chain.send({ from: 5, to: chain.token, data });
    const { hash } = await sent();
    await ours.settle();

    expect(await stateOf(ours, refund.id)).toMatchObject({ status: 'completed', txHash: hash });
  });

  test('complete although another organization names their transaction and asks for the same', async ({
    chain,
    ours,
    asked,
    sent,
  }) => {
    const at = { chainId: chain.chainId, address: `${chain.accounts[4]}` };
    await transaction(ours.db, handle => recipientStore(handle).name(ours.owner, at, ours.clock.now()));
    const stranger = await insertOwner(ours.db, 'test');
    const theirs = await asked(ours, stranger);
    const [ourNamed, unnamed] = [await asked(ours), await asked(ours, { amount: 1_000_000n })];
    const [first, second] = [await sent(), await sent(1_000_000n)];
    const other = await asked(ours, { ...stranger, amount: 1_000_000n });
    await named(ours, theirs.id, first.hash);
    await named(ours, other.id, second.hash);
    await named(ours, ourNamed.id, first.hash);

    await ours.settle();

    expect((await stateOf(ours, theirs.id)).status).toBe('completed');
    expect(await stateOf(ours, ourNamed.id)).toMatchObject({ status: 'completed', txHash: first.hash });
    expect(await stateOf(ours, unnamed.id)).toMatchObject({ status: 'completed', txHash: second.hash });
  });

  test('with a named transaction complete although the node finds no transfers by their sender', async ({
    chain,
    behindNodes,
    asked,
    sent,
  }) => {
    await using ours = await behindNodes();
    const at = { chainId: chain.chainId, address: `${chain.accounts[4]}` };
    await transaction(ours.db, handle => recipientStore(handle).name(ours.owner, at, ours.clock.now()));
    await asked(ours, { amount: 1n });
    const refund = await asked(ours);
    const { hash } = await sent();
    await named(ours, refund.id, hash);
    const isBySender = (filter: unknown) => list(record(filter).topics)[1] != null;
    ours.node.tell(({ method, params = [] }) =>
      method === 'eth_getLogs' && isBySender(params[0]) ? new Error('internal error') : undefined,
    );

    for (let count = 0; count < BLOCKS_TO_SETTLE; count++) {
      await chain.mine();
      await ours.round();
    }

    expect(await stateOf(ours, refund.id)).toMatchObject({ status: 'completed', txHash: hash });
  });

  test('are searched with lists of senders that a node accepts', async ({
    chain,
    behindNodes,
    asked,
    sent,
  }) => {
    await using ours = await behindNodes();
    const name = (address: string) =>
      transaction(ours.db, handle =>
        recipientStore(handle).name(ours.owner, { chainId: chain.chainId, address }, ours.clock.now()),
      );
    await name(`${chain.accounts[4]}`);
    for (let index = 1; index <= 500; index++) await name(`0x${index.toString(16).padStart(40, '0')}`);
    const longest = (filter: unknown) =>
      Math.max(...list(record(filter).topics).map(topic => (Array.isArray(topic) ? topic.length : 1)));
    ours.node.tell(({ method, params = [] }) =>
      method === 'eth_getLogs' && longest(params[0]) > 500 ? new Error('too many topics') : undefined,
    );
    const refund = await asked(ours);
    const { hash } = await sent();

    await ours.settle();

    expect(await stateOf(ours, refund.id)).toMatchObject({ status: 'completed', txHash: hash });
  });

  test('of which several fit one transfer wait, until only one of them is left', async ({
    chain,
    ours,
    asked,
    sent,
  }) => {
    const at = { chainId: chain.chainId, address: `${chain.accounts[4]}` };
    await transaction(ours.db, handle => recipientStore(handle).name(ours.owner, at, ours.clock.now()));
    const [first, second] = [await asked(ours), await asked(ours)];
    const { hash } = await sent();
    await ours.settle();
    const waiting = [await stateOf(ours, first.id), await stateOf(ours, second.id)];

    await moves(ours, one => one.cancel(first.id, BY, null));
    await ours.settle();

    expect(waiting.map(({ status }) => status)).toEqual(['requires_action', 'requires_action']);
    expect(await stateOf(ours, second.id)).toMatchObject({ status: 'completed', txHash: hash });
  });

  test('that were found by their transfer are found again after a reorganisation', async ({
    chain,
    ours,
    asked,
    sent,
  }) => {
    const at = { chainId: chain.chainId, address: `${chain.accounts[4]}` };
    await transaction(ours.db, handle => recipientStore(handle).name(ours.owner, at, ours.clock.now()));
    const refund = await asked(ours);
    const before = await chain.snapshot();
    const { raw } = await sent();
    await chain.mine(1);
    await ours.round();
    const seen = await stateOf(ours, refund.id);
    await chain.fork(before, 2);
    await ours.round();
    const gone = await stateOf(ours, refund.id);
    await chain.call('eth_sendRawTransaction', raw);
    await ours.settle();

    expect(seen).toMatchObject({ status: 'pending', confirmations: 0 });
    expect(gone).toMatchObject({ status: 'pending', blockNumber: null });
    expect(await stateOf(ours, refund.id)).toMatchObject({ status: 'completed' });
    expect(await ours.events()).toEqual(['refund.created', 'refund.completed']);
  });
});
