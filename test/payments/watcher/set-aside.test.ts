import { expect } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { DAY_MS } from '#lib/clock.ts';
import { chainStatuses, paymentChainStatusBody } from '#payments/chain-status.ts';
import type { PaymentChain } from '#payments/model/payment-chain.ts';
import { paymentChains } from '#payments/model/payment-chain.ts';
import type { TransferStatus } from '#payments/model/transfer.ts';
import { retentionWorker } from '#payments/retention.ts';
import { setAsideList } from '#payments/store/set-aside-list.ts';
import { setAsideStore } from '#payments/store/set-aside-store.ts';
import { expiryWorker } from '#payments/watcher/expiry.ts';
import type { FaultyNode } from '../../lab/faulty-node.ts';
import { floodingToken } from '../../support/flooding-token.ts';
import { listedTransfers } from '../../support/listed-transfers.ts';
import { BLOCKS_TO_SETTLE, log, paymentChain, seals } from './setting.ts';
import { eachWatchedShop, never, type WatchedShop } from './watched-shop.ts';

/** Payments are judged by their receipts alone. */
const BY_RECEIPT: Partial<PaymentChain> = { prove: 'off' };

eachWatchedShop('a transaction whose receipt cannot be read', test => {
  test('delays no other payment, and is completed once its receipt can be read', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes({ changes: BY_RECEIPT });
    const [poisoned, other] = [await ours.open(), await ours.open()];
    const poison = await chain.pay({ from: 1, to: ours.recipient, amount: poisoned.amountDue });
    await chain.pay({ from: 2, to: ours.recipient, amount: other.amountDue });
    refuseReceipts(ours.node, [poison]);

    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();
    const during = [await ours.session(poisoned.id), await ours.session(other.id)];
    ours.node.tell(undefined);
    ours.clock.advance(60_000);
    await ours.round();

    expect(during).toMatchObject([
      { status: 'active', paymentStatus: 'confirming' },
      { status: 'completed', paymentStatus: 'paid' },
    ]);
    expect(await ours.session(poisoned.id)).toMatchObject({ status: 'completed' });
  });

  test('is asked for again after 1, 2 and 4 minutes', async ({ chain, behindNodes }) => {
    await using ours = await behindNodes({ changes: BY_RECEIPT });
    const poisoned = await ours.open();
    const poison = await chain.pay({ from: 1, to: ours.recipient, amount: poisoned.amountDue });
    const asked = refuseReceipts(ours.node, [poison]);
    await chain.mine(BLOCKS_TO_SETTLE);

    const minutes: number[] = [];
    for (let minute = 0; minute <= 8; minute++) {
      const before = asked.length;
      await ours.look();
      await ours.look();
      if (asked.length > before) minutes.push(minute);
      ours.clock.advance(60_000);
      await chain.mine(1);
    }

    expect(minutes).toEqual([0, 1, 3, 7]);
  });

  test('is counted in the status of its chain until its receipt is read', async ({ chain, behindNodes }) => {
    await using ours = await behindNodes({ changes: BY_RECEIPT });
    const watched = [{ chain: paymentChain(chain), status: ours.watcher.status }];
    const shown = async () => {
      const [status] = await chainStatuses({ db: ours.db, clock: ours.clock, watched }).all();
      return status && paymentChainStatusBody(status);
    };
    const { amountDue } = await ours.open();
    const hash = await chain.pay({ from: 1, to: ours.recipient, amount: amountDue });
    refuseReceipts(ours.node, [hash]);

    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();
    const during = await shown();
    ours.node.tell(undefined);
    ours.clock.advance(60_000);
    await ours.round();

    expect([during, await shown()]).toMatchObject([
      { late: false, set_aside: 1, settled_block: await chain.head() },
      { set_aside: 0 },
    ]);
  });

  test('keeps its session open, and from retention, until its receipt is read', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes({ changes: BY_RECEIPT });
    const { id, amountDue } = await ours.open({ expiresAt: ours.clock.now() + 60_000 });
    const hash = await chain.pay({ from: 1, to: ours.recipient, amount: amountDue });
    refuseReceipts(ours.node, [hash]);
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();
    const chains = paymentChains([paymentChain(chain)]);

    ours.clock.advance(40 * DAY_MS);
    await ours.round();
    await expiryWorker({ ...ours, seals, log, chains }).runOnce(never);
    await retentionWorker({ ...ours, seals }).runOnce(never);
    const during = await ours.session(id);
    ours.node.tell(undefined);
    ours.clock.advance(DAY_MS);
    await chain.mine(1);
    await ours.round();

    expect(during).toMatchObject({ status: 'active', paymentStatus: 'confirming' });
    expect(await ours.session(id)).toMatchObject({ status: 'completed', isLate: false });
    expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed']);
  });

  test('is asked for at once when its merchant wants it, without a new block', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes({ changes: BY_RECEIPT });
    const { id, amountDue } = await ours.open();
    const hash = await chain.pay({ from: 1, to: ours.recipient, amount: amountDue });
    refuseReceipts(ours.node, [hash]);
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();
    ours.clock.advance(10_000);
    await ours.round();
    ours.node.tell(undefined);

    await transaction(ours.db, handle => setAsideList(handle, ours.owner).retry(ours.clock.now()));
    await ours.look();

    expect(await ours.session(id)).toMatchObject({ status: 'completed' });
  });

  test('is forgotten with its payment', async ({ chain, behindNodes }) => {
    await using ours = await behindNodes({ changes: BY_RECEIPT });
    const { amountDue } = await ours.open();
    const before = await chain.snapshot();
    const hash = await chain.pay({ from: 1, to: ours.recipient, amount: amountDue });
    refuseReceipts(ours.node, [hash]);
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();
    const kept = await setAsideStore(ours.db).count(chain.chainId);

    await retentionWorker({ ...ours, seals }).runOnce(never);
    const keptAfterRetention = await setAsideStore(ours.db).count(chain.chainId);
    await chain.fork(before, BLOCKS_TO_SETTLE + 2);
    ours.clock.advance(60_000);
    await ours.round();
    await retentionWorker({ ...ours, seals }).runOnce(never);

    expect([kept, keptAfterRetention]).toEqual([1, 1]);
    expect(await setAsideStore(ours.db).count(chain.chainId)).toBe(0);
  });

  test('is dropped with its block, long before its next attempt', async ({ chain, behindNodes }) => {
    await using ours = await behindNodes({ changes: BY_RECEIPT });
    const { id, amountDue } = await ours.open();
    const before = await chain.snapshot();
    const paying = await chain.pay({ from: 1, to: ours.recipient, amount: amountDue });
    const stray = await chain.pay({ from: 2, to: ours.recipient, amount: 77n });
    refuseReceipts(ours.node, [paying, stray]);
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();
    const during = await ours.session(id);
    const listedDuring = await listed(ours, 'set_aside');

    await chain.fork(before, BLOCKS_TO_SETTLE + 4);
    await ours.round();

    expect([during, listedDuring]).toMatchObject([{ paymentStatus: 'confirming' }, [stray]]);
    expect(await ours.payments(id)).toMatchObject([{ status: 'pending', txHash: paying, blockHash: null }]);
    expect(await listed(ours, 'set_aside')).toEqual([]);
    expect(await setAsideStore(ours.db).count(chain.chainId)).toBe(0);
  });

  test('and matches no session is listed as set aside, and as open once its receipt can be read', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes({ changes: BY_RECEIPT });
    await ours.open();
    const hash = await chain.pay({ from: 1, to: ours.recipient, amount: 77n });
    const other = await chain.pay({ from: 2, to: ours.recipient, amount: 78n });
    refuseReceipts(ours.node, [hash]);

    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();
    const during = [await listed(ours, 'open'), await listed(ours, 'set_aside')];
    ours.node.tell(undefined);
    ours.clock.advance(60_000);
    await ours.round();

    expect(during).toEqual([[other], [hash]]);
    expect([await listed(ours, 'open'), await listed(ours, 'set_aside')]).toEqual([[other, hash].sort(), []]);
  });
});

