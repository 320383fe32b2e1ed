import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { type Loading, useAnswer } from '#pages/browser/answer.ts';
import { Badge, Card, Tabs } from '#pages/browser/layout.ts';
import { clipped, Reference } from '#pages/browser/reference.ts';
import { entitle, show } from '#pages/browser/show.ts';
import { api, type Explorer, pageOf, place } from '../api.ts';
import { Frame } from '../frame.ts';
import { isAddress, MainRecord, MalformedAddress } from '../main-record.ts';
import { OnChain } from '../records/chain-facts.ts';
import { useChain } from '../records/coin.ts';
import { AddressFacts, CounterFacts } from './overview.ts';
import { addressTabs } from './tabs.ts';

type Details = Explorer['AddressDetails'];
type Counters = Explorer['AddressCounters'];

const NAME_CHARACTERS = 80;

const { chainId, rest } = place();
const [, address = ''] = rest;
const params = { path: { address_hash: address }, query: { chain_id: chainId } };

/** Page of an address: its balance, its kind, and lists of its activity. */
function AddressPage(): VNode {
  if (!isAddress(address)) {
    return html`<${Frame}><${MalformedAddress} text=${address} /><//>`;
  }
  return html`<${Frame}><${KnownAddress} /><//>`;
}

function KnownAddress(): VNode {
  const details = useAnswer(signal => api.GET('/explorer/addresses/{address_hash}', { params, signal }));
  const counters = useAnswer(signal =>
    api.GET('/explorer/addresses/{address_hash}/counters', { params, signal }),
  );
  return html`<${MainRecord}
    loading=${details}
    title="Address"
    missing=${html`No back end of this chain knows ${address}. It may belong to another chain: <a href=${pageOf.search(address)}>search all of them</a>.`}
  >${(record: Details, headers: Headers) => html`
    <${Heading} record=${record} />
    <div class="grid">
      <${AddressFacts} chainId=${chainId} address=${record} headers=${headers} />
      <${CounterFacts} counters=${counters} />
    </div>
    <${Records} record=${record} counters=${counters} />
  `}<//>`;
}

function Heading({ record }: { record: Details }): VNode {
  const { is_contract, is_verified, implementations, token } = record;
  const name = record.name || record.ens_domain_name;
  const kind = is_contract ? 'Contract' : 'Address';
  const heading = name ? clipped(name, NAME_CHARACTERS) : kind;
  entitle(name ? `${kind} ${heading}` : `${kind} ${record.hash}`);
  return html`<div class="heading">
    <div class="row">
    <h1>${heading}</h1>
    ${is_contract && heading !== kind && html`<${Badge} tone="busy">Contract<//>`}
    ${is_contract && is_verified === true && html`<${Badge} tone="good">Source known<//>`}
    ${is_contract && is_verified === false && html`<${Badge} tone="warning">Source not known<//>`}
    ${implementations.length > 0 && html`<${Badge} tone="busy">Proxy<//>`}
    ${token !== null && html`<${Badge} tone="busy">${clipped(token.type ?? 'Token')}<//>`}
    </div>
    <${Reference} value=${record.hash} isWhole />
    <${OnChain} chainId=${chainId} />
  </div>`;
}

/** Tabs of the address, shown once the counters have told which of them have content. */
function Records({ record, counters }: { record: Details; counters: Loading<Counters> }): VNode {
  const chain = useChain(chainId);
  const isKnown = counters.answer !== undefined || counters.problem !== undefined;
  if (!isKnown) return html`<${Card}><p class="loading" role="status">Loading…</p><//>`;
  const tabs = addressTabs({ chainId, address: record, counters: counters.answer?.data });
  if (tabs.length > 0) return html`<${Card}><${Tabs} label="Records of the address" tabs=${tabs} /><//>`;
  return html`<div class="empty">
    <p>Nothing has happened at this address${chain !== undefined && ` on ${chain.name}`} yet.</p>
    <p>Its activity appears here, beginning with its first transaction. Did you expect some already? <a
      href=${pageOf.search(address)}>Look on all chains</a>.</p>
  </div>`;
}

show(AddressPage);
