import type { Clock } from '#lib/clock.ts';
import type { ChainClient } from '#node/client.ts';
import type { PaymentChain } from '../../model/payment-chain.ts';
import { type LaneResult, NOTHING_DONE } from '../look/lanes.ts';
import type { Look } from '../look/look.ts';
import { recordAll } from '../look/record.ts';
import type { NodeReads, NodeView } from '../node/node-view.ts';
import { scan } from '../node/scan.ts';

/** Least time between two comparisons. A hosted node then gets at most 120 of them per hour. */
const EVERY_MS = 30_000;
/** Most blocks of one comparison, and those that are compared again, because a node may show logs late. */
const BLOCKS = 500;
const OVERLAP = 12;

/**
 * Reads the logs of the latest blocks from a node of another host as well, because a node may leave logs out of its answers
 * (Decision 386). What only that node shows is recorded like any other transfer, and proven before it completes.
 */
export function secondNode({
  chain,
  client,
  clock,
}: {
  readonly chain: Pick<PaymentChain, 'id' | 'prove'>;
  readonly client: Pick<ChainClient, 'ranks'>;
  readonly clock: Clock;
}) {
  let compared = -1;
  let comparedAt = Number.NEGATIVE_INFINITY;

  /** The first node with another host than the one that is asked now; undefined when there is none. */
  function other(view: NodeView): NodeReads | undefined {
    const order = [...client.ranks.inTurn()];
    const position = order.findIndex(({ host }) => host !== order[0]?.host);
    return view.eachNode()[position];
  }

  return {
    async run(look: Look): Promise<LaneResult> {
      const { head, watched, coinLogsFrom } = look;
      if (chain.prove === 'off' || Math.abs(clock.now() - comparedAt) < EVERY_MS) return NOTHING_DONE;
      const view = other(look.view);
      // A node that is a moment behind has the block before the head.
      const to = head.number - 1;
      if (view === undefined || to < 0) return NOTHING_DONE;
      comparedAt = clock.now();
      const from = Math.max(0, to - BLOCKS + 1, Math.min(compared, to) + 1 - OVERLAP);
      const found = await scan(
        { from, to },
        { chainId: chain.id, view, watched, skipped: new Set(), isSettled: () => false, coinLogsFrom },
      );
      if (found?.lastHash !== head.parentHash) return NOTHING_DONE;
      const recorded = await recordAll(look, found.transfers);
      if (recorded.isWhole) compared = to;
      return { changes: recorded.changes, isMoved: false };
    },
    /** Compares the latest blocks again, as after a start. */
    forget(): void {
      compared = -1;
      comparedAt = Number.NEGATIVE_INFINITY;
    },
  };
}
