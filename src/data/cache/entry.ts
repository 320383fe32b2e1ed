import { byteSize, type Representation } from '../../http/representation.ts';

/** One kept answer. Freshness and retention are different facts: an entry may outlive its freshness. */
export interface Entry {
  readonly representation: Representation;
  readonly chainIds: readonly number[];
  /** Names of the back ends that gave it, one a chain. */
  readonly backends: readonly string[];
  /** Back ends on whose blocks it depends, where these are more: those who had nothing of it may have something later. */
  readonly watched?: readonly string[];
  /** UTC milliseconds. */
  readonly storedAt: number;
  readonly freshUntil: number;
  /** End of the time in which it goes out at once although it is not fresh, while it is made again. */
  readonly revalidateUntil?: number;
  /** Until when it may stand in for an answer that cannot be had. */
  readonly keepUntil: number;
  /** Whether it cannot change any more, short of a deep reorg. */
  readonly final: boolean;
  /** Fresh only while the back ends that it depends on still show this revision. */
  readonly revision?: string;
  /** Fresh only while the back ends that it depends on still show this epoch. */
  readonly epoch?: string;
}

/** What an entry takes in memory, in bytes; 512 stands for its fields and the store's own bookkeeping. */
export function entrySize(key: string, entry: Entry): number {
  return byteSize(entry.representation) + key.length * 2 + 512;
}
