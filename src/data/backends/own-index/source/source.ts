import type { Reader } from '#indexer/index-reader.ts';
import type { Exchange } from '#indexer/read/tokens/markets.ts';
import { BackendError, notFound } from '../../port/backend-error.ts';
import type { CursorPosition } from '../../port/cursor.ts';
import { encodeCursor } from '../../port/cursor.ts';
import type { MetadataDocuments } from './metadata-documents.ts';
import type { NameBook } from './names.ts';

/** As much of a chain's index as answers are made from. */
export interface IndexSource {
  readonly name: string;
  readonly chainId: number;
  readonly reader: Reader;
  /** Where prices are read, if anywhere. */
  readonly exchange?: Exchange;
  /** Where names are looked up, if anywhere. */
  readonly names?: NameBook;
  /** Where NFT metadata is read; without it only what lies in its own URI is. */
  readonly documents?: MetadataDocuments;
  /** Whether the index has once been complete: before that its lists have holes. */
  hasCaughtUp(): boolean;
  /** Whether it is at the node's head now, so that what it does not have does not exist. */
  isAtHead(): boolean;
  /** The first block that it has; 0 when it has its whole chain. */
  firstBlock(): number;
  /** Its own head as last published, and how many blocks the node is ahead; null while unknown. */
  progress(): { head: number | null; lag: number | null };
  /** Repeats a look-up after each change of the index, for a short while. Null when the time is over. */
  untilFound<Found>(lookUp: () => Promise<Found | null>): Promise<Found | null>;
}

/**
 * Number of blocks on top of this one. Counted from the published head, not from one that is read beside the block: a
 * reorganisation between the two reads would give an abandoned block the height of the new chain, and it would count as final.
 */
export function confirmationsOf(source: IndexSource, blockNumber: number): number {
  return Math.max(0, (source.progress().head ?? blockNumber) - blockNumber);
}

/** Items a page (Decision 33). */
export const PAGE_SIZE = 50;

/** @throws BackendError `unsupported` while lists would have holes. */
export function assertCaughtUp(source: IndexSource): void {
  if (!source.hasCaughtUp()) throw incomplete();
}

/**
 * For what only an index of the whole chain can tell, such as counts and balances.
 * @throws BackendError `unsupported` while lists would have holes, and when it began later than its chain.
 */
export function assertWhole(source: IndexSource): void {
  assertCaughtUp(source);
  if (source.firstBlock() > 0) throw notIndexed(source);
}

/**
 * For a list that runs from the newest to the oldest.
 * @throws BackendError `unsupported` when the page is the last one that the index has, though the chain has more blocks.
 */
export function assertNotCutOff(source: IndexSource, { hasMore }: { readonly hasMore: boolean }): void {
  if (!hasMore && source.firstBlock() > 0) throw notIndexed(source);
}

/**
 * What to throw when a record is not in the index. It is only known to be missing when the index is at the head and
 * cannot have begun after it: with its chain, or no later than `blockNumber`, where that is known.
 */
export function missingFrom(source: IndexSource, what: string, blockNumber = 0): BackendError {
  if (blockNumber < source.firstBlock()) return notIndexed(source);
  return source.hasCaughtUp() && source.isAtHead() ? notFound(what) : incomplete();
}

/** The answer may lie before the first block that the index has. */
export function notIndexed(source: IndexSource, cause?: unknown): BackendError {
  const message = `the index begins at block ${source.firstBlock()}`;
  return new BackendError('unsupported', 'not_indexed', message, { cause });
}

/** The parts of every `next_page_params` that lead back here. */
export function cursorFields(
  source: IndexSource,
  position: CursorPosition,
): { chain_id: number; cursor: string } {
  return {
    chain_id: source.chainId,
    cursor: encodeCursor({ backend: source.name, chainId: source.chainId, position }),
  };
}

/** The answer may lie in what the index has yet to read. */
export function incomplete(cause?: unknown): BackendError {
  return new BackendError('unsupported', 'incomplete', 'the index is not complete yet', { cause });
}
