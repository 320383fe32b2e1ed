import type { Address } from 'viem';
import { ZERO_ADDRESS } from '#evm/address.ts';
import type { TransactionRow } from '#indexer/read/blocks/transactions.ts';
import type { BalanceMove } from '#indexer/read/tokens/balance-moves.ts';
import type { NodeReader } from '#node/node-reads.ts';

/** Change of one address's balance of a token, or of an id of an ERC-1155 token, by one transaction. */
export interface TokenChange {
  readonly token: Address;
  readonly tokenType: BalanceMove['tokenType'];
  readonly holder: Address;
  /** Only for ERC-1155. */
  readonly tokenId: bigint | null;
  /** In the token's smallest unit; for ERC-721 the number of NFTs. */
  readonly difference: bigint;
  /** For ERC-721 the NFTs received and sent, in order; otherwise empty. */
  readonly nfts: readonly { readonly direction: 'from' | 'to'; readonly tokenId: bigint }[];
}

interface GrowingChange extends TokenChange {
  difference: bigint;
  readonly nfts: TokenChange['nfts'][number][];
}

/** Changes by the transaction at an index, in the order in which it touched each balance. Minting has no sender. */
export function tokenChanges(moves: readonly BalanceMove[], transactionIndex: number): TokenChange[] {
  const changes = new Map<string, GrowingChange>();
  for (const move of moves) {
    if (move.transactionIndex !== transactionIndex) continue;
    for (const direction of ['from', 'to'] as const) {
      const holder = move[direction];
      if (holder === ZERO_ADDRESS) continue;
      const { token, tokenType } = move;
      const tokenId = tokenType === 'ERC-1155' ? move.tokenId : null;
      const key = `${token} ${holder} ${tokenId ?? ''}`;
      const change = changes.get(key) ?? { token, tokenType, holder, tokenId, difference: 0n, nfts: [] };
      change.difference += differenceOf(move, direction);
      // A stranger's transaction can move many thousands, so the list grows in place.
      if (tokenType === 'ERC-721' && move.tokenId !== null)
        change.nfts.push({ direction, tokenId: move.tokenId });
      changes.set(key, change);
    }
  }
  return [...changes.values()].filter(({ difference, nfts }) => difference !== 0n || nfts.length > 0);
}

/** Difference that a move makes to the balance of its sender or its receiver. */
function differenceOf({ amount }: BalanceMove, direction: 'from' | 'to'): bigint {
  const size = amount ?? 1n;
  return direction === 'to' ? size : -size;
}

/** Sum of the moves that affect the balance of a change. */
function sumFor(change: TokenChange, moves: readonly BalanceMove[]): bigint {
  let sum = 0n;
  for (const move of moves) {
    if (move.token !== change.token) continue;
    if (change.tokenId !== null && move.tokenId !== change.tokenId) continue;
    if (move.from === change.holder) sum += differenceOf(move, 'from');
    if (move.to === change.holder) sum += differenceOf(move, 'to');
  }
  return sum;
}

/** A token balance before and after a transaction, in the smallest unit. */
export interface Balances {
  readonly before: bigint;
  readonly after: bigint;
}

/**
 * Computes balances around a transaction. A node reports balances only at the ends of blocks, so the moves of the
 * block's other transactions are added up. Null when the sum does not match the end of the block, as with a token that
 * rebases or takes fees (Decision 47).
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

/** Balance at the end of the previous block. Zero when the token did not exist yet. */
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
