import type { Db } from '../../db/open.ts';
import { earliestSession } from '../sessions/chain-sessions.ts';
import { CLOCK_ALLOWANCE_MS, LATE_MS } from '../settlement/match.ts';
import type { Header, NodeView } from './node/node-view.ts';

/** The longest that a session can live. Decision 110. */
const LONGEST_SESSION_MS = 24 * 3_600_000;

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
