import type { LiveRange, LiveSource } from '../backends/port/live-source.ts';
import type { ChangeContext, Sending } from './change-events.ts';
import { activityEvent } from './live-events.ts';
import { blocksOf } from './replay.ts';
import { type FoundActivity, inTurn, readActivity, type WatchEntry } from './watch-list.ts';

/** Activity in new blocks, of the watches that were read. */
interface ActivityRead {
  readonly found: FoundActivity;
  readonly isRead: (entry: WatchEntry) => boolean;
  /** Events for listeners of watches that were not read for too long. */
  readonly sendings: readonly Sending[];
}

/**
 * Reads the activity of the watches of a chain: of all of them after each change, or of some in turn where a service
 * counts requests. A watch is then read from the block up to which it was read before.
 */
export function activityReads({
  chainId,
  recent,
  watches,
}: Pick<ChangeContext, 'chainId' | 'recent' | 'watches'>) {
  const inSomeTurn = inTurn<WatchEntry>();

  function entriesToRead({ maxWatches }: LiveSource): ReadonlySet<WatchEntry> {
    const all = watches.all();
    if (maxWatches === undefined) return new Set(all);
    const counted = all.filter(({ watch }) => watch.kind !== 'transaction');
    return new Set(inSomeTurn(counted, maxWatches));
  }

  /** A reset for listeners of watches with unread blocks that are no longer kept. */
  function lost(): Sending[] {
    const before = (recent.first()?.number ?? 0) - 1;
    const behind = watches
      .all()
      .filter(({ watch, readUpTo }) => watch.kind !== 'transaction' && readUpTo < before);
    if (behind.length === 0) return [];
    for (const entry of behind) {
      entry.readUpTo = before;
      entry.orphaned.clear();
    }
    const listeners = [...new Set(behind.flatMap(entry => [...entry.listeners]))];
    return [{ event: { event: 'reset', chain_id: chainId }, listeners }];
  }

  return {
    /** Reads the activity in new blocks, and in those before them that a watch was not read for. */
    async since(source: LiveSource, { from, to }: LiveRange): Promise<ActivityRead> {
      for (const entry of watches.all()) entry.readUpTo = Math.min(entry.readUpTo, from - 1);
      const sendings = lost();
      const entries = entriesToRead(source);
      const found: FoundActivity[] = [];
      for (const [after, some] of Map.groupBy(entries, ({ readUpTo }) => readUpTo)) {
        if (after < to) found.push(await readActivity(source, some, { from: after + 1, to }));
        for (const entry of some) entry.readUpTo = to;
      }
      return { found: found.flat(), isRead: entry => entries.has(entry), sendings };
    },
    /** Activity that became final below the kept blocks, as with very many confirmations; none where requests count. */
    async settledBelow(source: LiveSource, { from, to }: LiveRange): Promise<Sending[]> {
      const first = recent.first()?.number ?? 0;
      const range = { from: Math.max(0, from), to: Math.min(to, first - 1) };
      if (source.maxWatches !== undefined || range.from > range.to) return [];
      const found = await readActivity(source, watches.all(), range);
      const blocks = new Map(
        (await blocksOf(source, found, first)).map(block => [block.number, block] as const),
      );
      return found.flatMap(({ entry, transactionHash, blockNumber }) => {
        const block = blocks.get(blockNumber);
        if (block === undefined) return [];
        return [{ entry, event: activityEvent(entry.watch, 'final', { transactionHash, block }) }];
      });
    },
  };
}
