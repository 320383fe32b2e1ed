import { type Hex, numberToHex } from 'viem';
import { expect } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { NATIVE_COIN, paymentChains } from '#payments/model/payment-chain.ts';
import { lookUpHash } from '#payments/sessions/reported-hash-store.ts';
import { contractCoinsOf, cursorStore } from '#payments/store/cursor-store.ts';
import { setAsideBlockStore } from '#payments/store/set-aside-block-store.ts';
import { expiryWorker } from '#payments/watcher/expiry.ts';
import type { Lie } from '../../lab/faulty-node.ts';
import { addressOf, type TestPaymentChain } from '../../lab/payment-chain.ts';
import { deploySteps } from '../../lab/sending-contract.ts';
import { listedTransfers } from '../../support/listed-transfers.ts';
import { BLOCKS_TO_SETTLE, log, paymentChain, seals, watcherOf } from './setting.ts';
import { eachWatchedShop, never, type WatchedShop } from './watched-shop.ts';

const TRACES = /^(trace|debug)_/;
const BUSY = Object.assign(new Error('too many requests'), { code: 429 });
const refused = (text = 'the method does not exist') => Object.assign(new Error(text), { code: -32_601 });

/** Refuses all methods for traces but those of one kind. */
const only =
  (kind: 'trace' | 'debug' | 'debug_traceBlockByNumber'): Lie =>
  ({ method }) =>
    TRACES.test(method) && !method.startsWith(kind) ? refused() : undefined;
const withoutTraces: Lie = ({ method }) => (TRACES.test(method) ? refused() : undefined);

/** Deploys a contract that sends amounts to the recipient of a shop. */
function sender(chain: TestPaymentChain, { recipient }: WatchedShop, amounts: readonly bigint[]) {
  return deploySteps(
    chain,
    amounts.map(value => ({ kind: 'call', to: addressOf(recipient), value })),
  );
}

/** Calls the contract with the coins that it sends. The transaction stays in the pool. */
function callOf(chain: TestPaymentChain, to: Hex, amounts: readonly bigint[]) {
  return chain.send({ from: 1, to, value: amounts.reduce((sum, one) => sum + one, 0n), gas: 300_000n });
}

