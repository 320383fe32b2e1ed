import type { Handle } from '#db/open.ts';
import type { Logger } from '#lib/logger.ts';
import { cursorStore, type ScannedBlock, type ScannedBlocksChange } from '../../store/cursor-store.ts';
import type { Header, NodeView } from './node-view.ts';

/**
 * Deepest reorganisation that is followed completely: payments in the new branch are found, and completed payments of
 * the old one are reported. Chains with finality finish blocks after about 64 to 100 others.
 */
export const DEEPEST_REORGANISATION = 128;
/** Time in which blocks are read again, because an index of logs or a machine behind a balancer may lag. */
const LATE_LOGS_MS = 60_000;
/** Most blocks that are read again for late logs, so that one request suffices with the new ones. */
const MAX_READ_AGAIN = 400;
/** Old blocks that are deleted together. */
const DROPPED_TOGETHER = 32;

/** A look at a chain, as far as the comparison with earlier scans needs it. */
interface ComparedLook {
  readonly view: NodeView;
  readonly db: Handle;
  readonly log: Logger;
  readonly head: Header;
  /** True when the head continues the chain that the look before has read. */
  readonly isLinked: boolean;
}

/**
 * The last blocks of finished scans, which show how far the chain is still the one that was scanned. They are stored,
 * so that a reorganisation is noticed after a restart too.
 */
export function scannedBlocks(chainId: number, unverify: () => void) {
  /** The newest first. Undefined before they were read. */
  let known: readonly ScannedBlock[] | undefined;

  async function standing({ db, view, head, isLinked, log }: ComparedLook): Promise<number | undefined> {
    known ??= await cursorStore(db).scannedBlocks(chainId);
    const reachable = known.filter(({ number }) => number <= head.number);
    const [newest] = reachable;
    if (newest === undefined) {
      unverify();
      return undefined;
    }
    if (isLinked || (await isOnChain(newest, head, view))) return newest.number;
    // The node may have another chain, so it has to prove this one with the next answers.
    unverify();
    const headers = await view.headers(reachable.map(({ number }) => number));
    const found = reachable.find(({ number, hash }) => headers.get(number)?.hash === hash);
    // Blocks that the node does not show prove nothing.
    const isAnswered = reachable.some(({ number }) => headers.has(number));
    if (!isAnswered) return newest.number;
    const lowest = found?.number ?? (reachable.at(-1) ?? newest).number - 1;
    const facts = { chainId, from: lowest + 1, to: newest.number };
    if (found === undefined) log.warn(facts, 'a reorganisation replaced all blocks that were scanned lately');
    else if (found !== newest) log.info(facts, 'blocks were replaced by a reorganisation and are read again');
    return lowest;
  }

  return {
    /**
     * Number of the highest block of earlier scans that is still on the chain; undefined when none is known. Without
     * requests when the head is linked. Otherwise the node's answer about that block also proves its chain.
     */
    standing,

    /** Number of the first block up to the cursor whose logs are read again, because they may have been late. */
    firstRecent(cursor: number, now: number): number {
      const old = known?.find(({ number, seenAt }) => number <= cursor && now - seenAt >= LATE_LOGS_MS);
      return Math.max(old === undefined ? 0 : old.number + 1, cursor + 1 - MAX_READ_AGAIN);
    },

    /**
     * Remembers the last block of a scan above the highest one that stands, in place of all others above it. Returns
     * the change to be stored; undefined when there is none.
     */
    add(added: ScannedBlock, standing = -1): ScannedBlocksChange | undefined {
      const { number, hash } = added;
      if (number <= standing || known?.some(one => one.number === number && one.hash === hash))
        return undefined;
      const others = known?.filter(one => one.number !== number) ?? [];
      const replaced = others.filter(one => one.number > standing);
      const kept = others.slice(replaced.length);
      const base = kept.findIndex(one => one.number <= number - DEEPEST_REORGANISATION);
      const old = base < 0 ? [] : kept.slice(base + 1);
      const dropped = old.length < DROPPED_TOGETHER ? replaced : [...replaced, ...old];
      known = [added, ...kept.filter(one => !dropped.includes(one))];
      return { added, dropped: dropped.map(one => one.number) };
    },

    /** Forgets the blocks in memory. They are read again, because another process may have led. */
    forget(): void {
      known = undefined;
    },
  };
}

/** False also when the node does not show the block, which proves nothing. */
async function isOnChain({ number, hash }: ScannedBlock, head: Header, view: NodeView): Promise<boolean> {
  const header = number === head.number ? head : (await view.headers([number])).get(number);
  return header?.hash === hash;
}
