import type { LiveBlock } from '../backends/port/live-source.ts';

/** A block with the activity that was found in it. */
export interface RecentBlock extends LiveBlock {
  /** Transaction hashes by the text of a watch, each once. */
  readonly activity: Map<string, Set<string>>;
}

/** A block that left the chain, with the number of the change that removed it. */
export interface OrphanedRecord extends RecentBlock {
  readonly removedAt: number;
}

/** Difference between the latest blocks and those before. */
export interface ChainChange {
  /** Number of the highest block that both have. */
  readonly ancestor: number;
  /** Ascending. */
  readonly removed: readonly RecentBlock[];
  /** Ascending. */
  readonly added: readonly RecentBlock[];
}

/** Most activities of one watch that are kept of a block (Decision 408). */
const MAX_PER_BLOCK = 100;
/** Blocks that are kept after they left the chain, for clients that reconnect. */
const MAX_ORPHANS = 128;

/** Result of `recentBlocks`. */
export type RecentBlocks = ReturnType<typeof recentBlocks>;

/** The latest blocks of a chain, without gaps, and those that were removed last. In memory. */
export function recentBlocks(keep: number) {
  let blocks: RecentBlock[] = [];
  const orphans = new Map<string, OrphanedRecord>();
  let changes = 0;
  let breaks = 0;

  function at(number: number): RecentBlock | undefined {
    const first = blocks[0]?.number ?? 0;
    return blocks[number - first];
  }

  return {
    at,
    head: () => blocks.at(-1),
    first: () => blocks[0],
    orphan: (hash: string) => orphans.get(hash),
    /** Number of changes so far. */
    changes: () => changes,
    /** Number of times that blocks were removed or replaced. */
    breaks: () => breaks,
    /** Blocks `from` to `to` as far as they are kept. */
    between: (from: number, to: number) => blocks.filter(({ number }) => number >= from && number <= to),
    /** Replaces all blocks. */
    restart(fresh: readonly LiveBlock[]): void {
      blocks = withoutGaps(fresh).map(recent);
      breaks += 1;
    },
    /**
     * Continues with these blocks, of which the lowest ones may be known. Undefined, without a change, when they do not
     * join the known ones.
     */
    continueWith(fresh: readonly LiveBlock[]): ChainChange | undefined {
      const joined = withoutGaps(fresh);
      const common = joined.findLast(({ number, hash }) => at(number)?.hash === hash);
      if (common === undefined) return undefined;
      const { number: ancestor } = common;
      const removed = blocks.filter(({ number }) => number > ancestor);
      const added = joined.filter(({ number }) => number > ancestor).map(recent);
      blocks = [...blocks.filter(({ number }) => number <= ancestor), ...added].slice(-keep);
      changes += 1;
      if (removed.length > 0) breaks += 1;
      for (const block of removed) orphans.set(block.hash, { ...block, removedAt: changes });
      for (const block of added) orphans.delete(block.hash);
      for (const hash of [...orphans.keys()].slice(0, -MAX_ORPHANS)) orphans.delete(hash);
      return { ancestor, removed, added };
    },
  };
}

/** Records an activity. False when it is known, or one too many. */
export function recordActivity(block: RecentBlock, watch: string, transactionHash: string): boolean {
  const hashes = block.activity.get(watch) ?? new Set();
  if (hashes.has(transactionHash) || hashes.size >= MAX_PER_BLOCK) return false;
  block.activity.set(watch, hashes.add(transactionHash));
  return true;
}

function recent(block: LiveBlock): RecentBlock {
  return { ...block, activity: new Map() };
}

/** The highest blocks that have no gap between them. */
function withoutGaps(blocks: readonly LiveBlock[]): readonly LiveBlock[] {
  const gap = blocks.findLastIndex((block, index) => block.number !== (blocks[index - 1]?.number ?? -1) + 1);
  return gap <= 0 ? blocks : blocks.slice(gap);
}
