import { expect } from 'vitest';
import type { Lie } from '../../lab/faulty-node.ts';
import { BLOCKS_TO_SETTLE } from './setting.ts';
import { eachWatchedShop } from './watched-shop.ts';

/** Blocks that the node keeps. */
const KEPT = 20;

eachWatchedShop('a node without old blocks', test => {
  test.for([
    ['no block', null],
    ['an error', new Error('pruned history unavailable')],
  ] as const)(
    'that answers with %s, and a session from before the first scan: a payment is found',
    async ([, answer], { chain, behindNodes }) => {
      await using ours = await behindNodes();
      await chain.mine(3 * KEPT);
      // The chain began after the session, so no block tells how far back to read.
      const session = await ours.open({ createdAt: ours.clock.now() - 3_600_000 });
      await chain.mine(KEPT);
      await ours.payment(session.amountDue);
      await chain.mine(BLOCKS_TO_SETTLE);

      ours.node.tell(withoutBlocksBefore((await chain.head()) - KEPT, answer));
      await ours.round();

      expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
    },
  );
});

function withoutBlocksBefore(oldest: number, answer: null | Error): Lie {
  return ({ method, params }) => {
    const [block] = params ?? [];
    const isOld = method === 'eth_getBlockByNumber' && block !== 'latest' && Number(block) < oldest;
    return isOld ? answer : undefined;
  };
}
