import { transaction } from '../../db/transaction.ts';
import type { Clock } from '../../lib/clock.ts';
import { nodeAnswered } from '../../node/client.ts';
import { LIFE_ALLOWANCE, LONGEST_SESSION_MS } from '../model/session.ts';
import { earliestSession } from '../sessions/chain-sessions.ts';
import { LATE_PAYMENT_MS } from '../settlement/match.ts';
import { cursorStore } from '../store/cursor-store.ts';
import type { Look } from './look/look.ts';
import type { Header, NodeView } from './node/node-view.ts';

/**
 * The last block that the first scan of a chain may skip. The scan begins at the earliest session, because sessions may
 * have been paid before any watcher ran. Transfers that are too old to match any session are skipped. On a node without
 * old blocks, the scan begins at the oldest one that it shows.
 */
export async function blockBeforeSessions(
  { chain, db, view, head, log }: Pick<Look, 'chain' | 'db' | 'view' | 'head' | 'log'>,
  now: number,
): Promise<number> {
  const earliest = await earliestSession(db, chain.id);
  if (earliest === undefined) return head.number;
  const since = Math.max(earliest - LIFE_ALLOWANCE.beforeMs, now - LATE_PAYMENT_MS - LONGEST_SESSION_MS);
  return lastBlockBefore({ chain, view, head, log }, since);
}

/** The last block before a time, in UTC milliseconds, or before the oldest block that a node shows. */
export async function lastBlockBefore(
  { chain, view, head, log }: Pick<Look, 'chain' | 'view' | 'head' | 'log'>,
  since: number,
): Promise<number> {
  let before = -1;
  let after = head.number + 1;
  let lastMissing: number | undefined;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    const header = await headerIfShown(middle, view);
    if (header === undefined) lastMissing = middle;
    if (header === undefined || header.time < since) before = middle;
    else after = middle;
  }
  if (before === lastMissing) {
    const facts = { chainId: chain.id, from: after, since: new Date(since).toISOString() };
    log.warn(facts, 'no node shows the older blocks in which sessions may have been paid');
  }
  return before;
}

async function headerIfShown(number: number, view: NodeView): Promise<Header | undefined> {
  try {
    return (await view.headers([number])).get(number);
  } catch (error) {
    if (nodeAnswered(error)) return undefined;
    throw error;
  }
}

/** Interval of the warning that a node stays behind. */
const SAY_EVERY_MS = 60_000;

/** Detects a node that does not continue the chain scanned so far. */
export function sameChain({ clock }: { clock: Clock }) {
  let lastHead = 0;
  let saidAt = Number.NEGATIVE_INFINITY;

  return {
    /**
     * True when the chain has another first block than before, for example after a restart of a development chain. Its
     * stored progress is then deleted, and it is scanned from the beginning. `isFresh` is true after a start or a
     * failed look, when the node may have changed in between.
     */
    async isAnother({ chain, view, head, progress, db, log }: Look, isFresh: boolean): Promise<boolean> {
      const isExpected = !isFresh && head.number >= lastHead;
      lastHead = head.number;
      if (isExpected) return false;
      const firstBlock = (await headerIfShown(0, view))?.hash;
      // Nodes without the oldest blocks are no development chains, so they do not restart.
      const isNew =
        firstBlock !== undefined &&
        (await transaction(db, handle => cursorStore(handle).isNewChain(chain.id, firstBlock)));
      if (isNew) {
        log.warn(
          { chainId: chain.id, firstBlock },
          'the chain was restarted and is scanned from its beginning',
        );
        return true;
      }
      if (progress === undefined || head.number >= progress.blockNumber) return false;
      // Every look checks again until the node has reached the cursor.
      lastHead = progress.blockNumber;
      if (clock.now() - saidAt < SAY_EVERY_MS) return false;
      saidAt = clock.now();
      log.warn(
        { chainId: chain.id, head: head.number, cursor: progress.blockNumber },
        'the node is behind the blocks that were scanned before',
      );
      return false;
    },
  };
}
