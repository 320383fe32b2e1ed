import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { grouped } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { Badge } from '#pages/browser/layout.ts';
import { clipped } from '#pages/browser/reference.ts';
import { type Column, Table } from '#pages/browser/table.ts';
import { isBlank } from '#pages/browser/text-direction.ts';
import { api, type Explorer } from '../api.ts';
import { type Choice, Choices, useChoice } from '../records/choices.ts';
import { dollars, TokenUnits, Units } from '../records/figures.ts';
import { usePrices } from '../records/prices.ts';
import { pageQuery, type RecordCursor, recordList } from '../records/record-list.ts';
import { InstanceReference, symbolOf, TokenReference } from '../records/token-amount.ts';
import { Gallery } from '../token/gallery.ts';
import type { ChainAddress } from './activity.ts';
import { worthOf } from './portfolio.ts';

type Holding = Explorer['AddressToken'];
type HeldNft = Explorer['AddressNft'];

type Standard = 'ERC-20' | 'ERC-721' | 'ERC-1155';

/** Number of tokens from which on a page has a filter. */
const FILTERED_FROM = 8;
const STANDARDS: readonly Choice<Standard | undefined>[] = [
  ['ERC-20', 'ERC-20'],
  ['ERC-721', 'ERC-721'],
  ['ERC-1155', 'ERC-1155'],
  [undefined, 'All'],
];

/** Token balances of an address, with their value if a price is known. */
export function HeldTokens({ chainId, address }: ChainAddress): VNode {
  const [standard, setStandard] = useChoice('standard', STANDARDS);
  return html`
    ${h(Choices<Standard | undefined>, { label: 'Standard', choices: STANDARDS, chosen: standard, choose: setStandard })}
    ${recordList({
      label: 'Tokens of the address',
      keyOf: heldKey,
      inputs: [standard],
      view: (items: readonly Holding[]) => h(HeldTable, { chainId, items }),
      empty:
        standard === undefined ? 'The address holds no tokens.' : `The address holds no ${standard} tokens.`,
      download: [
        'listAddressTokens',
        { chain_id: chainId, address_hash: address, ...(standard && { type: [standard] }) },
      ],
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

/** Token balance with the price of a whole token and its value, in US dollars. */
interface PricedHolding {
  readonly held: Holding;
  readonly price: number | undefined;
  readonly value: number | undefined;
}

/**
 * Tokens of one page: those with a price by their value, and the others folded below, with what is marked as a scam
 * (Decision 422). A separate component, because prices can be requested only when the page's items are known.
 */
function HeldTable({ chainId, items }: { chainId: number; items: readonly Holding[] }): VNode {
  const [filter, setFilter] = useState('');
  const coins = items.flatMap(({ token }) => (token?.type === 'ERC-20' ? [token.address] : []));
  const prices = usePrices(chainId, coins);
  const found = items.filter(({ token }) => isNamed(token, filter)).map(held => priced(held, prices));
  const valued = found
    .filter(({ value }) => value !== undefined)
    .sort((one, other) => (other.value ?? 0) - (one.value ?? 0));
  const scams = found.filter(({ held }) => held.token?.reputation === 'scam');
  const others = found.filter(({ held, value }) => value === undefined && held.token?.reputation !== 'scam');
  const total = valued.reduce((sum, { value }) => sum + (value ?? 0), 0);
  const table = (label: string, rows: readonly PricedHolding[]) =>
    h(Table<PricedHolding>, {
      label,
      columns: heldColumns(chainId),
      items: rows,
      keyOf: ({ held }) => heldKey(held),
    });
  return html`
    ${
      items.length >= FILTERED_FROM &&
      html`<input
        type="search"
        aria-label="Filter the tokens of this page"
        placeholder="Name, symbol or address"
        value=${filter}
        onInput=${(event: { currentTarget: HTMLInputElement }) => setFilter(event.currentTarget.value)}
      />`
    }
    ${found.length === 0 && html`<p class="small">No token of this page has this name.</p>`}
    ${
      valued.length > 0 &&
      html`<p>${dollars(total)} <span class="small">of this page at today’s rates</span></p>
      ${table('Tokens of the address', valued)}`
    }
    ${valued.length === 0 && others.length > 0 && table('Tokens of the address', others)}
    ${
      valued.length > 0 &&
      others.length > 0 &&
      html`<details>
        <summary>${tokensText(others.length)} without a price</summary>
        ${table('Tokens without a price', others)}
      </details>`
    }
    ${
      scams.length > 0 &&
      html`<details>
        <summary>${tokensText(scams.length)} marked as a scam</summary>
        ${table('Tokens marked as a scam', scams)}
      </details>`
    }
  `;
}

function tokensText(count: number): string {
  return `${grouped(count)} ${count === 1 ? 'token' : 'tokens'}`;
}

function isNamed(token: Holding['token'], filter: string): boolean {
  const sought = filter.trim().toLowerCase();
  const texts = [token?.name, token?.symbol, token?.address];
  return sought === '' || texts.some(text => text?.toLowerCase().includes(sought) === true);
}

function priced(held: Holding, prices: ReturnType<typeof usePrices>): PricedHolding {
  const { token } = held;
  const own = token?.exchange_rate == null ? undefined : Number(token.exchange_rate);
  const price = token === null ? undefined : (prices.get(token.address.toLowerCase())?.price_usd ?? own);
  return { held, price, value: worthOf(held, price) };
}

function heldColumns(chainId: number): readonly Column<PricedHolding>[] {
  const dollarsOf = (amount: number | undefined) => (amount === undefined ? '–' : dollars(amount));
  return [
    { name: 'Token', cell: ({ held }) => tokenCell(chainId, held) },
    {
      name: 'Standard',
      cell: ({ held: { token } }) => token?.type != null && h(Badge, { children: clipped(token.type) }),
    },
    { name: 'Balance', isNumber: true, cell: ({ held }) => balanceCell(chainId, held) },
    { name: 'Price', isNumber: true, cell: ({ price }) => dollarsOf(price) },
    { name: 'Value', isNumber: true, cell: ({ value }) => dollarsOf(value) },
  ];
}

function tokenCell(chainId: number, { token }: Holding): VNode {
  if (token === null) return html`<span>unknown token</span>`;
  const { symbol, name } = token;
  const hasName = name !== null && !isBlank(name) && symbol !== null && !isBlank(symbol);
  return html`${h(TokenReference, { chainId, token })}${hasName && html` <bdi class="clip small" title=${name}>${clipped(name)}</bdi>`}`;
}

function balanceCell(chainId: number, { token, token_id: id, value }: Holding): VNode {
  if (token === null) return h(Units, { amount: value, decimals: 0 });
  if (id === null) return h(TokenUnits, { amount: value, decimals: token.decimals, symbol: symbolOf(token) });
  return html`<span>${h(Units, { amount: value, decimals: 0 })} × ${h(InstanceReference, { chainId, token, id })}</span>`;
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
    download: ['listAddressNfts', { chain_id: chainId, address_hash: address }],
    load: (position: RecordCursor | undefined, signal) =>
      api.GET('/explorer/addresses/{address_hash}/nft', {
        params: { path: { address_hash: address }, query: pageQuery(chainId, position) },
        signal,
      }),
  });
}

function collectionOf(chainId: number, { token, value, is_unique }: HeldNft): VNode | null {
  if (token === null) return null;
  const count = is_unique !== true && value !== null && html`${h(Units, { amount: value, decimals: 0 })} × `;
  return html`${count}${h(TokenReference, { chainId, token })}`;
}
