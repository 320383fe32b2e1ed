import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { pageOf } from '../api.ts';
import { type Nft, nftName, Picture, shortId } from './picture.ts';

/** Grid of NFT pictures that link to their pages. `about` renders the line below a name, for example the owner. */
export function Gallery<Item extends Nft>({
  label,
  chainId,
  items,
  contractOf,
  about,
}: {
  label: string;
  chainId: number;
  items: readonly Item[];
  contractOf: (item: Item) => string | undefined;
  about: (item: Item) => ComponentChildren;
}): VNode {
  return html`<ul class="gallery plain" aria-label=${label}>
    ${items.map(item => {
      const contract = contractOf(item);
      const name = nftName(item);
      const id = shortId(item.id);
      const picture = html`
        ${h(Picture, { chainId, contract, nft: item })}
        <span class="name">${name}</span>
      `;
      return html`<li key=${`${contract} ${item.id}`}>
        ${
          contract === undefined
            ? picture
            : html`<a href=${pageOf.instance(chainId, contract, item.id)}>${picture}</a>`
        }
        <span class="small">${!name.includes(item.id) && `${id} `}${about(item)}</span>
      </li>`;
    })}
  </ul>`;
}
