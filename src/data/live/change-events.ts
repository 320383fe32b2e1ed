import type { LiveBlock, LiveSource } from '../backends/port/live-source.ts';
import { activityEvent, type LiveEvent, reorganisationEvent } from './live-events.ts';
import { type ChainChange, type RecentBlocks, recordActivity } from './recent-blocks.ts';
import type { FoundActivity, WatchEntry, WatchList } from './watch-list.ts';

/** An event with the watch whose listeners receive it; all listeners when absent. */
export interface Sending {
  readonly event: LiveEvent;
  readonly entry?: WatchEntry | undefined;
}

export interface ChangeContext {
  readonly chainId: number;
  readonly confirmations: number;
  readonly recent: RecentBlocks;
  readonly watches: WatchList;
}

/**
 * Events of a change of the chain: the reorganisation, what was only in removed blocks, what the new blocks hold, and
 * what became final. Records the activity of the new blocks.
 */
export function changeEvents(
  { ancestor, removed }: ChainChange,
  { found, before, head }: { found: FoundActivity; before: LiveBlock; head: LiveBlock },
  { chainId, confirmations, recent, watches }: ChangeContext,
): Sending[] {
  const sendings: Sending[] = [];
  const final = head.number - confirmations;
  if (removed.length > 0) {
    const hashes = removed.map(({ hash }) => hash);
    sendings.push({ event: reorganisationEvent(chainId, { removed: hashes, ancestor, head }) });
  }
  const isIncluded = new Set(found.map(({ entry, transactionHash }) => entry.watch.text + transactionHash));
  for (const block of removed) {
    for (const { entry, transactionHash } of activityIn(block, watches)) {
      if (isIncluded.has(entry.watch.text + transactionHash)) continue;
      entry.inclusion = 'unknown';
      sendings.push({ event: activityEvent(entry.watch, 'removed', { transactionHash, block }), entry });
    }
  }
  for (const { entry, transactionHash, blockNumber } of found) {
    const block = recent.at(blockNumber);
    if (block === undefined || !recordActivity(block, entry.watch.text, transactionHash)) continue;
    entry.inclusion = 'included';
    const state = blockNumber <= final ? 'final' : 'included';
    sendings.push({ event: activityEvent(entry.watch, state, { transactionHash, block }), entry });
  }
  for (const block of recent.between(before.number - confirmations + 1, Math.min(final, ancestor))) {
    for (const { entry, transactionHash } of activityIn(block, watches))
      sendings.push({ event: activityEvent(entry.watch, 'final', { transactionHash, block }), entry });
  }
  return sendings;
}

/** Recorded activity of a block for what is still watched. */
function activityIn({ activity }: ChainChange['removed'][number], watches: WatchList) {
  return [...activity].flatMap(([text, hashes]) => {
    const entry = watches.get(text);
    return entry === undefined ? [] : [...hashes].map(transactionHash => ({ entry, transactionHash }));
  });
}

/** Place of a watched transaction, with the event that says so. */
export interface Located {
  readonly inclusion: WatchEntry['inclusion'];
  readonly event: LiveEvent;
}

/** Finds a watched transaction; undefined when its block is not known yet. Records it in its block. */
export async function locate(
  source: LiveSource,
  { watch }: WatchEntry,
  { recent, confirmations }: Pick<ChangeContext, 'recent' | 'confirmations'>,
): Promise<Located | undefined> {
  const transactionHash = watch.hex;
  const eventOf = (state: 'pending' | 'removed' | 'included' | 'final', block?: LiveBlock) =>
    activityEvent(watch, state, { transactionHash, block });
  const inclusion = await source.inclusion(transactionHash);
  if (inclusion === undefined) return { inclusion: 'unknown', event: eventOf('removed') };
  if (inclusion === 'pending') return { inclusion, event: eventOf('pending') };
  const { blockNumber } = inclusion;
  const kept = recent.at(blockNumber);
  const [block] = kept === undefined ? await source.blocks({ from: blockNumber, to: blockNumber }) : [kept];
  const head = recent.head();
  if (block === undefined || head === undefined || blockNumber > head.number) return undefined;
  if (kept !== undefined) recordActivity(kept, watch.text, transactionHash);
  const isFinal = blockNumber <= head.number - confirmations;
  return { inclusion: 'included', event: eventOf(isFinal ? 'final' : 'included', block) };
}
