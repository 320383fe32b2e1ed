import type { RpcReceipt } from '../../evm/rpc.ts';
import type { JudgedBlock } from '../fetch/fetched-block.ts';
import { PLACES_PER_BLOCK } from '../schema/block-position.ts';
import { mostTransfersIn } from './token-transfers.ts';

/** Reason in the list of missing parts. */
const TOO_MANY = 'the block has more calls, logs or transfers than the index can number';

/**
 * A block whose rows fit the keys of the index. The longest traces, or the receipts with the most transfers, are taken
 * out of a block that has more calls, logs or transfers than a key can number. Chains with very large blocks have them.
 */
export function withinPlaces(fetched: JudgedBlock): JudgedBlock {
  const { transactions, traces } = fetched;
  const calls = shortened((traces ?? []).map(trace => trace?.calls.length ?? 0));
  const moves = shortened(transactions.map(({ receipt }) => placesOf(receipt)));
  if (calls.size === 0 && moves.size === 0) return fetched;
  return {
    ...fetched,
    transactions: transactions.map((one, at) => (moves.has(at) ? { ...one, receipt: null } : one)),
    traces: traces?.map((trace, at) => (calls.has(at) ? null : trace)) ?? null,
    unreadable: TOO_MANY,
  };
}

/** Number of keys that a receipt takes: its logs or transfers, or all when a log is numbered beyond the last key. */
function placesOf(receipt: RpcReceipt | null): number {
  if (receipt === null) return 0;
  if (receipt.logs.some(({ logIndex }) => Number(logIndex) >= PLACES_PER_BLOCK)) return PLACES_PER_BLOCK + 1;
  return receipt.logs.reduce((sum, log) => sum + mostTransfersIn(log), 0);
}

/** Positions of the largest entries without which the sum is small enough. Empty in almost every block. */
function shortened(sizes: readonly number[]): ReadonlySet<number> {
  let sum = sizes.reduce((total, size) => total + size, 0);
  const left = new Set<number>();
  if (sum <= PLACES_PER_BLOCK) return left;
  for (const { size, at } of sizes.map((size, at) => ({ size, at })).toSorted((a, b) => b.size - a.size)) {
    if (sum <= PLACES_PER_BLOCK) break;
    left.add(at);
    sum -= size;
  }
  return left;
}
