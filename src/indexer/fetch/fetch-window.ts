import type { BlockBody } from './block-body.ts';
import type { BlockFetcher } from './fetch-blocks.ts';
import type { FetchedBlock } from './fetched-block.ts';

/** Most bodies requested together, so that small blocks share JSON-RPC batches, and most blocks of a group. */
const MAX_TOGETHER = 16;
/** Bytes of the bodies requested together, by the size of the blocks before. */
const BODY_BYTES = 16 * 2 ** 20;
/** Characters of a body per byte of the block: hexadecimal digits, and the names of fields. */
const CHARACTERS_PER_BYTE = 2.5;

/**
 * Gas of the blocks whose contents are in memory at a time, unless one block uses more. Gas limits what strangers can
 * put into a block: an internal call costs 115 gas and takes about 400 bytes, a log 375 gas and 600 bytes.
 */
const GAS_AHEAD = 128_000_000;
/** Gas of the blocks that are requested and written together, unless one block uses more. */
const GROUP_GAS = GAS_AHEAD / 4;
/** Most blocks in memory at a time. */
const BLOCKS_AHEAD = 64;

/**
 * Fetches the blocks `from` to `to` (inclusive) and yields them in order, in groups. Reads ahead by blocks and by gas,
 * which bounds the memory whatever the blocks contain.
 * @throws when a block's turn has come and it cannot be fetched; failures of later blocks are thrown later or never
 */
export async function* fetchInOrder(
  fetcher: Pick<BlockFetcher, 'body' | 'complete'>,
  { from, to }: { from: number; to: number },
): AsyncGenerator<FetchedBlock[]> {
  const underWay: { gas: number; count: number; blocks: Promise<FetchedBlock[]> }[] = [];
  const groups = groupsOf(bodiesInOrder(fetcher, { from, to }));
  let next = await settled(groups.next());
  for (;;) {
    const inMemory = (of: 'gas' | 'count') => underWay.reduce((sum, group) => sum + group[of], 0);
    while (next.bodies !== undefined && underWay.length < BLOCKS_AHEAD) {
      const gas = gasOf(next.bodies);
      const isTooMuch =
        inMemory('gas') + gas > GAS_AHEAD || inMemory('count') + next.bodies.length > BLOCKS_AHEAD;
      if (isTooMuch && underWay.length > 0) break;
      const blocks = Promise.all(next.bodies.map(fetcher.complete));
      // A failure is thrown when this group's turn comes. If an earlier one fails first, this one is never awaited.
      blocks.catch(() => undefined);
      underWay.push({ gas, count: next.bodies.length, blocks });
      next = await settled(groups.next());
    }
    const [first] = underWay;
    if (first === undefined) break;
    yield await first.blocks;
    underWay.shift();
  }
  if (next.failure !== undefined) throw next.failure.reason;
}

interface NextGroup {
  readonly bodies: readonly BlockBody[] | undefined;
  readonly failure: { readonly reason: unknown } | undefined;
}

/** Next group of bodies, or the failure after the last one. */
async function settled(pending: Promise<IteratorResult<readonly BlockBody[], void>>): Promise<NextGroup> {
  try {
    const { value } = await pending;
    return { bodies: value ?? undefined, failure: undefined };
  } catch (reason) {
    return { bodies: undefined, failure: { reason } };
  }
}

/** Groups bodies by gas, and at most so many as are requested together. */
async function* groupsOf(
  bodies: AsyncIterable<readonly BlockBody[]>,
): AsyncGenerator<readonly BlockBody[], void> {
  for await (const together of bodies) {
    let group: BlockBody[] = [];
    for (const body of together) {
      if (group.length > 0 && gasOf(group) + gasOf([body]) > GROUP_GAS) {
        yield group;
        group = [];
      }
      group.push(body);
    }
    yield group;
  }
}

function gasOf(bodies: readonly BlockBody[]): number {
  return bodies.reduce((sum, { block }) => sum + countOf(block.gasUsed), 0);
}

/** A number of the header, which is not checked yet: zero when it is malformed. */
function countOf(quantity: string | null | undefined): number {
  return Number(quantity ?? 0) || 0;
}

/** Bodies in order, in lists that are requested together. The next list is requested while one is used. */
async function* bodiesInOrder(
  fetcher: Pick<BlockFetcher, 'body'>,
  { from, to }: { from: number; to: number },
): AsyncGenerator<readonly BlockBody[]> {
  let next = from;
  let together = 4;
  const ask = () => {
    const numbers = Array.from({ length: Math.min(together, to - next + 1) }, (_, offset) => next + offset);
    next += numbers.length;
    const bodies = Promise.all(numbers.map(fetcher.body));
    bodies.catch(() => undefined);
    return bodies;
  };
  let asked = next <= to ? ask() : undefined;
  while (asked !== undefined) {
    const bodies = await asked;
    together = nextCount(together, bodies);
    asked = next <= to ? ask() : undefined;
    yield bodies;
  }
}

/** Number of bodies to request together after these: at most twice as many, and so many as fit. */
function nextCount(before: number, bodies: readonly BlockBody[]): number {
  const longest = Math.max(1, ...bodies.map(({ block }) => countOf(block.size) * CHARACTERS_PER_BYTE));
  return Math.max(1, Math.min(2 * before, MAX_TOGETHER, Math.floor(BODY_BYTES / longest)));
}
