import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { InstanceRow } from '#indexer/read/tokens/nft-holdings.ts';
import { checksummed } from '../parts/format.ts';
import type { Parties } from '../parts/parties.ts';
import { type Metadata, metadataIn } from '../source/metadata.ts';

/** An instance and the URI that its contract gives for it; null when it gives none. */
export interface DescribedInstance {
  readonly row: InstanceRow;
  readonly uri: string | null;
}

/** One id of a token. Only what there is one of has an owner. */
export function tokenInstance(
  { row, uri }: DescribedInstance,
  parties: Parties,
): ExplorerSchemas['TokenInstance'] {
  const { isUnique, onlyHolder, tokenId, token } = row;
  return {
    is_unique: isUnique,
    id: tokenId.toString(),
    ...(onlyHolder === null ? {} : { holder_address_hash: checksummed(onlyHolder) }),
    ...described(metadataIn(uri)),
    owner: isUnique ? parties.addressOrNull(onlyHolder) : null,
    token: parties.token(token),
  };
}

/** One NFT of an address, of which it holds so many. */
export function addressNft(
  instance: DescribedInstance,
  value: bigint,
  parties: Parties,
): ExplorerSchemas['AddressNft'] {
  return {
    token_type: instance.row.type,
    value: value.toString(),
    ...tokenInstance(instance, parties),
  };
}

function described(metadata: Metadata | null) {
  if (metadata === null) return {};
  const { document, imageUrl, animationUrl, externalUrl } = metadata;
  return {
    ...(imageUrl === null ? {} : { image_url: imageUrl }),
    ...(animationUrl === null ? {} : { animation_url: animationUrl }),
    ...(externalUrl === null ? {} : { external_app_url: externalUrl }),
    metadata: document,
  };
}
