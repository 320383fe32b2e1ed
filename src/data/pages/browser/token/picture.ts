import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { clipped, shortened } from '#pages/browser/reference.ts';
import { type Explorer, pageOf } from '../api.ts';

/** What pictures and galleries need of an NFT. */
export type Nft = Pick<Explorer['TokenInstance'], 'id' | 'image_url' | 'metadata' | 'owner' | 'token'>;

const NAME_CHARACTERS = 60;
const ID_CHARACTERS = 14;
/** A drawing is a document of a stranger, which the server never hands out as a picture. */
const DRAWING = /^data:image\/svg/i;

/**
 * The picture of an NFT as this server hands it out: pixels only, never from another host. Where there is none, its id
 * stands in a plain box.
 */
export function Picture({
  chainId,
  contract,
  nft,
  isDescribed = false,
}: {
  chainId: number;
  contract: string;
  nft: Nft;
  /** True where no text beside the picture says what it is of. */
  isDescribed?: boolean;
}): VNode {
  const [isMissing, setMissing] = useState(DRAWING.test(nft.image_url ?? ''));
  if (isMissing) return html`<span class="picture none" aria-hidden="true">${shortId(nft.id)}</span>`;
  return html`<img
    class="picture"
    src=${pageOf.picture(chainId, contract, nft.id)}
    alt=${isDescribed ? `Picture of ${nftName(nft)}` : ''}
    loading="lazy"
    decoding="async"
    onError=${() => setMissing(true)}
  />`;
}

/** Name of an NFT in its metadata, else its id. */
export function nftName({ metadata, id }: Pick<Nft, 'metadata' | 'id'>): string {
  const name = metadata?.name;
  return typeof name === 'string' && name.trim() !== '' ? clipped(name, NAME_CHARACTERS) : shortId(id);
}

/** Id of an NFT, the middle of a long one left out. */
export function shortId(id: string): string {
  return `#${id.length > ID_CHARACTERS ? shortened(id) : id}`;
}
