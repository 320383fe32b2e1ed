import type { Address } from 'viem';

/** One id of a token. */
export interface InstanceKey {
  token: Address;
  tokenId: bigint;
  type: NftType;
}

/** The standards whose tokens have ids. */
export const NFT_TYPES = ['ERC-721', 'ERC-1155'] as const;

export type NftType = (typeof NFT_TYPES)[number];
