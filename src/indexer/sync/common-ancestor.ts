import type { Db } from '../../db/open.ts';
import type { BlockFetcher } from '../fetch/fetch-blocks.ts';
import { firstNumber, hashAt } from '../schema/head.ts';

/**
 * Height of the highest block that the index and the node have in common, at most `from`; one below the
 * first indexed block when there is none.
 */
export async function commonAncestor(db: Db, fetcher: BlockFetcher, from: number): Promise<number> {
  const first = await firstNumber(db);
  if (first === null) return from;
  for (let number = from; number >= first; number -= 1) {
    const [ours, theirs] = await Promise.all([hashAt(db, number), fetcher.header(number)]);
    if (ours !== null && ours === theirs?.hash) return number;
  }
  return first - 1;
}
