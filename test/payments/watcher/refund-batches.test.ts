import { type Address, concatHex, encodeFunctionData, getContractAddress, type Hex, numberToHex } from 'viem';
import { expect } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { fungibleAbi } from '#devnet/activity/abis.ts';
import type { Refund } from '#payments/model/refund.ts';
import { recipientStore } from '#payments/recipients/recipient-store.ts';
import { refundMoves } from '#payments/refunds/refund-moves.ts';
import { refundStore } from '#payments/refunds/refund-store.ts';
import { addressOf, type TestPaymentChain } from '../../lab/payment-chain.ts';
import { aRefund } from '../../lab/payments-refunds.ts';
import { BLOCKS_TO_SETTLE, seals } from './setting.ts';
import { eachWatchedShop, type WatchedShop } from './watched-shop.ts';

const ONE = addressOf(`0x${'d1'.repeat(20)}`);
const OTHER = addressOf(`0x${'d2'.repeat(20)}`);
const AMOUNT = 2_500_000n;
const BY = 'api_key:ak_1' as const;
/** The account that sends batches. */
const FROM = 9;

/** Sends tokens to several addresses in one transaction, whose logs have their order. The transaction waits in the pool. */
async function sendBatch(
  chain: Pick<TestPaymentChain, 'send' | 'pay' | 'mine' | 'call' | 'accounts' | 'token'>,
  recipients: readonly Address[],
): Promise<{ readonly sender: Address; send(): Promise<{ readonly hash: Hex; readonly raw: Hex }> }> {
  const nonce = BigInt(
    Number(await chain.call('eth_getTransactionCount', `${chain.accounts[FROM]}`, 'latest')),
  );
  // A contract that sends all tokens while it is created, so its address has them before.
  const sender = getContractAddress({ from: addressOf(`${chain.accounts[FROM]}`), nonce });
  await chain.pay({ from: 8, to: sender, amount: AMOUNT * BigInt(recipients.length) });
  await chain.mine();
  const calls = recipients.map(to => {
    const args = [to, AMOUNT] as const;
    const data = encodeFunctionData({ abi: fungibleAbi, functionName: 'transfer', args });
    const words = [0, 1, 2].map(index => {
      const word: Hex = `0x${data
        .slice(2)
        .padEnd(192, '0')
        .slice(64 * index, 64 * (index + 1))}`;
      // PUSH32 word, PUSH1 offset, MSTORE
      return concatHex(['0x7f', word, '0x60', numberToHex(32 * index, { size: 1 }), '0x52']);
    });
    // CALL with the 68 bytes of a transfer, and POP.
    return concatHex([...words, '0x5f5f60445f5f73', chain.token, '0x5af150']);
  });
  return { sender, send: () => chain.send({ from: FROM, data: concatHex([...calls, '0x00']) }) };
}

eachWatchedShop('refunds sent by one transaction', watchedTest => {
  const moves = <T>(
    { db, clock }: WatchedShop,
    work: (moves: ReturnType<typeof refundMoves>) => Promise<T>,
  ) => transaction(db, handle => work(refundMoves({ handle, seals, now: clock.now() })));
  const statesOf = ({ db }: WatchedShop, refunds: readonly Refund[]) =>
    Promise.all(refunds.map(({ id }) => refundStore(db).byId(id)));

  const test = watchedTest
    /** Requests a refund. The watcher checks refunds in the order of their ids. */
    .extend('asked', ({ chain }) => async (ours: WatchedShop, destination: string, id: string) => {
      const refund = aRefund(ours.owner, {
        id,
        tokenAddress: chain.token.toLowerCase(),
        amount: AMOUNT,
        destination,
        createdAt: ours.clock.now(),
        afterBlock: await chain.head(),
      });
      await moves(ours, one => one.create(refund));
      return refund;
    })
    /** Sends two refunds by one transaction, and names it for both. */
    .extend('sent', ({ chain, asked }) => async (ours: WatchedShop, [one, other]: readonly [Hex, Hex]) => {
      const batch = await sendBatch(chain, [one, other]);
      const refunds = [await asked(ours, one, 're_1'), await asked(ours, other, 're_2')];
      const snapshot = await chain.snapshot();
      const { hash, raw } = await batch.send();
      for (const { id } of refunds) await moves(ours, refund => refund.name(id, hash, BY));
      return { refunds, snapshot, raw };
    })
    /** Replaces the blocks after a snapshot by others, in which another transfer comes before the batch. */
    .extend('shifted', ({ chain }) => async (snapshot: unknown, raw: Hex, blocks: number) => {
      const before = await chain.pay({ from: 5, to: `0x${'77'.repeat(20)}`, amount: 1n, tip: 40 });
      await chain.fork(snapshot, blocks, [chain.rawOf(before), raw]);
    });

  for (const [name, destinations] of [
    ['two addresses', [ONE, OTHER]],
    ['one address with one amount', [ONE, ONE]],
  ] as const) {
    test(`to ${name} move with it to a block where its logs have other places`, async ({
      chain,
      ours,
      sent,
      shifted,
    }) => {
      const { refunds, snapshot, raw } = await sent(ours, destinations);
      await ours.settle();
      const first = await statesOf(ours, refunds);

      await shifted(snapshot, raw, BLOCKS_TO_SETTLE + 1);
      await ours.round();
      await chain.mine();
      await ours.round();

      const moved = await statesOf(ours, refunds);
      expect(first.map(({ status }) => status)).toEqual(['completed', 'completed']);
      expect(first.map(({ logIndex }) => logIndex).sort()).toEqual([0, 1]);
      expect(moved.map(({ status }) => status)).toEqual(['completed', 'completed']);
      expect(moved.map(({ logIndex }) => logIndex).sort()).toEqual([1, 2]);
      expect(moved.map(({ blockHash }) => blockHash)).not.toContain(first[0]?.blockHash);
      expect(await ours.events()).not.toContain('refund.failed');
    });

    test(`to ${name} complete after such a move while they are being confirmed`, async ({
      chain,
      ours,
      sent,
      shifted,
    }) => {
      const { refunds, snapshot, raw } = await sent(ours, destinations);
      await chain.mine();
      await ours.round();
      const first = await statesOf(ours, refunds);

      await shifted(snapshot, raw, 2 * BLOCKS_TO_SETTLE);
      await ours.round();

      const moved = await statesOf(ours, refunds);
      expect(first.map(({ status, logIndex }) => [status, logIndex !== null])).toEqual([
        ['pending', true],
        ['pending', true],
      ]);
      expect(moved.map(({ status }) => status)).toEqual(['completed', 'completed']);
      expect(moved.map(({ logIndex }) => logIndex).sort()).toEqual([1, 2]);
      expect(await ours.events()).not.toContain('refund.failed');
    });
  }

  test('without a name complete together, from an address of the organization', async ({
    chain,
    ours,
    asked,
  }) => {
    const batch = await sendBatch(chain, [ONE, OTHER]);
    const at = { chainId: chain.chainId, address: batch.sender.toLowerCase() };
    await transaction(ours.db, handle => recipientStore(handle).name(ours.owner, at, ours.clock.now()));
    const refunds = [await asked(ours, ONE, 're_1'), await asked(ours, OTHER, 're_2')];
    await batch.send();

    await ours.settle();

    expect((await statesOf(ours, refunds)).map(({ status }) => status)).toEqual(['completed', 'completed']);
  });
});
