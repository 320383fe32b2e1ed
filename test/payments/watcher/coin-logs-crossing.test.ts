import { type Address, concatHex, type Hex, pad, toHex } from 'viem';
import { expect, test } from 'vitest';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import { cursorStore } from '#payments/store/cursor-store.ts';
import { chainActions } from '../../lab/chain-actions.ts';
import { continuedOnAmsterdam } from '../../lab/crossing-chain.ts';
import { faultyNode, type Lie } from '../../lab/faulty-node.ts';
import { addressOf, startPaymentChain, type TestPaymentChain } from '../../lab/payment-chain.ts';
import { eachDatabase } from '../../support/databases.ts';
import { listedTransfers } from '../../support/listed-transfers.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { contractPayer, payerAt } from './contract-payer.ts';
import { BLOCKS_TO_SETTLE } from './setting.ts';
import { watchedShop } from './watched-shop.ts';

const COINS = { tokenAddress: NATIVE_COIN };
const SYSTEM = addressOf(`0x${'f'.repeat(39)}e`);
const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** Code that logs a transfer from its caller to the address in the first word of its input, of the amount in the second. */
const FORGER = concatHex(['0x60203560005260003533', '0x7f', TRANSFER, '0x60206000a300']);
/** Blocks from the first head of the fork to the first one whose coins are read from logs. */
const DISTANCE = 128;

