import { numberToHex } from 'viem';
import { expect } from 'vitest';
import { NATIVE_COIN, paymentChains } from '#payments/model/payment-chain.ts';
import { cursorStore } from '#payments/store/cursor-store.ts';
import { expiryWorker } from '#payments/watcher/expiry.ts';
import type { Lie } from '../../lab/faulty-node.ts';
import { addressOf, type TestPaymentChain } from '../../lab/payment-chain.ts';
import { deploySteps } from '../../lab/sending-contract.ts';
import { BLOCKS_TO_SETTLE, log, paymentChain, seals } from './setting.ts';
import { eachWatchedShop, never, type WatchedShop } from './watched-shop.ts';

const TRACES = /^(trace|debug)_/;
const BUSY = Object.assign(new Error('too many requests'), { code: 429 });

/** Opens a session in coins, and a contract that pays it when it is called. */
async function paidByContract(chain: TestPaymentChain, ours: WatchedShop, changes: object = {}) {
  const session = await ours.open({ tokenAddress: NATIVE_COIN, ...changes });
  const { id, amountDue } = session;
  const to = await deploySteps(chain, [{ kind: 'call', to: addressOf(ours.recipient), value: amountDue }]);
  await ours.round();
  return { id, pay: () => chain.send({ from: 1, to, value: amountDue, gas: 300_000n }) };
}

/** Refuses the traces of these blocks and of their transactions. */
async function refusing(chain: TestPaymentChain, numbers: readonly number[]): Promise<Lie> {
  const refused = new Set<unknown>();
  for (const number of numbers) {
    const block = Object(await chain.call('eth_getBlockByNumber', numberToHex(number), false));
    for (const one of [numberToHex(number), block.hash, ...block.transactions]) refused.add(one);
  }
  return ({ method, params }) =>
    TRACES.test(method) && refused.has(params?.[0]) ? new Error('execution timeout') : undefined;
}

/** Mines blocks with a transaction each. Returns their numbers. */
async function full(chain: TestPaymentChain, count: number): Promise<number[]> {
  const numbers: number[] = [];
  for (let at = 0; at < count; at++) {
    await chain.send({ from: 2, to: addressOf(`${chain.accounts[3]}`), value: 1n });
    await chain.mine(1);
    numbers.push(await chain.head());
  }
  return numbers;
}

eachWatchedShop('coins that a contract sends', test => {
  test('in new blocks do not wait for many old ones that the node traces no more', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    const { id, pay } = await paidByContract(chain, ours);
    ours.node.tell(await refusing(chain, await full(chain, 14)));
    await chain.mine(12);

    await pay();
    await chain.mine(BLOCKS_TO_SETTLE);
    for (let count = 0; count < 4; count++) await ours.round();

    expect(await ours.session(id)).toMatchObject({ status: 'completed' });
  });

  test('are read a minute after a stranger filled three blocks that no node traces', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    const { id, pay } = await paidByContract(chain, ours);
    ours.node.tell(await refusing(chain, await full(chain, 3)));
    for (let count = 0; count < 3; count++) await ours.round();

    await pay();
    await chain.mine(BLOCKS_TO_SETTLE);
    ours.clock.advance(60_000);
    for (let count = 0; count < 8; count++) await ours.round();

    expect(await ours.session(id)).toMatchObject({ status: 'completed' });
  });

  test('of equal amounts keep their order when their transaction moves to another block', async ({
    chain,
    ours,
  }) => {
    const { id, amountDue } = await ours.open({ tokenAddress: NATIVE_COIN });
    const step = { kind: 'call', to: addressOf(ours.recipient), value: amountDue } as const;
    const to = await deploySteps(chain, [step, step]);
    await ours.round();
    const snapshot = await chain.snapshot();
    const { raw } = await chain.send({ from: 1, to, value: 2n * amountDue, gas: 300_000n });
    await ours.settle();
    const places = async () => (await ours.payments(id)).map(one => [one.logIndex, one.id]).sort();
    const before = await places();

    await chain.fork(snapshot, 3);
    await chain.call('eth_sendRawTransaction', raw);
    await ours.settle();
    await ours.round();

    expect(before.map(([place]) => place)).toEqual([-2, -3]);
    expect(await places()).toEqual(before);
  });

  test('at the end of a session count as in time, also once the block is known from which logs show them', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    const expiry = expiryWorker({ ...ours, seals, log, chains: paymentChains([paymentChain(chain)]) });
    const expiresAt = ours.clock.now() + 300_000;
    const { id, pay } = await paidByContract(chain, ours, { expiresAt });
    const from = (await chain.head()) + 200;
    await cursorStore(ours.db).setCoinLogs(chain.chainId, { from, blockNumber: 0 });
    ours.clock.advance(expiresAt - 5_000 - ours.clock.now());
    await pay();
    ours.node.tell(({ method }) => (TRACES.test(method) ? BUSY : undefined));
    await chain.mine(1);
    await ours.round();
    ours.clock.advance(20_000);
    await chain.mine(1);
    await ours.round();

    ours.clock.advance(30_000);
    await expiry.runOnce(never);
    ours.node.tell(undefined);
    for (let count = 0; count < 4; count++) await ours.settle();

    expect(await ours.payments(id)).toMatchObject([{ status: 'completed', isLate: false }]);
  });
});
