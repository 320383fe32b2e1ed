import { numberToHex } from 'viem';
import { expect } from 'vitest';
import type { Lie } from '../../lab/faulty-node.ts';
import { BLOCKS_TO_SETTLE } from './setting.ts';
import { eachWatchedShop, type ShopBehindNodes } from './watched-shop.ts';

const withoutLogs: Lie = ({ method }) =>
  method === 'eth_getLogs' ? new Error('logs are not served today') : undefined;

eachWatchedShop('several nodes of a chain', watchedTest => {
  const test = watchedTest
    /** Makes a lie that hides everything above a block. */
    .extend('stuckAt', ({ chain }) => async (block: number): Promise<Lie> => {
      const head = await chain.call('eth_getBlockByNumber', numberToHex(block), false);
      return ({ method, params }) => {
        if (method === 'eth_getLogs') return [];
        if (method !== 'eth_getBlockByNumber') return undefined;
        if (params?.[0] === 'latest') return head;
        return Number(params?.[0]) > block ? null : undefined;
      };
    })
    /** Opens a session with a payment deep enough to settle. */
    .extend('paid', ({ chain }) => async (ours: ShopBehindNodes) => {
      const session = await ours.open();
      await ours.payment(session.amountDue);
      await chain.mine(BLOCKS_TO_SETTLE);
      return session;
    });

  test('logs of a lagging node are not mistaken for those of the node that shows the head', async ({
    chain,
    stuckAt,
    behindNodes,
  }) => {
    await using ours = await behindNodes({ nodes: 2 });
    const session = await ours.open();
    await ours.round();

    ours.node.tell(withoutLogs);
    ours.second.tell(await stuckAt(await chain.head()));
    await chain.pay({ from: 1, to: ours.recipient, amount: session.amountDue });
    await chain.mine(40);
    await ours.round();
    await ours.round();
    ours.node.tell(undefined);
    await ours.round();
    await ours.round();

    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
  });

  test('the chain id of one node does not vouch for answers of another node', async ({
    paid,
    behindNodes,
  }) => {
    await using ours = await behindNodes({ nodes: 2 });
    const session = await paid(ours);

    // Some providers behave like this while the node behind them is down.
    ours.node.tell(({ method }) => (method === 'eth_chainId' ? undefined : new Error('no node')));
    ours.second.tell(({ method }) => (method === 'eth_chainId' ? '0x1' : undefined));

    await expect(ours.round()).rejects.toThrow();
    expect(await ours.payments(session.id)).toEqual([]);
  });

  test('while the first node fails altogether, payments are settled through the second one', async ({
    paid,
    behindNodes,
  }) => {
    await using ours = await behindNodes({ nodes: 2 });
    const session = await paid(ours);

    ours.node.tell(() => new Error('no node'));
    await ours.round();
    await ours.round();

    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
  });

  test('a head that a node cannot show by number confirms nothing', async ({ chain, behindNodes }) => {
    await using ours = await behindNodes({ nodes: 2 });
    const session = await ours.open();
    await chain.pay({ from: 1, to: ours.recipient, amount: session.amountDue });
    await chain.mine(1);
    await ours.round();

    const head = await chain.call('eth_getBlockByNumber', 'latest', false);
    const higher = { ...Object(head), number: numberToHex((await chain.head()) + 50) };
    ours.node.tell(({ method, params }) =>
      method === 'eth_getBlockByNumber' && params?.[0] === 'latest' ? higher : undefined,
    );
    await ours.round();

    expect(await ours.session(session.id)).toMatchObject({ status: 'active', paymentStatus: 'confirming' });
    expect(await ours.events()).toEqual([]);
  });
});
