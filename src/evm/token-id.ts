import type { Address } from 'viem';

/** One id of a token. */
export interface InstanceKey {
  token: Address;
  tokenId: bigint;
  type: NftType;
}

/** The standards whose tokens have ids. A contract may have ids of both: lists then have them in this order. */
export const NFT_TYPES = ['ERC-721', 'ERC-1155'] as const;

export type NftType = (typeof NFT_TYPES)[number];

export function comesAfter(type: NftType, other: NftType): boolean {
  return NFT_TYPES.indexOf(type) > NFT_TYPES.indexOf(other);
}

/** A text that is another one for every instance. */
export function instanceName({ token, tokenId, type }: InstanceKey): string {
  return `${token} ${tokenId} ${type}`;
}
