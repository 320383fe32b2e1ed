import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { useAnswer } from '#pages/browser/answer.ts';
import { Chart } from '#pages/browser/chart.ts';
import { h } from '#pages/browser/element.ts';
import { Badge, Card, Facts, type Tab, Tabs } from '#pages/browser/layout.ts';
import { clipped, Reference } from '#pages/browser/reference.ts';
import { setTitle, show } from '#pages/browser/show.ts';
import { isBlank } from '#pages/browser/text-direction.ts';
import { api, type Explorer, type Insights, pageOf, pagePath } from '../api.ts';
import { Elsewhere } from '../elsewhere.ts';
import { Frame, Source } from '../frame.ts';
import { useActivity } from '../live/live.ts';
import { isAddress, MainRecord, MalformedAddress } from '../main-record.ts';
import { AddressReference, ScamBadge } from '../records/address-reference.ts';
import { OnChain } from '../records/chain-facts.ts';
import { dollars, TokenUnits } from '../records/figures.ts';
import { usePrices } from '../records/prices.ts';
import { pageQuery, type RecordCursor, recordList } from '../records/record-list.ts';
import { symbolOf } from '../records/token-amount.ts';
import { transferColumns, transferKey } from '../records/transfer-columns.ts';
import { Gallery } from './gallery.ts';
import { holderColumns, holderKey } from './holders.ts';

type Token = Explorer['Token'];
type Instance = Explorer['TokenInstance'];

const NAME_CHARACTERS = 80;

const { chainId, rest } = pagePath();
const [, contract = ''] = rest;
const path = { address_hash: contract };

/** Page of a token: its supply and market, its transfers, its holders and, for a collection, its NFTs. */
function TokenPage(): VNode {
  return h(Frame, {
    children: isAddress(contract) ? h(KnownToken, {}) : h(MalformedAddress, { text: contract }),
  });
}

function KnownToken(): VNode {
  const { renewal } = useActivity(chainId, 'token', contract);
  const token = useAnswer(
    signal =>
      api.GET('/explorer/tokens/{address_hash}', { params: { path, query: { chain_id: chainId } }, signal }),
    [],
    renewal,
  );
  return h(MainRecord<Token>, {
    loading: token,
    title: 'Token',
    missing: html`There is no token at this address. <a href=${pageOf.address(chainId, contract)}>See the address itself</a>.
      ${h(Elsewhere, { chainId, what: 'address', text: contract })}`,
    children: (record, headers) => h(TokenOverview, { token: record, headers }),
  });
}

function TokenOverview({ token, headers }: { token: Token; headers: Headers }): VNode {
  const given = [token.name, token.symbol].find(text => text !== null && !isBlank(text));
  const name = given == null ? 'Token without a name' : clipped(given, NAME_CHARACTERS);
  const prices = usePrices(chainId, token.type === 'ERC-20' ? [token.address] : []);
  setTitle(`Token ${name}`);
  return html`
    <div class="heading">
    <div class="row">
      <h1><bdi>${name}</bdi></h1>
      ${h(ScamBadge, { of: token })}
      ${token.type !== null && h(Badge, { tone: 'busy', children: clipped(token.type) })}
    </div>
    ${h(OnChain, { chainId })}
    </div>
    <div class="grid">
      ${h(Card, {
        title: 'Overview',
        children: html`
          ${h(TokenFacts, { token })}
          ${h(Source, { headers })}
        `,
      })}
      ${h(Market, { token, price: prices.get(token.address.toLowerCase()) })}
    </div>
    ${h(Card, { children: h(Tabs, { label: 'Records of the token', tabs: tabsOf(token) }) })}
  `;
}

function TokenFacts({ token }: { token: Token }): VNode {
  const { renewal } = useActivity(chainId, 'token', contract);
  const counters = useAnswer(
    signal =>
      api.GET('/explorer/tokens/{address_hash}/counters', {
        params: { path, query: { chain_id: chainId } },
        signal,
      }),
    [],
    renewal,
  ).answer?.data;
  const { total_supply: supply, decimals } = token;
  const holders = counters?.token_holders_count ?? token.holders;
  const transfers = counters?.transfers_count ?? null;
  return h(Facts, {
    rows: [
      [
        'Total supply',
        supply !== null && h(TokenUnits, { amount: supply, decimals, symbol: symbolOf(token) }),
      ],
      ['Holders', holders !== null && grouped(holders)],
      ['Transfers', transfers !== null && grouped(transfers)],
      ['Symbol', token.symbol !== null && clipped(token.symbol)],
      ['Decimals', decimals !== null && grouped(decimals)],
      [
        'Contract',
        h(Reference, {
          value: token.address,
          href: pageOf.address(chainId, token.address),
          isWhole: true,
        }),
      ],
    ],
  });
}

