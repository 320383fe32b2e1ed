import type { Address } from 'viem';

/** Key of one NFT. */
export interface InstanceKey {
  token: Address;
  tokenId: bigint;
  type: NftType;
}

/** Token standards with ids. A contract may implement both; lists then show them in this order. */
export const NFT_TYPES = ['ERC-721', 'ERC-1155'] as const;

export type NftType = (typeof NFT_TYPES)[number];

export function comesAfter(type: NftType, other: NftType): boolean {
  return NFT_TYPES.indexOf(type) > NFT_TYPES.indexOf(other);
}

/** Unique key text of an NFT. */
export function instanceName({ token, tokenId, type }: InstanceKey): string {
  return `${token} ${tokenId} ${type}`;
}
