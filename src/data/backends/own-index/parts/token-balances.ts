import type { TransactionRow } from '#indexer/read/blocks/transaction-row.ts';
import type { BalanceMove } from '#indexer/read/tokens/token-moves.ts';
import type { NodeReader } from '#node/node-reads.ts';
import { sumFor, type TokenChange } from './token-changes.ts';

/** A token balance before and after a transaction, in the smallest unit. */
export interface Balances {
  readonly before: bigint;
  readonly after: bigint;
}

/**
 * A node tells balances at the ends of blocks only. What other transactions of the block moved lies in between, and is
 * added up; where that does not lead from one end to the other (a token that rebases or takes fees), nothing is known
 * and the answer is null. Decision 47.
 */
export async function balancesOf(
  node: NodeReader,
  { token: change, moves, row }: { token: TokenChange; moves: readonly BalanceMove[]; row: TransactionRow },
  signal: AbortSignal,
): Promise<Balances | null> {
  const { token, holder, tokenId } = change;
  const [start, end] = await Promise.all([
    startBalance(node, { change, blockNumber: row.blockNumber - 1 }, signal),
    node.tokenBalance({ token, holder, tokenId, blockNumber: row.blockNumber }, signal),
  ]);
  if (start === null || end === null) return null;
  const earlier = moves.filter(({ transactionIndex }) => transactionIndex < row.index);
  const later = moves.filter(({ transactionIndex }) => transactionIndex > row.index);
  const isAlone = ![...earlier, ...later].some(move => touches(move, change));
  if (isAlone) return { before: start, after: end };
  const before = start + sumFor(change, earlier);
  const after = before + change.difference;
  return before >= 0n && after >= 0n && after + sumFor(change, later) === end ? { before, after } : null;
}

/** A token that was created in this very block cannot be asked about the one before: nobody had any. */
async function startBalance(
  node: NodeReader,
  { change: { token, holder, tokenId }, blockNumber }: { change: TokenChange; blockNumber: number },
  signal: AbortSignal,
): Promise<bigint | null> {
  if (blockNumber < 0) return 0n;
  const balance = await node.tokenBalance({ token, holder, tokenId, blockNumber }, signal);
  if (balance !== null) return balance;
  return (await node.code({ address: token, blockNumber }, signal)) === '0x' ? 0n : null;
}

function touches({ token, from, to, tokenId }: BalanceMove, change: TokenChange): boolean {
  return (
    token === change.token &&
    (from === change.holder || to === change.holder) &&
    (change.tokenId === null || tokenId === change.tokenId)
  );
}
