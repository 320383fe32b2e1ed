import type { Exchange } from '../../../indexer/reader/markets.ts';
import type { Reader } from '../../../indexer/reader/reader.ts';
import { BackendError, notFound } from '../../port/backend-error.ts';
import type { CursorPosition } from '../../port/cursor.ts';
import { encodeCursor } from '../../port/cursor.ts';
import type { MetadataDocuments } from './insights/metadata-documents.ts';
import type { NameBook } from './insights/name-book.ts';

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
  /** Its own head, and how many blocks the node is ahead; null while unknown. */
  progress(): { head: number | null; lag: number | null };
  /** Repeats a look-up after each change of the index, for a short while. Null when the time is over. */
  untilFound<Found>(lookUp: () => Promise<Found | null>): Promise<Found | null>;
}

/** Items a page (Decision 33). */
export const PAGE_SIZE = 50;

/** @throws BackendError `unsupported` while lists would have holes. */
export function assertCaughtUp(source: IndexSource): void {
  if (!source.hasCaughtUp()) throw incomplete();
}

/** What to throw when a record is not in the index: it is only known to be missing when the index is at the head. */
export function missingFrom(source: IndexSource, what: string): BackendError {
  return source.hasCaughtUp() && source.isAtHead() ? notFound(what) : incomplete();
}

/** The parts of every `next_page_params` that lead back here. */
export function leadingBack(
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