eachDatabase('over the fork from which on chains log coins', databases => {
  /** A chain before the fork, a shop that reads it through a node that can lie, and what crosses the fork. */
  async function begin() {
    const early = await startPaymentChain({ clock: manualClock(Date.now()), engine: 'edr' });
    const node = await faultyNode(early.rpcUrl);
    const database = await databases.create('payments');
    const ours = await watchedShop(early, { database, rpcUrls: [node.url] });
    const ended: AsyncDisposable[] = [ours, node];
    let chain = early;

    return {
      ours,
      node,
      /** The chain before the fork. */
      early,
      /** The chain as it is now. */
      chain: () => chain,
      /** Opens a session and pays it in a block of its own. */
      async pay(): Promise<string> {
        const session = await ours.open(COINS);
        await chain.send({ from: 1, to: addressOf(ours.recipient), value: session.amountDue });
        await chain.mine(1);
        return session.id;
      },
      /** Number of the first block whose coins are read from logs. */
      changeAt: async () => (await cursorStore(ours.db).find(early.chainId))?.coinLogsFrom ?? Number.NaN,
      /** Crosses the fork behind the newest block. */
      async cross(): Promise<TestPaymentChain<ManualClock>> {
        const continued = await continuedOnAmsterdam(early);
        ended.unshift(continued);
        const actions = chainActions({
          ...early,
          rpcUrl: continued.rpcUrl,
          engine: 'edr',
          hardfork: 'amsterdam',
        });
        chain = { ...early, ...actions };
        node.pointAt(chain.rpcUrl);
        return chain;
      },
      async [Symbol.asyncDispose]() {
        for (const one of ended) await one[Symbol.asyncDispose]();
        await early.stop();
      },
    };
  }

  test.for([
    ['', false],
    [', through a node that hides the fork after the choice', true],
  ] as const)(
    'each plain payment settles once, in whichever block, also those of a contract%s',
    async ([, hides]) => {
      await using crossing = await begin();
      const { ours, early, node, cross, pay } = crossing;
      const payer = await contractPayer(early);
      const payByContract = async () => {
        const session = await ours.open(COINS);
        await payerAt(payer.address, crossing.chain()).pay([ours.recipient], session.amountDue);
        await crossing.chain().mine(1);
        return session.id;
      };
      await ours.round();
      const plain = [await pay(), await pay()];
      await ours.round();
      const byContract = [await payByContract()];
      plain.push(await pay());

      const chain = await cross();
      plain.push(await pay());
      await ours.round();
      const from = await crossing.changeAt();
      if (hides) node.tell(hidden);
      await ours.watcher.resign();
      byContract.push(await payByContract());
      plain.push(await pay());
      await chain.mine(from - 3 - (await chain.head()));
      await ours.round();
      for (let count = 0; count < 6; count++) plain.push(await pay());
      byContract.push(await payByContract());
      await ours.settle();
      await chain.mine(30);
      await ours.settle();

      const paymentsOf = async (ids: readonly string[]) =>
        Promise.all(ids.map(async id => (await ours.payments(id)).map(({ status }) => status)));
      expect(from).toBeGreaterThanOrEqual(DISTANCE);
      expect(await paymentsOf(plain)).toEqual(plain.map(() => ['completed']));
      expect(await paymentsOf(byContract)).toEqual(byContract.map(() => ['completed']));
      expect((await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 1 })).total).toBe(0);
      expect((await cursorStore(ours.db).find(chain.chainId))?.coinsBlock).toBeUndefined();
    },
  );

  test('a reorganisation over the fork, and one over the change, count no payment twice', async () => {
    await using crossing = await begin();
    const { ours, early, cross } = crossing;
    const openAll = () => Promise.all([ours.open(COINS), ours.open(COINS)]);
    const sent = async (chain: TestPaymentChain, value: bigint, from: number) =>
      (await chain.send({ from, to: addressOf(ours.recipient), value })).raw;
    const overFork = await openAll();
    await ours.round();
    const beforeFork = await early.snapshot();
    const raw = [await sent(early, overFork[0].amountDue, 1)];
    await early.mine(1);
    const first = await cross();
    raw.push(await sent(first, overFork[1].amountDue, 2));
    await first.mine(1);
    await ours.round();

    await early.fork(beforeFork, 1, raw.slice(1));
    const chain = await cross();
    await chain.call('eth_sendRawTransaction', raw[0]);
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.round();
    const from = await crossing.changeAt();
    await chain.mine(from - 2 - (await chain.head()));
    const overChange = await openAll();
    await ours.round();
    const beforeChange = await chain.snapshot();
    const late = [await sent(chain, overChange[0].amountDue, 1)];
    await chain.mine(1);
    late.push(await sent(chain, overChange[1].amountDue, 2));
    await chain.mine(1);
    await ours.round();
    const indexes = await Promise.all(
      overChange.map(async ({ id }) => (await ours.payments(id))[0]?.logIndex),
    );
    await chain.fork(beforeChange, 1, late.slice(1));
    await chain.call('eth_sendRawTransaction', late[0]);
    await chain.mine(BLOCKS_TO_SETTLE);
    for (let count = 0; count < 3; count++) await ours.round();

    const all = [...overFork, ...overChange];
    const payments = await Promise.all(all.map(({ id }) => ours.payments(id)));
    expect(indexes).toEqual([-1, 0]);
    expect(payments.map(some => some.map(({ status, logIndex }) => [status, logIndex]))).toEqual([
      [['completed', -1]],
      [['completed', -1]],
      [['completed', 0]],
      [['completed', -1]],
    ]);
    expect(await ours.events()).not.toContain('payment.failed');
  });

  test('a chain whose headers have the fields of the fork, but no logs of coins, is read as before', async () => {
    await using crossing = await begin();
    const { ours, early, node, pay } = crossing;
    node.tell(({ method }, answer) =>
      method === 'eth_getBlockByNumber' && answer !== null
        ? { ...Object(answer), slotNumber: '0x1', blockAccessListHash: `0x${'11'.repeat(32)}` }
        : undefined,
    );
    await early.send({ from: 1, to: addressOf(`0x${'d1'.repeat(20)}`), value: 1n });
    await early.mine(1);
    await ours.round();
    const sessions = [await pay()];
    await early.mine(3);
    await ours.round();
    sessions.push(await pay());
    await ours.settle();

    expect(await crossing.changeAt()).toBeNaN();
    for (const id of sessions) expect(await ours.session(id)).toMatchObject({ status: 'completed' });
  });

  test('a log of the system address from before the change, and the same log of a contract after it, pay nothing', async () => {
    await using crossing = await begin();
    const { ours, early, cross } = crossing;
    const contract = addressOf(`0x${'c0'.repeat(20)}`);
    for (const address of [SYSTEM, contract]) await early.call('hardhat_setCode', address, FORGER);
    const forge = async (to: Address) => {
      const session = await ours.open(COINS);
      await ours.bind(session.id, `${crossing.chain().accounts[1]}`);
      const data = concatHex([pad(addressOf(ours.recipient)), pad(toHex(session.amountDue))]);
      const { hash } = await crossing.chain().send({ from: 1, to, data });
      await ours.claim(session.id, hash);
      await crossing.chain().mine(1);
      await ours.round();
      return session.id;
    };
    await ours.round();
    const forged = [await forge(SYSTEM)];
    const chain = await cross();
    const plain = await crossing.pay();
    await ours.round();
    forged.push(await forge(SYSTEM));
    await chain.mine((await crossing.changeAt()) - (await chain.head()));
    forged.push(await forge(contract));
    await ours.settle();

    const sessions = await Promise.all(forged.map(id => ours.session(id)));
    const received = sessions.map(({ status, amountReceived }) => [status, amountReceived]);
    expect(received).toEqual(forged.map(() => ['active', 0n]));
    expect(await ours.session(plain)).toMatchObject({ status: 'completed' });
    expect((await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 1 })).total).toBe(0);
  });
});

/** Leaves out the fields of a header that came with the fork. */
const hidden: Lie = ({ method }, answer) => {
  if (method !== 'eth_getBlockByNumber' || answer === null) return undefined;
  const { slotNumber: _, blockAccessListHash: __, ...older } = Object(answer);
  return older;
};
