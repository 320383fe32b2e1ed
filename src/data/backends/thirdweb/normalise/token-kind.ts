/** A standard of NFTs; `ERC721`, `erc-721` and `erc721` are one. */
export function nftTypeOrNull(value: unknown): 'erc721' | 'erc1155' | null {
  const type = typeof value === 'string' ? value.toLowerCase().replace('-', '') : value;
  return type === 'erc721' || type === 'erc1155' ? type : null;
}

/** What can be sold or paid with. */
export function assetTypeOrNull(value: unknown): 'native' | 'erc20' | 'erc721' | 'erc1155' | null {
  const type = typeof value === 'string' ? value.toLowerCase().replace('-', '') : value;
  return type === 'native' || type === 'erc20' ? type : nftTypeOrNull(value);
}