eachWatchedShop('a transaction of many transfers', test => {
  test('is asked for once, however many payments it makes', async ({ chain, behindNodes }) => {
    await using ours = await behindNodes({ changes: BY_RECEIPT });
    const flood = await floodingToken(chain);
    const { id, amountDue } = await ours.boundSession();
    await flood({ from: 1, to: ours.recipient, amount: amountDue, count: 30 });
    await chain.mine(BLOCKS_TO_SETTLE);

    await ours.round();

    const receipts = ours.node.calls.filter(method => method === 'eth_getTransactionReceipt');
    const payments = await ours.payments(id);
    expect(payments.filter(({ status }) => status === 'completed')).toHaveLength(30);
    expect(receipts).toHaveLength(1);
  });
});

/** Hashes of the listed transfers, sorted. */
async function listed({ db, owner }: WatchedShop, status: TransferStatus): Promise<string[]> {
  const { data } = await listedTransfers(db, owner, { status }, { page: 1, limit: 100 });
  return data.map(({ txHash }) => txHash).sort();
}

/** Refuses the receipts of these transactions. Returns the hashes that were asked for. */
function refuseReceipts(node: FaultyNode, hashes: readonly string[]): string[] {
  const asked: string[] = [];
  node.tell(({ method, params }) => {
    const hash = `${params?.[0]}`;
    if (method !== 'eth_getTransactionReceipt' || !hashes.includes(hash)) return undefined;
    asked.push(hash);
    return new Error('receipt is not available');
  });
  return asked;
}
