import type { Clock } from '#lib/clock.ts';
import { type IndexedTransaction, indexedTransactions, type ProvenTransaction } from './proven-transfers.ts';

/** An index of the same installation. It recomputes the blocks of a payments chain anyway (Decision 387). */
export interface ProvenIndex {
  /**
   * The transactions of a block that the index has recomputed, only those that `hashes` names if it is given, or the
   * newest block of the index. Hashes are lower case. Never rejects.
   */
  block(at: {
    readonly number: number;
    readonly hash: string;
    readonly hashes: ReadonlySet<string> | undefined;
  }): Promise<
    | { readonly kind: 'proven'; readonly transactions: readonly IndexedTransaction[] }
    | { readonly kind: 'absent'; readonly head: number | undefined }
  >;
}

/** Distance up to which an index is waited for, in blocks, and the time after which it is asked again. */
const JUST_BEHIND = 2;
const WAIT_MS = 300;

/** Reads proven blocks of one chain from its index. Without an index there are none. */
export function indexedBlocks({
  chainId,
  index,
  clock,
}: {
  readonly chainId: number;
  readonly index: ProvenIndex | undefined;
  readonly clock: Clock;
}) {
  /** Undefined when the index has not proven the block. Waits once for an index that is just behind. */
  return async function find(
    block: Parameters<ProvenIndex['block']>[0],
  ): Promise<ReadonlyMap<string, ProvenTransaction> | undefined> {
    if (index === undefined) return undefined;
    let found = await index.block(block);
    if (found.kind === 'absent' && isJustBehind(found.head, block.number)) {
      await clock.sleep(WAIT_MS);
      found = await index.block(block);
    }
    if (found.kind === 'absent') return undefined;
    return indexedTransactions(found.transactions, { ...block, chainId });
  };
}

function isJustBehind(head: number | undefined, number: number): boolean {
  return head !== undefined && number > head && number - head <= JUST_BEHIND;
}
