import type { Address } from 'viem';
import { ZERO_ADDRESS } from '#evm/address.ts';
import type { BalanceMove } from '#indexer/read/tokens/token-moves.ts';

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
export function sumFor(change: TokenChange, moves: readonly BalanceMove[]): bigint {
  let sum = 0n;
  for (const move of moves) {
    if (move.token !== change.token) continue;
    if (change.tokenId !== null && move.tokenId !== change.tokenId) continue;
    if (move.from === change.holder) sum += differenceOf(move, 'from');
    if (move.to === change.holder) sum += differenceOf(move, 'to');
  }
  return sum;
}
