import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { type Loading, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Badge, Card, Tabs } from '#pages/browser/layout.ts';
import { clipped, Reference } from '#pages/browser/reference.ts';
import { setTitle, show } from '#pages/browser/show.ts';
import { isBlank } from '#pages/browser/text-direction.ts';
import { api, type Explorer, pageOf, pagePath } from '../api.ts';
import { Elsewhere } from '../elsewhere.ts';
import { Frame } from '../frame.ts';
import { useActivity } from '../live/live.ts';
import { isAddress, MainRecord, MalformedAddress } from '../main-record.ts';
import { AddressNames } from '../records/address-reference.ts';
import { OnChain } from '../records/chain-facts.ts';
import { useChain } from '../records/coin.ts';
import { NamedPage } from './named-page.ts';
import { AddressFacts, CounterFacts } from './overview.ts';
import { addressTabs, openingTab } from './tabs.ts';

type Details = Explorer['AddressDetails'];
type Counters = Explorer['AddressCounters'];

const NAME_CHARACTERS = 80;

const { chainId, rest } = pagePath();
const [, address = ''] = rest;
const params = { path: { address_hash: address }, query: { chain_id: chainId } };

/** Page of an address: its balance, its kind, and lists of its activity. */
function AddressPage(): VNode {
  if (!isAddress(address) && address.includes('.')) {
    return h(Frame, { children: h(NamedPage, { chainId, name: address }) });
  }
  if (!isAddress(address)) {
    return h(Frame, { children: h(MalformedAddress, { text: address }) });
  }
  return h(Frame, { children: h(KnownAddress, {}) });
}

function KnownAddress(): VNode {
  const { renewal } = useActivity(chainId, 'address', address);
  const details = useAnswer(
    signal => api.GET('/explorer/addresses/{address_hash}', { params, signal }),
    [],
    renewal,
  );
  const counters = useAnswer(
    signal => api.GET('/explorer/addresses/{address_hash}/counters', { params, signal }),
    [],
    renewal,
  );
  return h(MainRecord<Details>, {
    loading: details,
    title: 'Address',
    missing: html`No back end of this chain knows ${address}. It may belong to another chain: <a href=${pageOf.search(address)}>search all of them</a>.
      ${h(Elsewhere, { chainId, what: 'address', text: address })}`,
    children: (record, headers) => html`
      ${h(Heading, { record })}
      <div class="grid">
        ${h(AddressFacts, { chainId, address: record, headers })}
        ${h(CounterFacts, { counters })}
      </div>
      ${h(Records, { record, counters })}
    `,
  });
}

function Heading({ record }: { record: Details }): VNode {
  const { is_contract, is_verified, implementations, token } = record;
  const name = record.name || record.ens_domain_name;
  const kind = is_contract ? 'Contract' : 'Address';
  setTitle(name && !isBlank(name) ? `${kind} ${clipped(name, NAME_CHARACTERS)}` : `${kind} ${record.hash}`);
  return html`<div class="heading">
    <div class="row">
    <h1>${kind}</h1>
    ${h(AddressNames, { address: record })}
    ${is_contract && is_verified === true && h(Badge, { tone: 'good', children: 'Verified' })}
    ${is_contract && is_verified === false && h(Badge, { tone: 'warning', children: 'Not verified' })}
    ${implementations.length > 0 && h(Badge, { tone: 'busy', children: 'Proxy' })}
    ${token !== null && h(Badge, { tone: 'busy', children: clipped(token.type ?? 'Token') })}
    </div>
    ${h(Reference, { value: record.hash, isWhole: true })}
    ${h(QrCode, { address: record.hash })}
    ${h(OnChain, { chainId })}
  </div>`;
}

/** QR code of the address, loaded when it is opened. */
function QrCode({ address: text }: { address: string }): VNode {
  const [isOpen, setOpen] = useState(false);
  const onToggle = (event: Event & { currentTarget: HTMLDetailsElement }) =>
    setOpen(event.currentTarget.open);
  return html`<details class="small" onToggle=${onToggle}>
    <summary>QR code</summary>
    ${isOpen && html`<img src=${pageOf.qrCode(chainId, text)} alt=${`QR code of the address ${text}`} width="180" height="180" />`}
  </details>`;
}

/** Tabs of the address, shown once the counters have told which of them have content. */
function Records({ record, counters }: { record: Details; counters: Loading<Counters> }): VNode {
  const chain = useChain(chainId);
  const isKnown = counters.answer !== undefined || counters.problem !== undefined;
  if (!isKnown) return h(Card, { children: html`<p class="loading" role="status">Loading…</p>` });
  const tabs = addressTabs({ chainId, address: record, counters: counters.answer?.data });
  const opening = openingTab(record, counters.answer?.data);
  if (tabs.length > 0)
    return h(Card, { children: h(Tabs, { label: 'Records of the address', tabs, opening }) });
  return html`<div class="empty">
    <p>No activity of this address${chain !== undefined && ` on ${chain.name}`} yet.</p>
    <p>Its activity appears here, beginning with its first transaction. Did you expect some already? <a
      href=${pageOf.search(address)}>Look on all chains</a>.</p>
    ${h(Elsewhere, { chainId, what: 'address', text: address })}
  </div>`;
}

show(AddressPage);
