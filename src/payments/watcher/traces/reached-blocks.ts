import type { ReachedBlock } from '../../store/cursor-store.ts';
import type { Header, LinkedHeader, NodeReads } from '../node/node-view.ts';
import { DEEPEST_REORGANISATION } from '../node/scanned-blocks.ts';

/**
 * The blocks that were read last behind the scan, by their hashes. Blocks that a reorganisation replaced are read again.
 * After a restart only the last block is known: when it was replaced, as many blocks are read again as a reorganisation
 * may have replaced.
 */
export function reachedBlocks() {
  const known = new Map<number, Header>();
  let last: ReachedBlock | undefined;

  function goTo(block: ReachedBlock): void {
    last = block;
    for (const number of known.keys()) if (number > block.number) known.delete(number);
  }

  /** True when the last block may still be on the chain with this head. */
  async function stands(
    { number, hash }: ReachedBlock,
    head: LinkedHeader,
    view: NodeReads,
  ): Promise<boolean> {
    if (hash === undefined) return true;
    if (head.number === number + 1) return head.parentHash === hash;
    if (head.number < number) return (known.get(head.number) ?? head).hash === head.hash;
    if (head.number === number) return head.hash === hash;
    // A block that the node does not show proves nothing.
    return ((await view.headers([number])).get(number)?.hash ?? hash) === hash;
  }

  return {
    /** The last block that was read and is on the chain of the head. `start` is used when none is known. */
    async standing(
      start: ReachedBlock,
      { head, view }: { readonly head: LinkedHeader; readonly view: NodeReads },
    ): Promise<ReachedBlock> {
      last ??= start;
      if (await stands(last, head, view)) return last;
      const highest = Math.min(last.number, head.number);
      const others = [...known.values()]
        .filter(one => one.number <= highest)
        .sort((a, b) => b.number - a.number);
      const headers = await view.headers(others.map(({ number }) => number));
      const found = others.find(({ number, hash }) => headers.get(number)?.hash === hash);
      goTo(found ?? { number: Math.max(-1, highest - DEEPEST_REORGANISATION) });
      return last;
    },

    /** True when the block is the next one. */
    isNext: ({ number, parentHash }: LinkedHeader): boolean =>
      last !== undefined && number === last.number + 1 && (last.hash ?? parentHash) === parentHash,

    /** True for a block that was read, also one that is too old to be known. */
    has: ({ number, hash }: Pick<Header, 'number' | 'hash'>): boolean =>
      last !== undefined && number <= last.number && (known.get(number)?.hash ?? hash) === hash,

    /** The block was read. */
    add({ number, hash, time }: Header): void {
      last = { number, hash, time };
      known.set(number, { number, hash, time });
      known.delete(number - DEEPEST_REORGANISATION);
    },

    /** Continues behind a block that was not read. */
    goTo,

    last: (): ReachedBlock | undefined => last,

    /** The block before one that was read. */
    before: (number: number): ReachedBlock => known.get(number - 1) ?? { number: number - 1 },

    forget(): void {
      last = undefined;
      known.clear();
    },
  };
}