function tabsOf(token: Token): readonly Tab[] {
  const isCollection = token.type !== null && token.type !== 'ERC-20';
  return [
    { id: 'transfers', label: 'Transfers', content: () => transfersOf(token) },
    { id: 'holders', label: 'Holders', content: () => holdersOf(token) },
    ...(isCollection ? [{ id: 'instances', label: 'NFTs', content: instances }] : []),
  ];
}

function transfersOf(token: Token): VNode {
  return recordList({
    label: 'Transfers of the token',
    growsWith: { kind: 'token', hash: contract },
    columns: transferColumns(chainId, { token }),
    keyOf: transferKey,
    empty: 'This token has no transfers yet.',
    download: ['listTransfersOfToken', { chain_id: chainId, address_hash: contract }],
    load: (position: RecordCursor | undefined, signal) =>
      api.GET('/explorer/tokens/{address_hash}/transfers', {
        params: { path, query: pageQuery(chainId, position) },
        signal,
      }),
  });
}

function holdersOf(token: Token): VNode {
  return recordList({
    label: 'Holders of the token',
    columns: holderColumns(chainId, { token }),
    keyOf: holderKey,
    empty: 'This token has no holders.',
    download: ['listTokenHolders', { chain_id: chainId, address_hash: contract }],
    load: (position: RecordCursor | undefined, signal) =>
      api.GET('/explorer/tokens/{address_hash}/holders', {
        params: { path, query: pageQuery(chainId, position) },
        signal,
      }),
  });
}

function instances(): VNode {
  return recordList({
    label: 'NFTs of the collection',
    keyOf: ({ id }: Instance) => id,
    empty: 'This collection has no NFTs yet.',
    view: items =>
      h(Gallery<Instance>, {
        label: 'NFTs of the collection',
        chainId,
        items,
        contractOf: () => contract,
        about: ownerOf,
      }),
    download: ['listTokenInstances', { chain_id: chainId, address_hash: contract }],
    load: (position: RecordCursor | undefined, signal) =>
      api.GET('/explorer/tokens/{address_hash}/instances', {
        params: { path, query: pageQuery(chainId, position) },
        signal,
      }),
  });
}

function ownerOf({ owner }: Instance): VNode | string {
  return owner === null ? '' : h(AddressReference, { chainId, address: owner });
}

type Price = Insights['TokenPrice'];

/** Price and market of a token in US dollars; renders nothing without a price. */
function Market({ token, price }: { token: Token; price: Price | undefined }): VNode | null {
  const perToken = price?.price_usd ?? numberIn(token.exchange_rate);
  if (perToken === undefined) return null;
  const cap = price?.market_cap_usd ?? numberIn(token.circulating_market_cap);
  const days = price?.historical_prices ?? [];
  return h(Card, {
    title: 'Market',
    children: html`
      <p class="row">
        <span class="figure">${dollars(perToken)}</span>
        ${price?.percent_change_24h != null && h(Change, { percent: price.percent_change_24h })}
      </p>
      ${h(Facts, {
        rows: [
          ['Market cap', cap != null && dollars(cap)],
          ['Volume (24h)', price?.volume_24h_usd != null && dollars(price.volume_24h_usd)],
        ],
      })}
      ${days.length > 1 && h(PriceChart, { days })}
    `,
  });
}

function Change({ percent }: { percent: number }): VNode {
  const text = `${percent < 0 ? '−' : '+'}${Math.abs(percent).toFixed(2)} %`;
  return html`${h(Badge, { tone: percent < 0 ? 'bad' : 'good', children: text })} <span class="small">in 24 hours</span>`;
}

function PriceChart({ days }: { days: NonNullable<Price['historical_prices']> }): VNode {
  return h(Chart, {
    label: 'Price in US dollars',
    times: days.map(({ date }) => Date.parse(date)),
    series: [{ label: 'Price', values: days.map(({ price_usd }) => price_usd) }],
    format: dollars,
  });
}

function numberIn(text: string | null): number | undefined {
  return text === null ? undefined : Number(text);
}

show(TokenPage);
