import { expect } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import type { CheckoutSession } from '#payments/model/session.ts';
import { candidateStore } from '#payments/sessions/candidates.ts';
import { lookUpHash } from '#payments/sessions/reported-hash-store.ts';
import type { Lie } from '../../lab/faulty-node.ts';
import { text } from '../../lab/json.ts';
import { addressOf } from '../../lab/payment-chain.ts';
import { listedTransfers } from '../../support/listed-transfers.ts';
import { someHash } from '../../support/payments-api.ts';
import { eachWatchedShop, type ShopBehindNodes, type WatchedShop } from './watched-shop.ts';

const PRICE = 5_000_000n;
const PAYER = 1;
const BUSY = Object.assign(new Error('too many requests'), { code: 429 });
const BY_HASH = ['eth_getTransactionReceipt', 'eth_getTransactionByHash'];

/** Leaves out all logs, as a node does that has lost its index of them. */
const withoutLogs: Lie = ({ method }) => (method === 'eth_getLogs' ? [] : undefined);
/** Has no transaction at all. */
const withoutTransactions: Lie = ({ method }) => {
  if (method === 'eth_getLogs') return [];
  return BY_HASH.includes(method) ? null : undefined;
};
/** Leaves the logs out of receipts too. */
const withoutTraces: Lie = ({ method }, answer) => {
  if (method === 'eth_getLogs') return [];
  return method === 'eth_getTransactionReceipt' && answer !== null
    ? { ...Object(answer), logs: [] }
    : undefined;
};

