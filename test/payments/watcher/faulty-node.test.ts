import { numberToHex } from 'viem';
import { expect } from 'vitest';
import { WrongChain } from '#node/transport/errors.ts';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import { cursorStore } from '#payments/store/cursor-store.ts';
import { transactionStore } from '#payments/store/transaction-store.ts';
import { transferStore } from '#payments/store/transfer-store.ts';
import type { Lie } from '../../lab/faulty-node.ts';
import { addressOf, startPaymentChain } from '../../lab/payment-chain.ts';
import { allDue } from '../../lab/payments-records.ts';
import { listedTransfers } from '../../support/listed-transfers.ts';
import { BLOCKS_TO_SETTLE } from './setting.ts';
import { eachWatchedShop, never } from './watched-shop.ts';

const noLogs: Lie = ({ method }) => (method === 'eth_getLogs' ? [] : undefined);
const repeatedLogs: Lie = ({ method }, answer) =>
  method === 'eth_getLogs' && Array.isArray(answer) ? [...answer, ...answer] : undefined;
const repeatedTransactions: Lie = ({ method }, answer) => {
  if (method !== 'eth_getBlockByNumber' || !isBlock(answer)) return undefined;
  return { ...answer, transactions: [...answer.transactions, ...answer.transactions] };
};

eachWatchedShop('a faulty node', test => {
  test('logs that a node withholds for some rounds are found once it shows them', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    const session = await ours.open();
    await ours.round();
    await chain.pay({ from: 1, to: ours.recipient, amount: session.amountDue });
    await chain.mine(BLOCKS_TO_SETTLE);

    ours.node.tell(noLogs);
    for (let round = 0; round < 5; round++) {
      await ours.round();
      await chain.mine();
    }
    const missed = await ours.session(session.id);
    ours.node.tell(undefined);
    await ours.round();

    expect(missed.paymentStatus).toBe('awaiting_payment');
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
  });

  test('a head that goes back undoes nothing and loses nothing', async ({ chain, behindNodes }) => {
    await using ours = await behindNodes();
    const session = await ours.open();
    await chain.pay({ from: 1, to: ours.recipient, amount: session.amountDue });
    await chain.mine(2);
    await ours.round();
    const before = await ours.session(session.id);
    const cursor = await cursorStore(ours.db).find(chain.chainId);

    const behind = await chain.call('eth_getBlockByNumber', numberToHex((await chain.head()) - 8), false);
    ours.node.tell(({ method, params }) =>
      method === 'eth_getBlockByNumber' && params?.[0] === 'latest' ? behind : undefined,
    );
    await ours.round();
    const during = await ours.session(session.id);
    const cursorDuring = await cursorStore(ours.db).find(chain.chainId);
    ours.node.tell(undefined);
    await chain.mine();
    await ours.round();

    expect(before).toMatchObject({ paymentStatus: 'confirming', confirmations: 1 });
    expect(during).toMatchObject({ paymentStatus: 'confirming', confirmations: 1 });
    expect(cursorDuring).toEqual(cursor);
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
  });

  test('blocks that the node does not show yet are not counted as scanned', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    const session = await ours.open();
    await ours.round();
    const cursor = await cursorStore(ours.db).find(chain.chainId);
    await chain.pay({ from: 1, to: ours.recipient, amount: session.amountDue });
    await chain.mine(BLOCKS_TO_SETTLE);

    ours.node.tell((call, answer, real) => {
      if (call.method !== 'eth_getBlockByNumber' || call.params?.[0] === 'latest')
        return noLogs(call, answer, real);
      return null;
    });
    await ours.round();
    const during = await cursorStore(ours.db).find(chain.chainId);
    ours.node.tell(undefined);
    await ours.round();

    expect(during?.blockNumber).toBe(cursor?.blockNumber);
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
  });

  test('a log of an unknown block and a log missing from its receipt pay nothing', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    const [orphaned, invented] = [await ours.open(), await ours.open()];
    await chain.pay({ from: 1, to: ours.recipient, amount: orphaned.amountDue });
    const blockHash = `0x${'ab'.repeat(32)}`;
    const transactionHash = await chain.pay({
      from: 2,
      to: ours.recipient,
      amount: 1n,
      token: chain.lookalike,
    });
    await chain.mine(BLOCKS_TO_SETTLE);

    ours.node.tell(({ method }, answer) => {
      if (method !== 'eth_getLogs' || !Array.isArray(answer)) return undefined;
      const [log] = answer;
      if (log === undefined) return undefined;
      const data = numberToHex(invented.amountDue, { size: 32 });
      return [
        { ...log, blockHash },
        { ...log, data, transactionHash, logIndex: '0x7' },
      ];
    });
    await ours.round();
    await ours.round();

    expect(await ours.session(orphaned.id)).toMatchObject({ paymentStatus: 'awaiting_payment' });
    expect((await ours.session(invented.id)).status).toBe('active');
    expect(await ours.events()).toEqual([]);
  });

  test('a transfer that its receipt shows only later is listed as unmatched then', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    await ours.open();
    const hash = await chain.pay({ from: 1, to: ours.recipient, amount: 77n });
    await chain.mine(BLOCKS_TO_SETTLE);
    const listed = async () =>
      (await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 10 })).data.map(one => one.txHash);

    ours.node.tell(({ method }, answer) =>
      method === 'eth_getTransactionReceipt' ? { ...Object(answer), logs: [] } : undefined,
    );
    await ours.round();
    const during = [await listed(), await transferStore(ours.db).unconfirmed(allDue(chain.chainId))];
    ours.node.tell(undefined);
    ours.clock.advance(60_000);
    for (let count = 0; count < 3; count++) await ours.round();

    expect(during).toEqual([[], []]);
    expect(await listed()).toEqual([hash]);
  });

  test.for(['amount', 'wallet'] as const)(
    'a node that repeats every log causes one payment and stops nothing, by %s',
    async (matching, { chain, behindNodes }) => {
      await using ours = await behindNodes();
      const session = matching === 'amount' ? await ours.open() : await ours.boundSession();
      await ours.round();
      await chain.pay({ from: 1, to: ours.recipient, amount: session.amountDue });
      await chain.mine();

      ours.node.tell(repeatedLogs);
      await ours.round();
      const seen = await ours.session(session.id);
      await chain.mine(BLOCKS_TO_SETTLE);
      await ours.round();

      expect(seen).toMatchObject({ paymentStatus: 'confirming' });
      expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
      expect(await transactionStore(ours.db).ofSession(session.id)).toHaveLength(1);
    },
  );

  test('logs are read in smaller ranges from a node that limits them by the code -32005', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    const session = await ours.open();
    await ours.round();
    await chain.pay({ from: 1, to: ours.recipient, amount: session.amountDue });
    await chain.mine(40);
    const limit = Object.assign(new Error('query returned more than 10000 results'), { code: -32005 });
    ours.node.tell(({ method, params }) => {
      if (method !== 'eth_getLogs') return undefined;
      const { fromBlock, toBlock } = Object(params?.[0]);
      return Number(toBlock) - Number(fromBlock) > 5 ? limit : undefined;
    });

    await ours.round();

    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
  });

  test('a watcher that is stopped waits for no answer of its node', async ({ behindNodes }) => {
    await using ours = await behindNodes();
    await ours.open();
    await ours.round();
    const stop = new AbortController();
    const asked = Promise.withResolvers<void>();
    ours.node.hang(() => {
      asked.resolve();
      return true;
    });
    ours.clock.advance(3_000);

    const looking = ours.watcher.runOnce(stop.signal);
    await asked.promise;
    stop.abort(new Error('stopped'));

    await expect(looking).rejects.toThrow('stopped');
  });

  test('a coin payment that its block lists twice is recorded once', async ({ chain, behindNodes }) => {
    await using ours = await behindNodes();
    const session = await ours.open({ tokenAddress: NATIVE_COIN });
    await ours.round();
    await chain.send({ from: 1, to: addressOf(ours.recipient), value: session.amountDue });
    await chain.mine();

    ours.node.tell(repeatedTransactions);
    await ours.round();
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();

    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
    expect(await transactionStore(ours.db).ofSession(session.id)).toHaveLength(1);
  });

  test('a node of another chain causes no payment, from the start or in the middle of a round', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    await using other = await startPaymentChain({ clock: chain.clock, chainId: 31_338 });
    await other.mine(40);
    const session = await ours.open();
    await chain.pay({ from: 1, to: ours.recipient, amount: session.amountDue });
    await chain.mine(BLOCKS_TO_SETTLE);

    ours.node.tell(({ method }) => (method === 'eth_chainId' ? '0x1' : undefined));
    const fromStart = await ours.watcher.runOnce(never).catch((error: unknown) => error);
    ours.node.tell(undefined);
    // Between head and logs the node switches to another chain, which has a payment too.
    await other.send({ from: 1, to: addressOf(ours.recipient), value: 1n });
    await other.mine(BLOCKS_TO_SETTLE);
    ours.node.tell(({ method, params }) => {
      if (method === 'eth_getBlockByNumber' && params?.[0] === 'latest') ours.node.pointAt(other.rpcUrl);
      return undefined;
    });
    const midway: unknown[] = [];
    for (let round = 0; round < 4; round++) {
      ours.node.pointAt(chain.rpcUrl);
      midway.push(await ours.watcher.runOnce(never).catch((error: unknown) => error));
    }
    const unpaid = await ours.session(session.id);
    ours.node.tell(undefined);
    ours.node.pointAt(chain.rpcUrl);
    await ours.round();

    expect(fromStart).toBeInstanceOf(WrongChain);
    expect(midway.filter(one => one instanceof WrongChain)).not.toEqual([]);
    expect(await cursorStore(ours.db).find(chain.chainId)).toMatchObject({ blockNumber: await chain.head() });
    expect(unpaid.status).toBe('active');
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
  });
});

function isBlock(answer: unknown): answer is { readonly transactions: readonly unknown[] } {
  return (
    typeof answer === 'object' &&
    answer !== null &&
    'transactions' in answer &&
    Array.isArray(answer.transactions)
  );
}
