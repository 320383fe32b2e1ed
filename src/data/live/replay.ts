import type { LiveBlock, LiveSource } from '../backends/port/live-source.ts';
import type { ChainPosition } from './live-cursor.ts';
import { activityEvent, type LiveEvent, reorganisationEvent } from './live-events.ts';
import type { OrphanedRecord } from './recent-blocks.ts';
import { type FoundActivity, readAtMost, type WatchEntry } from './watch-list.ts';

/** Most blocks, and activities, that are sent again to a client that reconnects (Decision 409). */
const MAX_BLOCKS = 512;
const MAX_ACTIVITIES = 1_000;

export interface ReplayDeps {
  readonly source: LiveSource;
  readonly chainId: number;
  readonly confirmations: number;
  readonly head: LiveBlock;
  /** Block that this process has seen leave the chain, with the activity that it recorded. */
  readonly orphan: (hash: string) => OrphanedRecord | undefined;
}

/**
 * Finds out what a client with these watches missed. The states of watched transactions are not part of it. Undefined
 * when that is too much, or not known.
 */
export async function missedSince(
  { number, hash }: ChainPosition,
  entries: readonly WatchEntry[],
  deps: ReplayDeps,
): Promise<LiveEvent[] | undefined> {
  const { source, chainId, confirmations, head } = deps;
  if (head.number - number > MAX_BLOCKS) return undefined;
  const from = Math.max(0, number - MAX_BLOCKS);
  const blocks = new Map(
    (await source.blocks({ from, to: head.number })).map(block => [block.number, block]),
  );
  const removed: string[] = [];
  let known = { number, hash };
  if (blocks.get(number)?.hash !== hash) {
    const orphans = await source.orphans({ from, to: number });
    const byHash = new Map(orphans.map(orphan => [orphan.hash, orphan]));
    while (blocks.get(known.number)?.hash !== known.hash) {
      const orphan = byHash.get(known.hash);
      if (orphan === undefined) return undefined;
      removed.unshift(orphan.hash);
      known = { number: known.number - 1, hash: orphan.parentHash };
    }
  }
  const { number: ancestor } = known;
  const watched = entries.filter(({ watch }) => watch.kind !== 'transaction');
  const final = head.number - confirmations;
  const [settled, found] = [
    await readAtMost(MAX_ACTIVITIES, source, {
      entries: watched,
      from: Math.max(0, number - confirmations + 1),
      to: Math.min(final, ancestor),
    }),
    await readAtMost(MAX_ACTIVITIES, source, { entries: watched, from: ancestor + 1, to: head.number }),
  ];
  if (settled === undefined || found === undefined || settled.length + found.length > MAX_ACTIVITIES)
    return undefined;

  const isIncluded = new Set(found.map(({ entry, transactionHash }) => entry.watch.text + transactionHash));
  const gone: LiveEvent[] = [];
  for (const one of removed) {
    const block = deps.orphan(one);
    for (const { watch, recorded } of watched) {
      const isRecorded =
        block !== undefined && recorded.since < block.removedAt && recorded.from <= block.number;
      if (!isRecorded) return undefined;
      for (const transactionHash of block.activity.get(watch.text) ?? [])
        if (!isIncluded.has(watch.text + transactionHash))
          gone.push(activityEvent(watch, 'removed', { transactionHash, block }));
    }
  }
  for (const block of await blocksOf(source, settled, from)) blocks.set(block.number, block);
  const activity = [...settled, ...found].flatMap(
    ({ entry: { watch }, transactionHash, blockNumber }): LiveEvent[] => {
      const block = blocks.get(blockNumber);
      if (block === undefined) return [];
      return [activityEvent(watch, blockNumber <= final ? 'final' : 'included', { transactionHash, block })];
    },
  );
  const reorganisation =
    removed.length > 0 ? [reorganisationEvent(chainId, { removed, ancestor, head })] : [];
  return [...reorganisation, ...gone, ...activity];
}

/** Blocks below a number that have some of the activity. */
export async function blocksOf(
  source: LiveSource,
  found: FoundActivity,
  below: number,
): Promise<readonly LiveBlock[]> {
  const numbers = found.map(({ blockNumber }) => blockNumber).filter(number => number < below);
  if (numbers.length === 0) return [];
  return source.blocks({ from: Math.min(...numbers), to: Math.max(...numbers) });
}