eachWatchedShop('a reported hash', watchedTest => {
  const report = (ours: WatchedShop, session: CheckoutSession, hash: string) =>
    transaction(ours.db, handle => lookUpHash(handle, session, hash.toLowerCase(), ours.clock.now()));
  const unmatched = async (ours: WatchedShop) =>
    (await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 10 })).data.length;

  const test = watchedTest
    /** A payment in a block that a lie hides from the scan, with its session. */
    .extend('missed', ({ chain }) => async (ours: ShopBehindNodes, amount?: bigint) => {
      const session = await ours.open();
      const { hash } = await ours.payment(amount ?? session.amountDue);
      await chain.mine(1);
      await ours.round();
      return { session, hash };
    });

  test('of a log that the node leaves out settles its payment by the receipt', async ({
    behindNodes,
    missed,
  }) => {
    await using ours = await behindNodes();
    ours.node.tell(withoutLogs);
    const { session, hash } = await missed(ours);
    const before = await ours.payments(session.id);

    const asked = await report(ours, session, hash);
    await ours.round();
    const [payment] = await ours.payments(session.id);
    await ours.settle();

    expect(before).toEqual([]);
    expect(asked).toBe('searching');
    expect(payment).toMatchObject({ status: 'confirming', txHash: hash, matchedBy: 'amount' });
    expect(await report(ours, session, hash)).toBe('mined');
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
    expect(await ours.payments(session.id)).toHaveLength(1);
    expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed']);
  });

  test('of coins that the scan missed settles its payment also while the block cannot be traced', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    ours.node.tell(({ method, params }, answer) => {
      if (/^(trace|debug)_/.test(method)) return BUSY;
      return params?.[1] === true ? { ...Object(answer), transactions: [] } : undefined;
    });
    const session = await ours.open({ tokenAddress: NATIVE_COIN });
    const to = addressOf(ours.recipient);
    const { hash } = await chain.send({ from: PAYER, to, value: session.amountDue });
    await chain.mine(1);
    await ours.round();
    const before = await ours.payments(session.id);

    await report(ours, session, hash);
    await ours.round();

    expect(before).toEqual([]);
    expect(await ours.payments(session.id)).toMatchObject([{ status: 'confirming', txHash: hash }]);
  });

  test('that the first node does not have is found, and confirmed, at the second one', async ({
    behindNodes,
    missed,
  }) => {
    await using ours = await behindNodes({ nodes: 2 });
    ours.node.tell(withoutTransactions);
    const { session, hash } = await missed(ours);

    await report(ours, session, hash);
    await ours.round();
    await ours.settle();

    expect(await report(ours, session, hash)).toBe('mined');
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
  });

  test('about which two nodes disagree is disputed, and recorded once they agree', async ({
    behindNodes,
    missed,
  }) => {
    await using ours = await behindNodes({ nodes: 2 });
    ours.node.tell(withoutTraces);
    const { session, hash } = await missed(ours);

    await report(ours, session, hash);
    await ours.round();
    const disputed = await report(ours, session, hash);
    const recorded = await ours.payments(session.id);
    ours.node.tell(withoutLogs);
    ours.clock.advance(60_000);
    await report(ours, session, hash);
    await ours.round();

    expect([disputed, recorded]).toEqual(['disputed', []]);
    expect(await ours.payments(session.id)).toMatchObject([{ txHash: hash }]);
  });

  test('in a block that the other node does not have at its height is disputed', async ({
    chain,
    behindNodes,
    missed,
  }) => {
    await using ours = await behindNodes({ nodes: 2 });
    const parent = await chain.call('eth_getBlockByNumber', 'latest', false);
    ours.node.tell(withoutTransactions);
    const { session, hash } = await missed(ours);
    const head = await chain.head();
    ours.node.tell((call, answer, real) =>
      call.method === 'eth_getBlockByNumber' && Number(call.params?.[0]) === head
        ? { ...Object(answer), hash: Object(parent).hash }
        : withoutTransactions(call, answer, real),
    );

    await report(ours, session, hash);
    await ours.round();

    expect(await report(ours, session, hash)).toBe('disputed');
    expect(await ours.payments(session.id)).toEqual([]);
  });

  test('of another’s rounded payment, named by a stranger, makes the stranger no payer', async ({
    chain,
    behindNodes,
    missed,
  }) => {
    await using ours = await behindNodes();
    ours.node.tell(withoutLogs);
    const { session: payer, hash } = await missed(ours, PRICE);
    const stranger = await ours.open();

    await report(ours, stranger, hash);
    await ours.settle();
    const afterReport = [await ours.session(stranger.id), await ours.session(payer.id)];
    const listed = await unmatched(ours);
    const wallet = text(chain.accounts[PAYER]).toLowerCase();
    const proved = await ours.prove(payer.id, wallet);

    expect(afterReport).toMatchObject([
      { status: 'active', amountReceived: 0n, payerAddress: null },
      { status: 'active', amountReceived: 0n, payerAddress: null },
    ]);
    expect(listed).toBe(1);
    expect(proved).toMatchObject({ status: 'completed', amountReceived: PRICE });
    expect((await candidateStore(ours.db).ofSessions([stranger.id])).size).toBe(0);
  });

  test('is said to be in the pool, failed, without a payment, or unknown', async ({ chain, behindNodes }) => {
    await using ours = await behindNodes();
    const session = await ours.open();
    const waiting = await ours.payment(1_000_000n);
    const said = async (hash: string) => {
      await report(ours, session, hash);
      await ours.round();
      return report(ours, session, hash);
    };
    const pending = await said(waiting.hash);
    await chain.mine(1);
    const elsewhere = await chain.pay({ from: PAYER, to: `0x${'77'.repeat(20)}`, amount: 5n });
    const reverted = await chain.pay({ from: PAYER, to: ours.recipient, amount: 2n ** 255n });
    await chain.mine(1);

    expect(pending).toBe('pending');
    expect(await said(elsewhere)).toBe('mined');
    expect(await said(reverted)).toBe('failed');
    expect(await said(someHash())).toBe('unknown');
    expect(await ours.payments(session.id)).toEqual([]);
  });

  test('of a transfer from before the checkout is not recorded', async ({ chain, behindNodes }) => {
    await using ours = await behindNodes();
    ours.node.tell(withoutLogs);
    await ours.open();
    const early = await ours.payment(PRICE);
    await chain.mine(1);
    ours.clock.advance(10 * 60_000);
    await chain.mine(1);
    const session = await ours.open();

    await report(ours, session, early.hash);
    await ours.settle();

    expect(await report(ours, session, early.hash)).toBe('mined');
    expect(await unmatched(ours)).toBe(0);
  });

  test('is asked of the node once a minute, and ten of a session at most', async ({ behindNodes }) => {
    await using ours = await behindNodes();
    const [session, other] = [await ours.open(), await ours.open()];
    await ours.round();
    const asked = () => ours.node.calls.filter(method => method === 'eth_getTransactionByHash').length;
    const hash = someHash();

    await report(ours, session, hash);
    await ours.round();
    const once = asked();
    const shared = await report(ours, other, hash);
    await ours.round();
    const still = asked();
    ours.clock.advance(60_000);
    await report(ours, other, hash);
    await ours.round();
    const again = asked();
    const more = [];
    for (let count = 0; count < 10; count++) more.push(await report(ours, session, someHash()));

    expect([once, still, again]).toEqual([1, 1, 2]);
    expect(shared).toBe('unknown');
    expect(more).toEqual([...Array.from({ length: 9 }, () => 'searching'), undefined]);
  });

  test('is given up after ten minutes without an answer of any node', async ({ behindNodes }) => {
    await using ours = await behindNodes();
    const session = await ours.open();
    await ours.round();
    const asked = () => ours.node.calls.filter(method => method === 'eth_getTransactionByHash').length;
    ours.node.tell(({ method }) => (BY_HASH.includes(method) ? new Error('not now') : undefined));

    await report(ours, session, someHash());
    await ours.round();
    const early = asked();
    ours.clock.advance(10 * 60_000);
    await ours.round();

    expect(early).toBe(1);
    expect(asked()).toBe(early);
  });
});
