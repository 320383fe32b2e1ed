import type { LiveBlock } from '../backends/port/live-source.ts';
import { activityEvent, type LiveEvent, reorganisationEvent } from './live-events.ts';
import { type ChainChange, type RecentBlocks, recordActivity } from './recent-blocks.ts';
import type { ChainListener, FoundActivity, WatchEntry, WatchList } from './watch-list.ts';

/** An event with the watch whose listeners receive it; all listeners when absent. */
export interface Sending {
  readonly event: LiveEvent;
  readonly entry?: WatchEntry | undefined;
  /** Those that receive it instead. */
  readonly listeners?: readonly ChainListener[];
}

export interface ChangeContext {
  readonly chainId: number;
  readonly confirmations: number;
  readonly recent: RecentBlocks;
  readonly watches: WatchList;
}

/** Activity that was read for a change of the chain. */
interface ReadActivity {
  readonly found: FoundActivity;
  /** Watches whose activity was read, in all blocks since it was last read. All of them when absent. */
  readonly isRead?: (entry: WatchEntry) => boolean;
  readonly before: LiveBlock;
  readonly head: LiveBlock;
}

/**
 * Events of a change of the chain: the reorganisation, what was only in removed blocks, what the new blocks hold, and
 * what became final. Records the activity of the new blocks.
 */
export function changeEvents(
  { ancestor, removed }: ChainChange,
  { found, isRead = () => true, before, head }: ReadActivity,
  { chainId, confirmations, recent, watches }: ChangeContext,
): Sending[] {
  const sendings: Sending[] = [];
  const final = head.number - confirmations;
  if (removed.length > 0) {
    const hashes = removed.map(({ hash }) => hash);
    sendings.push({ event: reorganisationEvent(chainId, { removed: hashes, ancestor, head }) });
  }
  for (const block of removed)
    for (const { entry, transactionHash } of activityIn(block, watches))
      entry.orphaned.set(transactionHash, block);
  const isIncluded = new Set(found.map(({ entry, transactionHash }) => entry.watch.text + transactionHash));
  for (const entry of watches.all()) {
    if (entry.orphaned.size === 0) continue;
    if (!isRead(entry)) {
      if (entry.watch.kind === 'transaction') lookForAgain(entry);
      continue;
    }
    for (const [transactionHash, block] of entry.orphaned) {
      if (isIncluded.has(entry.watch.text + transactionHash)) continue;
      entry.inclusion = 'unknown';
      sendings.push({ event: activityEvent(entry.watch, 'removed', { transactionHash, block }), entry });
    }
    entry.orphaned.clear();
  }
  const included = new Set<string>();
  for (const { entry, transactionHash, blockNumber } of found) {
    const block = recent.at(blockNumber);
    if (block === undefined || !recordActivity(block, entry.watch.text, transactionHash)) continue;
    entry.inclusion = 'included';
    const state = blockNumber <= final ? 'final' : 'included';
    included.add(entry.watch.text + transactionHash);
    sendings.push({ event: activityEvent(entry.watch, state, { transactionHash, block }), entry });
  }
  for (const block of recent.between(before.number - confirmations + 1, Math.min(final, ancestor))) {
    for (const { entry, transactionHash } of activityIn(block, watches)) {
      if (included.has(entry.watch.text + transactionHash)) continue;
      sendings.push({ event: activityEvent(entry.watch, 'final', { transactionHash, block }), entry });
    }
  }
  return sendings;
}

/** Has a transaction of a removed block looked for by itself. Its listeners learn where it is then. */
function lookForAgain(entry: WatchEntry): void {
  entry.inclusion = 'unknown';
  for (const listener of entry.listeners) entry.untold.set(listener, true);
  entry.orphaned.clear();
}

/** Recorded activity of a block for what is still watched. */
function activityIn({ activity }: ChainChange['removed'][number], watches: WatchList) {
  return [...activity].flatMap(([text, hashes]) => {
    const entry = watches.get(text);
    return entry === undefined ? [] : [...hashes].map(transactionHash => ({ entry, transactionHash }));
  });
}
