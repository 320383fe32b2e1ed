import type { Db } from '../../db/open.ts';
import { transaction } from '../../db/transaction.ts';
import type { Clock } from '../../lib/clock.ts';
import { LONGEST_SESSION_MS } from '../model/session.ts';
import { earliestSession } from '../sessions/chain-sessions.ts';
import { CLOCK_ALLOWANCE_MS, LATE_MS } from '../settlement/match.ts';
import { cursorStore } from '../store/cursor-store.ts';
import type { Header, NodeView } from './node/node-view.ts';
import type { Round } from './round.ts';

/**
 * The last block that a watcher need not look at when it begins: sessions may have been opened, and paid, before the
 * chain was looked at for the first time. Transfers that are too old to match any session are left out.
 */
export async function blockBeforeSessions({
  chainId,
  db,
  view,
  head,
  now,
}: {
  chainId: number;
  db: Db;
  view: NodeView;
  head: Header;
  now: number;
}): Promise<number> {
  const earliest = await earliestSession(db, chainId);
  if (earliest === undefined) return head.number;
  const since = Math.max(earliest - CLOCK_ALLOWANCE_MS, now - LATE_MS - LONGEST_SESSION_MS);
  let before = -1;
  let after = head.number + 1;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    const header = (await view.headers([middle])).get(middle);
    if (header === undefined) throw new Error(`The node does not show block ${middle}.`);
    if (header.time < since) before = middle;
    else after = middle;
  }
  return before;
}

/** How often it is said that a node stays behind. */
const SAY_EVERY_MS = 60_000;

/** Notices when a node does not go on where the chain was left. */
export function sameChain({ clock }: { clock: Clock }) {
  let lastHead = 0;
  let saidAt = Number.NEGATIVE_INFINITY;

  return {
    /**
     * Has a chain that begins with another block than before, such as one in development that was started anew, looked
     * through from its beginning: true, and its progress is forgotten. `isFresh` is true when nobody knows what
     * happened to the node since the last round.
     */
    async isAnother({ chain, view, head, progress, db, log }: Round, isFresh: boolean): Promise<boolean> {
      const isExpected = !isFresh && head.number >= lastHead;
      lastHead = head.number;
      if (isExpected) return false;
      const firstBlock = (await view.headers([0])).get(0)?.hash;
      // Nodes without the oldest blocks are not those that are started anew.
      const isNew =
        firstBlock !== undefined &&
        (await transaction(db, handle => cursorStore(handle).isNewChain(chain.id, firstBlock)));
      if (isNew) {
        log.warn({ chainId: chain.id, firstBlock }, 'the chain was started anew and is looked through again');
        return true;
      }
      if (progress === undefined || head.number >= progress.blockNumber) return false;
      // Looked at again until it is where it was.
      lastHead = progress.blockNumber;
      if (clock.now() - saidAt < SAY_EVERY_MS) return false;
      saidAt = clock.now();
      log.warn(
        { chainId: chain.id, head: head.number, cursor: progress.blockNumber },
        'the node is behind the blocks that were looked through before',
      );
      return false;
    },
  };
}
