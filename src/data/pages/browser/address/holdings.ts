import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { decimalsIn, grouped } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { Badge } from '#pages/browser/layout.ts';
import { clipped } from '#pages/browser/reference.ts';
import { type Column, Table } from '#pages/browser/table.ts';
import { api, type Explorer } from '../api.ts';
import { type Choice, Choices } from '../records/choices.ts';
import { dollars, usePrices, worth } from '../records/prices.ts';
import { pageQuery, type RecordCursor, recordList } from '../records/record-list.ts';
import { InstanceReference, symbolOf, TokenReference, tokenUnits } from '../records/token-amount.ts';
import { Gallery } from '../token/gallery.ts';
import type { ChainAddress } from './activity.ts';

type Holding = Explorer['AddressToken'];
type HeldNft = Explorer['AddressNft'];

type Standard = 'ERC-20' | 'ERC-721' | 'ERC-1155';

const NAME_CHARACTERS = 32;
const STANDARDS: readonly Choice<Standard | undefined>[] = [
  ['ERC-20', 'ERC-20'],
  ['ERC-721', 'ERC-721'],
  ['ERC-1155', 'ERC-1155'],
  [undefined, 'All'],
];

/** Token balances of an address, with their value if a price is known. */
export function HeldTokens({ chainId, address }: ChainAddress): VNode {
  const [standard, setStandard] = useState<Standard | undefined>('ERC-20');
  return html`
    ${h(Choices<Standard | undefined>, { label: 'Standard', choices: STANDARDS, chosen: standard, choose: setStandard })}
    ${recordList({
      label: 'Tokens of the address',
      keyOf: heldKey,
      inputs: [standard],
      view: (items: readonly Holding[]) => h(HeldTable, { chainId, items }),
      empty:
        standard === undefined ? 'The address holds no tokens.' : `The address holds no ${standard} tokens.`,
      load: (position: RecordCursor | undefined, signal) =>
        api.GET('/explorer/addresses/{address_hash}/tokens', {
          params: {
            path: { address_hash: address },
            query: { ...pageQuery(chainId, position), ...(standard && { type: [standard] }) },
          },
          signal,
        }),
    })}
  `;
}

const heldKey = ({ token, token_id }: Holding) => `${token?.address} ${token_id}`;

/** A separate component, because prices can be requested only when the page's items are known. */
function HeldTable({ chainId, items }: { chainId: number; items: readonly Holding[] }): VNode {
  const coins = items.flatMap(({ token }) => (token?.type === 'ERC-20' ? [token.address] : []));
  const prices = usePrices(chainId, coins);
  const priceOf = ({ token }: Holding): number | undefined => {
    if (token === null) return undefined;
    const given = token.exchange_rate === null ? undefined : Number(token.exchange_rate);
    return prices.get(token.address.toLowerCase())?.price_usd ?? given;
  };
  const columns: readonly Column<Holding>[] = [
    { name: 'Token', cell: held => tokenCell(chainId, held) },
    {
      name: 'Standard',
      cell: ({ token }) => token?.type != null && h(Badge, { children: clipped(token.type) }),
    },
    { name: 'Balance', isNumber: true, cell: held => balanceCell(chainId, held) },
    {
      name: 'Price',
      isNumber: true,
      cell: held => {
        const price = priceOf(held);
        return price === undefined ? '–' : dollars(price);
      },
    },
    {
      name: 'Value',
      isNumber: true,
      cell: held => {
        const price = priceOf(held);
        return price === undefined
          ? '–'
          : dollars(worth(held.value, decimalsIn(held.token?.decimals), price));
      },
    },
  ];
  return h(Table<Holding>, { label: 'Tokens of the address', columns, items, keyOf: heldKey });
}

function tokenCell(chainId: number, { token }: Holding): VNode {
  if (token === null) return html`<span>unknown token</span>`;
  return html`${h(TokenReference, { chainId, token })}${token.symbol && token.name && html` <span class="small">${clipped(token.name, NAME_CHARACTERS)}</span>`}`;
}

function balanceCell(chainId: number, { token, token_id: id, value }: Holding): VNode {
  if (token === null) return html`<span>${grouped(value)}</span>`;
  if (id === null) return html`<span>${tokenUnits(value, token.decimals)} ${symbolOf(token)}</span>`;
  return html`<span>${grouped(value)} × ${h(InstanceReference, { chainId, token, id })}</span>`;
}

/** NFTs of an address, shown as pictures. */
export function heldNfts({ chainId, address }: ChainAddress): VNode {
  return recordList({
    label: 'NFTs of the address',
    keyOf: ({ token, id }: HeldNft) => `${token?.address} ${id}`,
    view: (items: readonly HeldNft[]) =>
      h(Gallery<HeldNft>, {
        label: 'NFTs of the address',
        chainId,
        items,
        contractOf: ({ token }) => token?.address,
        about: nft => collectionOf(chainId, nft),
      }),
    empty: 'The address holds no NFTs.',
    load: (position: RecordCursor | undefined, signal) =>
      api.GET('/explorer/addresses/{address_hash}/nft', {
        params: { path: { address_hash: address }, query: pageQuery(chainId, position) },
        signal,
      }),
  });
}

function collectionOf(chainId: number, { token, value, is_unique }: HeldNft): VNode | null {
  if (token === null) return null;
  const count = is_unique !== true && value !== null ? `${grouped(value)} × ` : '';
  return html`${count}${h(TokenReference, { chainId, token })}`;
}
