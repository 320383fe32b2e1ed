import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { clipped, shortened } from '#pages/browser/reference.ts';
import { type Explorer, pageOf } from '../api.ts';

/** Fields of an NFT that pictures and galleries use. */
export type Nft = Pick<Explorer['TokenInstance'], 'id' | 'image_url' | 'metadata' | 'owner' | 'token'>;

const NAME_CHARACTERS = 60;
const ID_CHARACTERS = 14;

/**
 * Picture of an NFT as served by this server, never from another host. In an `img` no script of a drawing runs. Without
 * a picture, a plain box shows the id.
 */
export function Picture({
  chainId,
  contract,
  nft,
  isDescribed = false,
}: {
  chainId: number;
  /** Undefined when the back end does not know the collection; its NFTs have no picture of ours. */
  contract: string | undefined;
  nft: Nft;
  /** True if no text next to the picture describes it. */
  isDescribed?: boolean;
}): VNode {
  const [isMissing, setMissing] = useState(false);
  if (isMissing || contract === undefined)
    return html`<span class="picture none" aria-hidden="true">${shortId(nft.id)}</span>`;
  return html`<img
    class="picture"
    src=${pageOf.picture(chainId, contract, nft.id)}
    alt=${isDescribed ? `Picture of ${nftName(nft)}` : ''}
    loading="lazy"
    decoding="async"
    onError=${() => setMissing(true)}
  />`;
}

/** Name of an NFT from its metadata, else its id. */
export function nftName({ metadata, id }: Pick<Nft, 'metadata' | 'id'>): string {
  const name = metadata?.name;
  return typeof name === 'string' && name.trim() !== '' ? clipped(name, NAME_CHARACTERS) : shortId(id);
}

/** Id of an NFT, shortened in the middle if it is long. */
export function shortId(id: string): string {
  return `#${id.length > ID_CHARACTERS ? shortened(id) : id}`;
}
