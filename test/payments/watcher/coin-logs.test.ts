import { expect } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { NATIVE_COIN, paymentChains } from '#payments/model/payment-chain.ts';
import { recipientStore } from '#payments/recipients/recipient-store.ts';
import { refundMoves } from '#payments/refunds/refund-moves.ts';
import { refundStore } from '#payments/refunds/refund-store.ts';
import { cursorStore } from '#payments/store/cursor-store.ts';
import { expiryWorker } from '#payments/watcher/expiry.ts';
import type { Lie } from '../../lab/faulty-node.ts';
import { addressOf } from '../../lab/payment-chain.ts';
import { aRefund } from '../../lab/payments-refunds.ts';
import { listedTransfers } from '../../support/listed-transfers.ts';
import { contractPayer } from './contract-payer.ts';
import { BLOCKS_TO_SETTLE, log, paymentChain, seals, watcherOf } from './setting.ts';
import { coinLogsTest, eachWatchedShop, never } from './watched-shop.ts';

const COINS = { tokenAddress: NATIVE_COIN };

eachWatchedShop(
  'on a chain that logs coins from its beginning',
  watchedTest => {
    const test = watchedTest
      .extend('payer', ({ chain }) => contractPayer(chain))
      /** A payment from which a watcher can see that the chain logs coins. */
      .extend('coinsSent', { auto: true }, async ({ chain }) => {
        await chain.send({ from: 9, to: addressOf(`0x${'d1'.repeat(20)}`), value: 1n });
        await chain.mine(1);
      });

    test('a plain payment and one by a contract settle once each, without whole blocks', async ({
      chain,
      payer,
      behindNodes,
    }) => {
      await using ours = await behindNodes();
      const wholeBlocks: unknown[] = [];
      ours.node.tell(({ method, params }) => {
        if (method === 'eth_getBlockByNumber' && params?.[1] === true) wholeBlocks.push(params[0]);
        return undefined;
      });
      const [plain, contract] = [await ours.open(COINS), await ours.open(COINS)];
      await ours.round();
      const ofChoice = wholeBlocks.length;
      const began = await cursorStore(ours.db).find(chain.chainId);
      await chain.send({ from: 1, to: addressOf(ours.recipient), value: plain.amountDue });
      const { hash } = await payer.pay([ours.recipient], contract.amountDue);
      await ours.settle();

      const payments = [await ours.payments(plain.id), await ours.payments(contract.id)];
      expect(began?.coinLogsFrom).toBeLessThanOrEqual(await chain.head());
      expect(payments).toMatchObject([
        [{ status: 'completed', logIndex: expect.any(Number), sender: chain.accounts[1] }],
        [{ status: 'completed', txHash: hash, sender: payer.address.toLowerCase() }],
      ]);
      expect(payments.flat().every(({ logIndex }) => Number(logIndex) >= 0)).toBe(true);
      expect(ofChoice).toBeLessThanOrEqual(20);
      expect(wholeBlocks).toHaveLength(ofChoice);
      expect((await cursorStore(ours.db).find(chain.chainId))?.coinsBlock).toBeUndefined();
      expect((await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 1 })).total).toBe(0);
    });

    test('a contract that signed pays by any amount, also in several parts of one transaction', async ({
      ours,
      payer,
    }) => {
      const session = await ours.open(COINS);
      await ours.round();
      await ours.bind(session.id, payer.address.toLowerCase());
      const half = session.amount / 2n;
      const { hash } = await payer.pay([ours.recipient, ours.recipient], 2n * half);
      await ours.settle();

      const part = { status: 'completed', txHash: hash, amount: half, matchedBy: 'wallet' };
      expect(await ours.payments(session.id)).toMatchObject([part, part]);
      expect(await ours.session(session.id)).toMatchObject({
        status: 'completed',
        amountReceived: 2n * half,
      });
    });

    test('a claimed payment counts once, by its log and not by its value', async ({ chain, ours }) => {
      const session = await ours.open(COINS);
      await ours.round();
      await ours.bind(session.id, `${chain.accounts[1]}`);
      const paid = await chain.send({ from: 1, to: addressOf(ours.recipient), value: session.amountDue });
      await ours.claim(session.id, paid.hash);
      await ours.settle();

      expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', txHash: paid.hash }]);
      expect(await ours.session(session.id)).toMatchObject({ amountReceived: session.amountDue });
    });

    test('a node that refuses whole blocks is asked for one again after ten minutes, and delays no tokens', async ({
      chain,
      behindNodes,
    }) => {
      await using ours = await behindNodes();
      let asked = 0;
      const isWhole: Lie = ({ method, params }) => {
        if (method !== 'eth_getBlockByNumber' || params?.[1] !== true) return undefined;
        asked += 1;
        return new Error('not available');
      };
      const chosen = async () => (await cursorStore(ours.db).find(chain.chainId))?.coinLogsFrom;
      ours.node.tell(isWhole);
      const session = await ours.open();
      await ours.round();
      await ours.payment(session.amountDue);
      await ours.settle();
      const [early, refusals] = [await chosen(), asked];
      ours.clock.advance(600_000);
      ours.node.tell(undefined);
      await chain.send({ from: 9, to: addressOf(`0x${'d1'.repeat(20)}`), value: 1n });
      await chain.mine(1);
      const head = await chain.head();
      await ours.round();

      expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
      expect([early, refusals]).toEqual([undefined, 1]);
      // Nothing was read for coins, which this shop does not take.
      expect(await chosen()).toBe(head + 12);
    });

    test('a reorganisation moves payments to other blocks and counts none twice', async ({
      chain,
      ours,
      payer,
    }) => {
      const [plain, contract] = [await ours.open(COINS), await ours.open(COINS)];
      await ours.round();
      const before = await chain.snapshot();
      const { raw } = await chain.send({ from: 1, to: addressOf(ours.recipient), value: plain.amountDue });
      await chain.mine(1);
      const second = await payer.pay([ours.recipient], contract.amountDue);
      await chain.mine(BLOCKS_TO_SETTLE);
      await ours.round();
      const first = [await ours.payments(plain.id), await ours.payments(contract.id)].flat();

      await chain.fork(before, 2);
      for (const one of [second.raw, raw]) await chain.call('eth_sendRawTransaction', one);
      await chain.mine(2 * BLOCKS_TO_SETTLE);
      for (let count = 0; count < 3; count++) await ours.round();

      const moved = [await ours.payments(plain.id), await ours.payments(contract.id)].flat();
      expect(first).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
      expect(moved.map(({ id, status }) => [id, status])).toEqual(first.map(({ id }) => [id, 'completed']));
      expect(moved.map(({ blockHash }) => blockHash)).not.toEqual(first.map(({ blockHash }) => blockHash));
      expect(await ours.events()).not.toContain('payment.failed');
    });

    test('a watcher that was killed after its choice reads no coins twice, even through a node that hides the fork', async ({
      chain,
      behindNodes,
    }) => {
      await using ours = await behindNodes();
      const { db, clock } = ours;
      const session = await ours.open(COINS);
      await chain.send({ from: 1, to: addressOf(ours.recipient), value: session.amountDue });
      await chain.mine(1);
      const killed = new Error('killed');
      const fault = (step: string) => {
        if (step === 'after record') throw killed;
      };
      const first = watcherOf({ chain: paymentChain(chain), rpcUrls: [chain.rpcUrl], db, clock, fault });
      const ended = await first.runOnce(never).catch((error: unknown) => error);
      clock.advance(60_000);
      ours.node.tell(({ method }, answer) => {
        if (method !== 'eth_getBlockByNumber' || answer === null) return undefined;
        const { slotNumber: _, blockAccessListHash: __, ...older } = Object(answer);
        return older;
      });
      await ours.settle();

      expect(ended).toBe(killed);
      expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed' }]);
      expect(await ours.session(session.id)).toMatchObject({ amountReceived: session.amountDue });
    });

    test('a block with more such logs than an answer can hold is read receipt by receipt, and its session stays open', async ({
      chain,
      behindNodes,
      payer,
    }) => {
      await using ours = await behindNodes({ maxAnswerBytes: 40_000 });
      const chains = paymentChains([{ ...paymentChain(chain), mode: 'live' }]);
      const expiry = expiryWorker({ ...ours, seals, log, chains });
      const expiresAt = ours.clock.now() + 300_000;
      const session = await ours.open({ ...COINS, expiresAt });
      await ours.round();
      const dust = Array.from({ length: 20 }, () => ours.recipient);
      for (let count = 0; count < 8; count++) await payer.pay(dust, 20n);
      await chain.send({ from: 1, to: addressOf(ours.recipient), value: session.amountDue });
      await chain.mine(1);
      ours.node.tell(({ method }) =>
        method === 'eth_getTransactionReceipt' ? new Error('not available') : undefined,
      );
      await ours.look();
      await ours.look();
      ours.clock.advance(360_000);
      await chain.mine(BLOCKS_TO_SETTLE);
      await ours.round();
      await expiry.runOnce(never);
      const waiting = await ours.session(session.id);
      ours.node.tell(undefined);
      ours.clock.advance(600_000);
      await ours.settle();

      expect(waiting).toMatchObject({ status: 'active' });
      expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
      expect((await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 1 })).total).toBe(160);
    });

    test('a refund that a contract of the organization sends completes by its log, unnamed and once', async ({
      chain,
      ours,
      payer,
    }) => {
      const destination = addressOf(`0x${'d0'.repeat(20)}`);
      const refund = async () => {
        const added = aRefund(ours.owner, {
          ...COINS,
          destination,
          amount: 7n,
          createdAt: ours.clock.now(),
          afterBlock: await chain.head(),
        });
        await transaction(ours.db, handle =>
          refundMoves({ handle, seals, now: ours.clock.now() }).create(added),
        );
        return added.id;
      };
      await ours.round();
      const owned = { chainId: chain.chainId, address: payer.address.toLowerCase() };
      await recipientStore(ours.db).name(ours.owner, owned, ours.clock.now());
      const id = await refund();
      const { hash } = await payer.pay([destination], 7n);
      await ours.settle();

      expect(await refundStore(ours.db).byId(id)).toMatchObject({ status: 'completed', txHash: hash });
    });
  },
  coinLogsTest,
);
