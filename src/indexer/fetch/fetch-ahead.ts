import type { BlockFetcher } from './fetch-blocks.ts';
import type { FetchedBlock } from './fetched-block.ts';

/** Blocks asked for together, so that their requests travel in the same JSON-RPC batches. */
const CHUNK = 25;
/** Chunks under way at a time: the node works on the next ones while one is being written. */
const AHEAD = 3;

/**
 * Fetches `from` to `to` inclusive and yields them chunk by chunk in order, a bounded way ahead of the reader.
 * @throws as soon as a chunk cannot be fetched; what was already asked for is left to fail quietly.
 */
export async function* fetchInOrder(
  fetcher: BlockFetcher,
  { from, to }: { from: number; to: number },
): AsyncGenerator<FetchedBlock[]> {
  const underWay: Promise<FetchedBlock[]>[] = [];
  let next = from;
  const ask = () => {
    const numbers = Array.from({ length: Math.min(CHUNK, to - next + 1) }, (_, offset) => next + offset);
    next += numbers.length;
    const chunk = Promise.all(numbers.map(number => fetcher.block(number)));
    // Its failure is thrown when its turn comes; if an earlier one fails first, nobody waits for this one.
    chunk.catch(() => undefined);
    underWay.push(chunk);
  };
  while (next <= to || underWay.length > 0) {
    while (next <= to && underWay.length < AHEAD) ask();
    const chunk = await underWay.shift();
    if (next <= to) ask();
    if (chunk !== undefined) yield chunk;
  }
}
