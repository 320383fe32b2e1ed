import { type IndexedTransaction, indexedTransactions, type ProvenContents } from './proven-transfers.ts';

/** An index of the same installation. It recomputes the blocks of a payments chain anyway (Decision 387). */
export interface ProvenIndex {
  /**
   * A block that the index has recomputed, with all transactions or those that `hashes` names, or the number of the newest
   * block of the index. Hashes are lower case, `time` is in UTC milliseconds. Never rejects.
   */
  block(at: {
    readonly number: number;
    readonly hash: string;
    readonly hashes: ReadonlySet<string> | undefined;
  }): Promise<
    | {
        readonly kind: 'proven';
        readonly parentHash: string;
        readonly time: number;
        readonly transactions: readonly IndexedTransaction[];
      }
    | { readonly kind: 'absent'; readonly head: number | undefined }
  >;
}

/**
 * Answer of an index about a block.
 * - `behind`: it has not read so far, or cannot be read. It is just behind when it may have the block in a moment.
 * - `absent`: it has the block without a proof, another one in its place, or there is no index.
 */
export type IndexedBlock =
  | ProvenContents
  | { readonly kind: 'behind'; readonly isJustBehind: boolean }
  | { readonly kind: 'absent' };

/** Distance in blocks up to which an index is waited for. */
const JUST_BEHIND = 2;

/** Reads proven blocks of one chain from its index. */
export function indexedBlocks({ chainId, index }: { chainId: number; index: ProvenIndex | undefined }) {
  return async function find({
    number,
    hash,
    transactions,
  }: {
    readonly number: number;
    readonly hash: string;
    readonly transactions?: ReadonlySet<string> | undefined;
  }): Promise<IndexedBlock> {
    if (index === undefined) return { kind: 'absent' };
    const found = await index.block({ number, hash, hashes: transactions });
    if (found.kind === 'proven') {
      const decoded = await indexedTransactions(found.transactions, { number, hash, chainId });
      return { ...found, transactions: decoded };
    }
    const { head = Number.NEGATIVE_INFINITY } = found;
    if (head >= number) return { kind: 'absent' };
    return { kind: 'behind', isJustBehind: number - head <= JUST_BEHIND };
  };
}