eachWatchedShop('coins that a contract sends', test => {
  test.for(['trace', 'debug', 'debug_traceBlockByNumber'] as const)(
    'settle a checkout once, by %s methods',
    async (kind, { chain, behindNodes }) => {
      await using ours = await behindNodes();
      ours.node.tell(only(kind));
      const { id, amountDue } = await ours.open({ tokenAddress: NATIVE_COIN });
      const contract = await sender(chain, ours, [amountDue]);
      await ours.round();

      const { hash } = await callOf(chain, contract, [amountDue]);
      await chain.mine(1);
      await ours.round();
      const seen = await ours.session(id);
      await ours.settle();
      await ours.round();

      expect(seen).toMatchObject({ paymentStatus: 'confirming' });
      expect(await ours.session(id)).toMatchObject({ status: 'completed', amountReceived: amountDue });
      expect(await ours.payments(id)).toMatchObject([
        { status: 'completed', txHash: hash, logIndex: -2, sender: contract.toLowerCase() },
      ]);
      expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed']);
    },
  );

  test('are followed by another look at once', async ({ chain, ours }) => {
    const { id, amountDue } = await ours.open({ tokenAddress: NATIVE_COIN });
    const contract = await sender(chain, ours, [amountDue]);
    await ours.round();
    await callOf(chain, contract, [amountDue]);
    await chain.mine(1);
    ours.clock.advance(3_000);

    const changes = await ours.watcher.runOnce(never);

    expect(await ours.session(id)).toMatchObject({ paymentStatus: 'confirming' });
    expect(changes).toBeGreaterThan(0);
  });

  test('settle two checkouts in one transaction, besides one that it pays itself', async ({
    chain,
    ours,
  }) => {
    const sessions = [];
    for (let count = 0; count < 3; count++) sessions.push(await ours.open({ tokenAddress: NATIVE_COIN }));
    const [first, second, own] = sessions.map(({ amountDue }) => amountDue);
    const amounts = [first ?? 0n, second ?? 0n];
    const contract = await sender(chain, ours, amounts);
    await ours.round();

    const { hash } = await callOf(chain, contract, amounts);
    await chain.send({ from: 2, to: addressOf(ours.recipient), value: own ?? 0n });
    await ours.settle();
    await ours.round();

    const payments = await Promise.all(sessions.map(({ id }) => ours.payments(id)));
    expect(payments.flat()).toMatchObject([
      { status: 'completed', txHash: hash, logIndex: -2 },
      { status: 'completed', txHash: hash, logIndex: -3 },
      { status: 'completed', logIndex: -1 },
    ]);
  });

  test('are not seen on a chain whose traces are not to be read', async ({ chain, behindNodes }) => {
    await using ours = await behindNodes({ changes: { traceCoins: false } });
    const { id, amountDue } = await ours.open({ tokenAddress: NATIVE_COIN });
    const contract = await sender(chain, ours, [amountDue]);
    await ours.round();

    await callOf(chain, contract, [amountDue]);
    await ours.settle();
    await ours.round();

    expect(await ours.session(id)).toMatchObject({ status: 'active', paymentStatus: 'awaiting_payment' });
    expect(contractCoinsOf(await cursorStore(ours.db).find(chain.chainId))).toBeNull();
    expect(ours.node.calls.filter(method => TRACES.test(method))).toEqual([]);
  });

  test('that no checkout asks for are listed as unmatched, once', async ({ chain, ours }) => {
    await ours.open({ tokenAddress: NATIVE_COIN });
    const contract = await sender(chain, ours, [77n]);
    await ours.round();

    await callOf(chain, contract, [77n]);
    await ours.settle();
    await ours.round();

    const { data } = await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 10 });
    expect(data).toMatchObject([{ amount: 77n, logIndex: -2, sender: contract.toLowerCase() }]);
  });

  test('are followed to another block by a reorganisation, before they are completed and after', async ({
    chain,
    ours,
  }) => {
    const { id, amountDue } = await ours.open({ tokenAddress: NATIVE_COIN });
    const contract = await sender(chain, ours, [1n, amountDue]);
    await ours.round();
    const snapshot = await chain.snapshot();
    const { hash, raw } = await callOf(chain, contract, [1n, amountDue]);
    await chain.mine(1);
    await ours.round();
    const [confirming] = await ours.payments(id);

    await chain.fork(snapshot, 3);
    await ours.round();
    const [pending] = await ours.payments(id);
    await chain.call('eth_sendRawTransaction', raw);
    await ours.settle();
    await ours.round();

    expect(confirming).toMatchObject({ status: 'confirming', txHash: hash, logIndex: -3 });
    expect(pending).toMatchObject({ status: 'pending', blockHash: null });
    expect(await ours.payments(id)).toMatchObject([
      { id: confirming?.id, status: 'completed', txHash: hash },
    ]);
    expect(await ours.session(id)).toMatchObject({ status: 'completed' });
    expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed', 'transfer.unmatched']);
  });

  test('and were completed are followed to the block that has them now, and not reported as lost', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    const { id, amountDue } = await ours.open({ tokenAddress: NATIVE_COIN });
    const contract = await sender(chain, ours, [amountDue]);
    await ours.round();
    const snapshot = await chain.snapshot();
    const { hash, raw } = await callOf(chain, contract, [amountDue]);
    await ours.settle();
    await ours.round();
    const [before] = await ours.payments(id);

    ours.node.tell(({ method }) => (TRACES.test(method) ? BUSY : undefined));
    await chain.fork(snapshot, BLOCKS_TO_SETTLE + 3, [raw]);
    for (let count = 0; count < 3; count++) await ours.round();
    ours.node.tell(undefined);
    ours.clock.advance(60_000);
    await ours.settle();
    await ours.settle();

    const [after] = await ours.payments(id);
    expect(before).toMatchObject({ status: 'completed', txHash: hash });
    expect(after).toMatchObject({ id: before?.id, status: 'completed', txHash: hash });
    expect(after?.blockHash).not.toBe(before?.blockHash);
    expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed']);
  });

  test('are searched for by a reported hash until their block is traced', async ({ chain, behindNodes }) => {
    await using ours = await behindNodes();
    const session = await ours.open({ tokenAddress: NATIVE_COIN });
    const contract = await sender(chain, ours, [session.amountDue]);
    await ours.round();
    ours.node.tell(({ method }) => (TRACES.test(method) ? BUSY : undefined));
    const { hash } = await callOf(chain, contract, [session.amountDue]);
    await chain.mine(1);
    const report = () => transaction(ours.db, handle => lookUpHash(handle, session, hash, ours.clock.now()));
    await report();
    for (let count = 0; count < 2; count++) await ours.round();
    const before = await report();

    ours.node.tell(undefined);
    ours.clock.advance(60_000);
    await ours.round();
    await report();
    await ours.round();

    expect(before).toBe('searching');
    expect(await report()).toBe('mined');
    expect(await ours.payments(session.id)).toMatchObject([{ status: 'confirming', txHash: hash }]);
  });

  test('are read by the next process from where the last one ended', async ({ chain, behindNodes }) => {
    await using ours = await behindNodes();
    const { db, clock, node } = ours;
    const { id, amountDue } = await ours.open({ tokenAddress: NATIVE_COIN });
    const contract = await sender(chain, ours, [amountDue]);
    await ours.round();
    await ours.look();
    await ours.watcher.resign();
    await callOf(chain, contract, [amountDue]);
    await chain.mine(BLOCKS_TO_SETTLE);
    const asked: number[] = [];
    node.tell(({ method, params }) => {
      if (method === 'trace_block') asked.push(Number(params?.[0]));
      return undefined;
    });

    const next = watcherOf({ chain: paymentChain(chain), rpcUrls: [node.url], db, clock });
    for (let count = 0; count < 3; count++) await next.runOnce(never);

    const paidIn = (await chain.head()) - BLOCKS_TO_SETTLE + 1;
    expect(asked).toEqual([paidIn]);
    expect(await ours.session(id)).toMatchObject({ status: 'completed' });
  });

  test.for([
    ['in time', 30_000, { isLate: false }],
    ['late', 90_000, { isLate: true }],
  ] as const)(
    'at the end of a session count as %s when they are traced %i ms later',
    async ([, lagMs, expected], { chain, behindNodes }) => {
      await using ours = await behindNodes();
      const expiry = expiryWorker({ ...ours, seals, log, chains: paymentChains([paymentChain(chain)]) });
      const expiresAt = ours.clock.now() + 300_000;
      const { id, amountDue } = await ours.open({ tokenAddress: NATIVE_COIN, expiresAt });
      const contract = await sender(chain, ours, [amountDue]);
      await ours.round();
      ours.clock.advance(expiresAt - 5_000 - ours.clock.now());
      await callOf(chain, contract, [amountDue]);
      ours.node.tell(({ method }) => (TRACES.test(method) ? BUSY : undefined));
      await chain.mine(1);
      await ours.round();
      ours.clock.advance(20_000);
      await chain.mine(1);
      await ours.round();

      ours.clock.advance(lagMs);
      await expiry.runOnce(never);
      ours.node.tell(undefined);
      for (let count = 0; count < 4; count++) await ours.settle();

      expect(await ours.payments(id)).toMatchObject([{ status: 'completed', ...expected }]);
    },
  );

  test('of a node that loses its method are read once another one has it', async ({ chain, behindNodes }) => {
    await using ours = await behindNodes({ nodes: 2 });
    ours.second.tell(withoutTraces);
    const [coins, token] = [await ours.open({ tokenAddress: NATIVE_COIN }), await ours.open()];
    const contract = await sender(chain, ours, [coins.amountDue]);
    await ours.round();
    ours.node.tell(withoutTraces);
    await callOf(chain, contract, [coins.amountDue]);
    await ours.payment(token.amountDue);
    await ours.settle();
    const before = await ours.session(coins.id);
    const plain = await ours.session(token.id);

    ours.second.tell(undefined);
    ours.clock.advance(10 * 60_000);
    await chain.mine(1);
    for (let count = 0; count < 3; count++) await ours.round();

    expect(plain).toMatchObject({ status: 'completed' });
    expect(before).toMatchObject({ paymentStatus: 'awaiting_payment' });
    expect(await ours.session(coins.id)).toMatchObject({ status: 'completed' });
  });

  test('wait while the node leaves traces unanswered, and nothing else does', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    const [coins, token, plain] = [
      await ours.open({ tokenAddress: NATIVE_COIN }),
      await ours.open(),
      await ours.open({ tokenAddress: NATIVE_COIN }),
    ];
    const contract = await sender(chain, ours, [coins.amountDue]);
    await ours.round();
    ours.node.hang(({ method }) => TRACES.test(method));
    await callOf(chain, contract, [coins.amountDue]);
    await ours.payment(token.amountDue);
    await chain.send({ from: 3, to: addressOf(ours.recipient), value: plain.amountDue });
    await chain.mine(1);

    const before = ours.node.calls.length;
    const looking = ours.look();
    await expect.poll(() => ours.node.calls.slice(before).some(method => TRACES.test(method))).toBe(true);
    ours.clock.advance(1_000);
    await looking;
    await ours.settle();

    expect(await ours.session(token.id)).toMatchObject({ status: 'completed' });
    expect(await ours.session(plain.id)).toMatchObject({ status: 'completed' });
    expect(await ours.session(coins.id)).toMatchObject({ paymentStatus: 'awaiting_payment' });
    await ours.watcher.resign();
  });

  test('in a block that the node refuses to trace are read by transaction, and later blocks do not wait', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    const [first, second] = [
      await ours.open({ tokenAddress: NATIVE_COIN }),
      await ours.open({ tokenAddress: NATIVE_COIN }),
    ];
    const contracts = [
      await sender(chain, ours, [first.amountDue]),
      await sender(chain, ours, [second.amountDue]),
    ];
    await ours.round();
    await callOf(chain, contracts[0] ?? '0x', [first.amountDue]);
    await chain.mine(1);
    const bad = await chain.head();
    const { hash } = Object(await chain.call('eth_getBlockByNumber', numberToHex(bad), false));
    const isWhole = (method: string) => method === 'trace_block' || method.startsWith('debug_traceBlock');
    let hasPieces = false;
    ours.node.tell(({ method, params }) => {
      const isBad = params?.[0] === numberToHex(bad) || params?.[0] === hash;
      const isPiece = TRACES.test(method) && !isWhole(method);
      return (isWhole(method) && isBad) || (isPiece && !hasPieces) ? new Error('too many traces') : undefined;
    });
    await callOf(chain, contracts[1] ?? '0x', [second.amountDue]);
    await chain.mine(1);

    for (let count = 0; count < 4; count++) await ours.round();
    const aside = await setAsideBlockStore(ours.db).all(chain.chainId);
    const behind = await ours.session(second.id);
    hasPieces = true;
    ours.clock.advance(120_000);
    await ours.settle();
    await ours.settle();

    expect(aside).toMatchObject([{ part: 'traces', number: bad, isRead: false }]);
    expect(behind).toMatchObject({ paymentStatus: 'confirming' });
    expect(await ours.session(first.id)).toMatchObject({ status: 'completed' });
    expect(await ours.session(second.id)).toMatchObject({ status: 'completed' });
  });

  test('cost two calls for each new block with a transaction', async ({ chain, behindNodes }) => {
    await using traced = await behindNodes();
    await using untraced = await behindNodes({ changes: { traceCoins: false } });
    const shops = [traced, untraced];
    const callsOfBlock = async () => {
      await chain.send({ from: 2, to: addressOf(`${chain.accounts[3]}`), value: 1n });
      await chain.mine(1);
      const before = shops.map(({ node }) => node.calls.length);
      for (const shop of shops) await shop.round();
      return shops.map(({ node }, at) => node.calls.length - (before[at] ?? 0));
    };
    for (const shop of shops) await shop.open({ tokenAddress: NATIVE_COIN });
    for (let count = 0; count < 4; count++) await callsOfBlock();

    for (let count = 0; count < 5; count++) {
      const [withTraces = 0, without = 0] = await callsOfBlock();
      expect(withTraces - without).toBe(2);
    }
  });

  test('are not looked for on a node without traces, which is asked again after ten minutes', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    ours.node.tell(withoutTraces);
    await ours.open({ tokenAddress: NATIVE_COIN });
    await ours.payment(1n);
    await chain.mine(1);
    const asked = () => ours.node.calls.filter(method => TRACES.test(method)).length;

    await ours.round();
    for (let count = 0; count < 3; count++) {
      await chain.mine(1);
      await ours.round();
    }
    const before = asked();
    ours.clock.advance(10 * 60_000);
    await chain.mine(1);
    await ours.round();

    expect(before).toBe(3);
    expect(asked()).toBeGreaterThan(before);
    expect(contractCoinsOf(await cursorStore(ours.db).find(chain.chainId))).toBeNull();
  });
});
