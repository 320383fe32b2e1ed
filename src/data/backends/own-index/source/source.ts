import type { Address } from 'viem';
import type { ChainIndex } from '#indexer/index-service.ts';
import type { Page } from '#indexer/read/page.ts';
import type { Exchange } from '#indexer/read/tokens/markets.ts';
import type { TokenRow } from '#indexer/read/tokens/tokens.ts';
import { BackendError, notFound } from '../../port/backend-error.ts';
import type { CursorPosition } from '../../port/cursor.ts';
import { encodeCursor } from '../../port/cursor.ts';
import type { MetadataDocuments } from './metadata-documents.ts';
import type { NameBook } from './names.ts';

/** Prices in US dollars at the head of an index, from pools on its chain (Decision 448). As decimal text. */
export interface RateBook {
  /** Prices of whole tokens by address. Tokens without a price are missing. */
  ofTokens(rows: readonly TokenRow[]): Promise<ReadonlyMap<Address, string>>;
  /** Price of the native coin, which is that of the token that wraps it; null when it has none. */
  ofCoin(): Promise<string | null>;
}

/** Parts of a chain's index that answers are built from. */
export interface IndexSource extends Pick<ChainIndex, 'reader' | 'status' | 'untilFound'> {
  readonly name: string;
  readonly chainId: number;
  /** Source of prices, if configured. */
  readonly exchange?: Exchange | undefined;
  /** Prices of records. None without an exchange. */
  readonly rates: RateBook;
  /** Source of names, if configured. */
  readonly names?: NameBook | undefined;
  /** Source of NFT metadata. Without it, only metadata contained in its own URI is read. */
  readonly documents?: MetadataDocuments | undefined;
  /** True once the index has been complete. Before that its lists have holes. */
  hasCaughtUp(): boolean;
  /** First indexed block; 0 when the index has its whole chain. */
  firstBlock(): number;
}

/** Maximum lag, in blocks, of an index that follows its node closely. */
const CLOSE = 1;

/** True while the index is at the node's head. A record it does not have then does not exist. */
export function isAtHead({ status }: IndexSource): boolean {
  const { lag } = status();
  return lag !== null && lag <= CLOSE;
}

/**
 * Number of blocks on top of this one, counted from the published head. A head read together with the block would be
 * wrong if a reorg came between the two reads: an orphaned block would count as final.
 */
export function confirmationsAt(source: IndexSource, blockNumber: number): number {
  return Math.max(0, (source.status().head ?? blockNumber) - blockNumber);
}

/** Items per page (Decision 33). */
export const PAGE_SIZE = 50;

/** @throws BackendError of `notReadYet` while the index has holes. */
export function assertCaughtUp(source: IndexSource): void {
  if (!source.hasCaughtUp()) throw notReadYet(source);
}

/**
 * Guards answers that need the whole chain, such as counts and balances.
 * @throws BackendError of `notReadYet` while the index has holes, `unsupported` when it starts after the chain's first
 * block.
 */
export function assertWhole(source: IndexSource): void {
  assertCaughtUp(source);
  if (source.firstBlock() > 0) throw notIndexed(source);
}

/**
 * Guards lists from newest to oldest.
 * @throws BackendError `unsupported` for the index's last page when the chain has older blocks.
 */
export function assertNotCutOff(source: IndexSource, { hasMore }: { readonly hasMore: boolean }): void {
  if (!hasMore && source.firstBlock() > 0) throw notIndexed(source);
}

/**
 * Error for a record that is not in the index. It counts as missing only when the index is at the head and covers it:
 * from the chain's start, or from `blockNumber` if known. An index that was complete once lacks only new blocks, so a
 * record that its node does not have either is missing, too.
 */
export function missingFrom(
  source: IndexSource,
  what: string,
  { blockNumber = 0, isUnknownToNode = false }: { blockNumber?: number; isUnknownToNode?: boolean } = {},
): BackendError {
  if (blockNumber < source.firstBlock()) return notIndexed(source);
  const isMissing = source.hasCaughtUp() && (isUnknownToNode || isAtHead(source));
  return isMissing ? notFound(what) : notReadYet(source);
}

/** Error for an answer that may lie before the first indexed block. */
export function notIndexed(source: IndexSource, cause?: unknown): BackendError {
  const message = `the index begins at block ${source.firstBlock()}`;
  return new BackendError('unsupported', 'not_indexed', message, { cause });
}

/** Fields of every `next_page_params` that point back to this back end. */
export function cursorFields(
  source: IndexSource,
  position: CursorPosition,
): { chain_id: number; cursor: string } {
  return {
    chain_id: source.chainId,
    cursor: encodeCursor({ backend: source.name, chainId: source.chainId, position }),
  };
}

/** `next_page_params` of a page: the keys of its last item, and a cursor with the same keys. Null at the list's end. */
export function nextPage<Item, Keys extends CursorPosition>(
  source: IndexSource,
  { items, hasMore }: Page<Item>,
  keysOf: (last: Item) => Keys,
): (Keys & { items_count: number; chain_id: number; cursor: string }) | null {
  const last = items.at(-1);
  if (!hasMore || last === undefined) return null;
  const keys = keysOf(last);
  return { ...keys, items_count: items.length, ...cursorFields(source, keys) };
}

/**
 * Delay after which a request for unread blocks may be retried, in milliseconds. Unread blocks are a 503 (Decision
 * 265).
 */
const RETRY_AFTER_MS = 1_000;

/**
 * Error for an answer that may lie in blocks that the index has not read yet. It names no time for a retry while the node
 * is silent, because the index then cannot read further.
 */
export function notReadYet(
  source: IndexSource,
  { message = 'the index is not complete yet', cause }: { message?: string; cause?: unknown } = {},
): BackendError {
  if (source.status().nodeHead === null)
    return new BackendError('unavailable', 'incomplete', `${message}, and its node is silent`, { cause });
  return new BackendError('unavailable', 'not_read_yet', message, { cause, retryAfterMs: RETRY_AFTER_MS });
}
