import { numberToHex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createChainClient } from '#node/client.ts';
import { chainWatcher } from '#payments/watcher/chain-watcher.ts';
import { sqliteDatabase } from '../../support/databases.ts';
import { faultyNode, type Lie } from '../../support/faulty-node.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { startPaymentChain, type TestPaymentChain } from '../../support/payment-chain.ts';
import { BLOCKS_TO_SETTLE, log, paymentChain, seals, shop } from './setting.ts';

const never = new AbortController().signal;
let chain: TestPaymentChain;
beforeAll(async () => {
  chain = await startPaymentChain();
});
afterAll(() => chain.stop());

/** A watcher with a node and another one behind it. */
async function begin() {
  const clock = manualClock(Date.now());
  const database = await sqliteDatabase('payments');
  const [first, second] = [await faultyNode(chain.rpcUrl), await faultyNode(chain.rpcUrl)];
  const watched = paymentChain(chain);
  const ours = await shop(database.options, clock, watched);
  const rpcUrls = [first.url, second.url];
  const client = createChainClient({ id: chain.chainId, rpcUrls, timeoutMs: 5_000, log });
  const watcher = chainWatcher({ chain: watched, client, db: ours.db, seals, clock, log });
  return {
    ...ours,
    first,
    second,
    async round(): Promise<void> {
      clock.advance(3_000);
      await watcher.runOnce(never);
    },
    async [Symbol.asyncDispose]() {
      await first[Symbol.asyncDispose]();
      await second[Symbol.asyncDispose]();
      await ours.close();
      await database.remove();
    },
  };
}

const withoutLogs: Lie = ({ method }) =>
  method === 'eth_getLogs' ? new Error('logs are not served today') : undefined;

/** Shows nothing above a block. */
async function stuckAt(block: number): Promise<Lie> {
  const head = await chain.call('eth_getBlockByNumber', numberToHex(block), false);
  return ({ method, params }) => {
    if (method === 'eth_getLogs') return [];
    if (method !== 'eth_getBlockByNumber') return undefined;
    if (params?.[0] === 'latest') return head;
    return Number(params?.[0]) > block ? null : undefined;
  };
}

test('logs of a node that lags are not taken for those of the one that shows the head', async () => {
  await using ours = await begin();
  const session = await ours.open();
  await ours.round();

  ours.first.tell(withoutLogs);
  ours.second.tell(await stuckAt(await chain.head()));
  await chain.pay({ from: 1, to: ours.recipient, amount: session.amountDue });
  await chain.mine(40);
  await ours.round();
  await ours.round();
  ours.first.tell(undefined);
  await ours.round();
  await ours.round();

  expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
});

test('the chain’s id of one node does not vouch for what another node of another chain says', async () => {
  await using ours = await begin();
  const session = await ours.open();
  await chain.pay({ from: 1, to: ours.recipient, amount: session.amountDue });
  await chain.mine(BLOCKS_TO_SETTLE);

  // What some providers do while the node behind them is away.
  ours.first.tell(({ method }) => (method === 'eth_chainId' ? undefined : new Error('no node')));
  ours.second.tell(({ method }) => (method === 'eth_chainId' ? '0x1' : undefined));

  await expect(ours.round()).rejects.toThrow();
  expect(await ours.payments(session.id)).toEqual([]);
});

test('while the first node fails altogether, payments are settled through the second one', async () => {
  await using ours = await begin();
  const session = await ours.open();
  await chain.pay({ from: 1, to: ours.recipient, amount: session.amountDue });
  await chain.mine(BLOCKS_TO_SETTLE);

  ours.first.tell(() => new Error('no node'));
  await ours.round();
  await ours.round();

  expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
});

test('a head that a node cannot show by its number confirms nothing', async () => {
  await using ours = await begin();
  const session = await ours.open();
  await chain.pay({ from: 1, to: ours.recipient, amount: session.amountDue });
  await chain.mine(1);
  await ours.round();

  const head = await chain.call('eth_getBlockByNumber', 'latest', false);
  const higher = { ...Object(head), number: numberToHex((await chain.head()) + 50) };
  ours.first.tell(({ method, params }) =>
    method === 'eth_getBlockByNumber' && params?.[0] === 'latest' ? higher : undefined,
  );
  await ours.round();

  expect(await ours.session(session.id)).toMatchObject({ status: 'active', paymentStatus: 'confirming' });
  expect(await ours.events()).toEqual([]);
});
