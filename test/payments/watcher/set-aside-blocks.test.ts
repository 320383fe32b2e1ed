import { expect } from 'vitest';
import type { Binding } from '#db/columns.ts';
import type { Db } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { boundedLines } from '#lib/logger.ts';
import { createChainClient } from '#node/client.ts';
import { refundMoves } from '#payments/refunds/refund-moves.ts';
import { settlement } from '#payments/settlement/settlement.ts';
import type { Look } from '#payments/watcher/look/look.ts';
import { nodePool } from '#payments/watcher/node/node-pool.ts';
import { nodeView } from '#payments/watcher/node/node-view.ts';
import { watchedAddressesOf } from '#payments/watcher/node/token-transfers.ts';
import { setAsideBlocks } from '#payments/watcher/set-aside-blocks.ts';
import { log, paymentChain, seals } from './setting.ts';
import { eachWatchedShop, type WatchedShop } from './watched-shop.ts';

const BLOCK = { number: 1, hash: `0x${'ab'.repeat(32)}`, time: 1_000, reason: 'too_large' } as const;

/*
 * The scan of a look and the reading of pieces share the list of blocks in memory. A list that one of them read while
 * the other changed it may be the one before the change.
 */

eachWatchedShop('blocks that are set aside', test => {
  test('are not remembered as they were read before a change that ends later', async ({ chain, ours }) => {
    const { chainId } = chain;
    await chain.mine(2);
    const aside = setAsideBlocks(chainId);
    const round = await roundOf(ours, chain);
    await aside.add(round, 'tokens', [BLOCK]);
    const readMeanwhile: number[][] = [];
    const effect: Look['effect'] = async (name, work) => {
      readMeanwhile.push([...(await aside.numbers(round, 'tokens'))]);
      return round.effect(name, work);
    };

    await aside.dropReplaced({ ...round, effect });

    expect(readMeanwhile).toEqual([[BLOCK.number]]);
    expect([...(await aside.numbers(round, 'tokens'))]).toEqual([]);
  });

  test('are not remembered as they were read before a change that has ended', async ({ chain, ours }) => {
    const { chainId } = chain;
    await chain.mine(2);
    const aside = setAsideBlocks(chainId);
    const round = await roundOf(ours, chain);
    await aside.add(round, 'tokens', [BLOCK]);
    const { promise: changed, resolve: release } = Promise.withResolvers<void>();
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const slow = answeringAfter(changed, ours.db, ask);
    const reading = aside.numbers({ ...round, db: slow }, 'tokens');
    await asked;

    await aside.dropReplaced(round);
    release();

    expect([...(await reading)]).toEqual([BLOCK.number]);
    expect([...(await aside.numbers(round, 'tokens'))]).toEqual([]);
  });
});

/** A look at the head of the chain. Its changes need no lease. */
async function roundOf(
  { db, clock }: WatchedShop,
  chain: Parameters<typeof paymentChain>[0] & Rpc,
): Promise<Look> {
  const watched = paymentChain(chain);
  const client = createChainClient({ id: watched.id, rpcUrls: [chain.rpcUrl], timeoutMs: 5_000, log });
  const view = nodeView(nodePool(client));
  return {
    chain: watched,
    view,
    head: await view.head(),
    watched: watchedAddressesOf([]),
    progress: undefined,
    coinLogsFrom: undefined,
    db,
    seals,
    clock,
    log,
    line: boundedLines({ clock, log }),
    effect: (_, work) =>
      transaction(db, handle => {
        const now = clock.now();
        const settle = settlement({ handle, seals, now });
        const refunds = refundMoves({ handle, seals, now });
        return work({ handle, settle, refunds, now, breathe: async () => {} });
      }),
    note() {},
  };
}

interface Rpc {
  readonly rpcUrl: string;
}

/** A database whose statements are run at once, but answered only after `moment`. `onRun` is called in between. */
function answeringAfter(moment: Promise<void>, db: Db, onRun: () => void): Db {
  return new Proxy(db, {
    get(target, key, receiver) {
      if (key === 'reads') return undefined;
      if (key !== 'raw') return Reflect.get(target, key, receiver);
      return async (sql: string, bindings: Binding[]) => {
        const rows = await target.raw(sql, bindings);
        onRun();
        await moment;
        return rows;
      };
    },
  });
}
