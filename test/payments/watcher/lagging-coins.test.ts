import { numberToHex } from 'viem';
import { expect } from 'vitest';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import { cursorStore } from '#payments/store/cursor-store.ts';
import { addressOf } from '../../lab/payment-chain.ts';
import { until } from '../../lab/until.ts';
import { BLOCKS_TO_SETTLE, paymentChain, watcherOf } from './setting.ts';
import { eachWatchedShop, never } from './watched-shop.ts';

eachWatchedShop('coins', test => {
  test('of many large blocks are read by several looks, which follow at once, while the scan goes on', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    const { id, amountDue } = await ours.open({ tokenAddress: NATIVE_COIN });
    await ours.round();
    const before = await chain.head();
    await chain.mine(22);
    await chain.send({ from: 1, to: addressOf(ours.recipient), value: amountDue });
    await chain.mine(1);
    const input = `0x${'ab'.repeat(900_000)}`;
    const asked: number[] = [];
    ours.node.tell(({ method, params }, answer) => {
      const isNew = method === 'eth_getBlockByNumber' && Number(params?.[0]) > before && params?.[1] === true;
      if (isNew) asked.push(Number(params?.[0]));
      const block = Object(answer);
      const large = { hash: block.hash, from: ours.recipient, to: null, value: '0x0', input };
      return isNew ? { ...block, transactions: [...block.transactions, large] } : undefined;
    });

    const changes = await ours.watcher.runOnce(never);
    const during = await cursorStore(ours.db).find(chain.chainId);
    await until(
      async () => asked.length,
      count => count >= 23,
    );
    await ours.look();
    await ours.look();

    expect(changes).toBeGreaterThan(0);
    expect(during).toMatchObject({ blockNumber: before + 23, coinsBlock: before + 20 });
    expect(asked.sort((a, b) => a - b)).toEqual(Array.from({ length: 23 }, (_, index) => before + 1 + index));
    expect(await ours.session(id)).toMatchObject({ paymentStatus: 'confirming' });
    expect((await cursorStore(ours.db).find(chain.chainId))?.coinsBlock).toBeUndefined();
  });

  test('of a block that a node refuses as a whole are read transaction by transaction', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    const { id, amountDue } = await ours.open({ tokenAddress: NATIVE_COIN });
    await ours.round();
    await chain.send({ from: 2, to: addressOf(`0x${'d0'.repeat(20)}`), value: amountDue });
    const { hash } = await chain.send({ from: 1, to: addressOf(ours.recipient), value: amountDue });
    await chain.mine(1);
    const refused = numberToHex(await chain.head());
    ours.node.tell(({ method, params }) =>
      method === 'eth_getBlockByNumber' && params?.[0] === refused && params[1] === true
        ? new Error('the block is too large')
        : undefined,
    );

    for (let count = 0; count < 3; count++) await ours.round();

    expect(await ours.payments(id)).toMatchObject([{ status: 'confirming', txHash: hash }]);
  });

  test('of blocks from before the first checkout in coins are not read', async ({ chain, behindNodes }) => {
    await using ours = await behindNodes();
    await ours.open();
    await ours.round();
    await chain.mine(40);
    await ours.round();
    const head = await chain.head();
    const asked: number[] = [];
    ours.node.tell(({ method, params }) => {
      if (method === 'eth_getBlockByNumber' && params?.[1] === true) asked.push(Number(params[0]));
      return undefined;
    });

    const { id, amountDue } = await ours.open({ tokenAddress: NATIVE_COIN });
    await chain.send({ from: 1, to: addressOf(ours.recipient), value: amountDue });
    await chain.mine(1);
    await ours.round();

    expect(await ours.session(id)).toMatchObject({ paymentStatus: 'confirming' });
    expect(Math.min(...asked)).toBeGreaterThan(head - 12);
  });

  test('of blocks that a node leaves unanswered wait, and the next process reads on from there', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    const { db, clock, node } = ours;
    const [coins, token] = [await ours.open({ tokenAddress: NATIVE_COIN }), await ours.open()];
    await ours.round();
    const before = await cursorStore(db).find(chain.chainId);
    await chain.send({ from: 1, to: addressOf(ours.recipient), value: coins.amountDue });
    await chain.mine(1);
    const unanswered = await chain.head();
    node.tell(({ method, params }) =>
      method === 'eth_getBlockByNumber' && params?.[0] === numberToHex(unanswered) && params[1] === true
        ? Object.assign(new Error('too many requests'), { code: 429 })
        : undefined,
    );
    await ours.payment(token.amountDue);
    await chain.mine(BLOCKS_TO_SETTLE);

    await ours.round();
    await chain.mine(30);
    await ours.round();
    const during = await cursorStore(db).find(chain.chainId);
    const settled = await ours.session(token.id);
    await ours.watcher.resign();
    node.tell(undefined);
    await watcherOf({ chain: paymentChain(chain), rpcUrls: [node.url], db, clock }).runOnce(never);

    expect(settled).toMatchObject({ status: 'completed' });
    expect(during).toMatchObject({ blockNumber: await chain.head(), coinsBlock: unanswered - 1 });
    expect(during?.scannedAt).toBe(before?.scannedAt);
    expect(await ours.session(coins.id)).toMatchObject({ status: 'completed' });
    expect((await cursorStore(db).find(chain.chainId))?.coinsBlock).toBeUndefined();
  });
});
