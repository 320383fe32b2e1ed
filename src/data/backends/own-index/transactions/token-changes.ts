import type { Address } from 'viem';
import { ZERO_ADDRESS } from '#evm/address.ts';
import type { TransactionRow } from '#indexer/read/blocks/transactions.ts';
import type { BalanceMove } from '#indexer/read/tokens/token-transfers.ts';
import type { NodeReader } from '#node/node-reads.ts';

/** How one transaction changed what one address holds of one token, or of one id of an ERC-1155 token. */
export interface TokenChange {
  readonly token: Address;
  readonly tokenType: BalanceMove['tokenType'];
  readonly holder: Address;
  /** Only for ERC-1155. */
  readonly tokenId: bigint | null;
  /** In the token's smallest unit; for ERC-721 the number of NFTs. */
  readonly difference: bigint;
  /** For ERC-721 each that came or went, in order; else none. */
  readonly nfts: readonly { readonly direction: 'from' | 'to'; readonly tokenId: bigint }[];
}

/** What the transaction at a position changed, in the order in which it touched each balance. Minting has no giver. */
export function tokenChanges(moves: readonly BalanceMove[], transactionIndex: number): TokenChange[] {
  const changes = new Map<string, TokenChange>();
  for (const move of moves) {
    if (move.transactionIndex !== transactionIndex) continue;
    for (const direction of ['from', 'to'] as const) {
      const holder = move[direction];
      if (holder === ZERO_ADDRESS) continue;
      const { token, tokenType } = move;
      const tokenId = tokenType === 'ERC-1155' ? move.tokenId : null;
      const key = `${token} ${holder} ${tokenId ?? ''}`;
      const before = changes.get(key);
      const nft =
        tokenType === 'ERC-721' && move.tokenId !== null ? [{ direction, tokenId: move.tokenId }] : [];
      changes.set(key, {
        token,
        tokenType,
        holder,
        tokenId,
        difference: (before?.difference ?? 0n) + differenceOf(move, direction),
        nfts: [...(before?.nfts ?? []), ...nft],
      });
    }
  }
  return [...changes.values()].filter(({ difference, nfts }) => difference !== 0n || nfts.length > 0);
}

/** What one move adds to the balance of its giver or its receiver. */
function differenceOf({ amount }: BalanceMove, direction: 'from' | 'to'): bigint {
  const size = amount ?? 1n;
  return direction === 'to' ? size : -size;
}

/** What a stretch of moves adds to the very balance that a change is about. */
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
