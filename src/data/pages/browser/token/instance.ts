import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Empty, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Badge, Card, Facts, type Tab, Tabs } from '#pages/browser/layout.ts';
import { Moment } from '#pages/browser/moment.ts';
import { clipped, webAddress } from '#pages/browser/reference.ts';
import { setTitle, show } from '#pages/browser/show.ts';
import { api, type Explorer, pageOf, pagePath } from '../api.ts';
import { Frame, Source } from '../frame.ts';
import { isAddress, MainRecord, MalformedAddress } from '../main-record.ts';
import { AddressReference } from '../records/address-reference.ts';
import { OnChain } from '../records/chain-facts.ts';
import { CodeText } from '../records/code-text.ts';
import { pageQuery, type RecordCursor, recordList } from '../records/record-list.ts';
import { TokenReference } from '../records/token-amount.ts';
import { transferColumns, transferKey } from '../records/transfer-columns.ts';
import { holderColumns, holderKey } from './holders.ts';
import { nftName, Picture } from './picture.ts';

type Instance = Explorer['TokenInstance'];

const DESCRIPTION_CHARACTERS = 2_000;
const LINK_CHARACTERS = 80;
const TOKEN_ID = /^\d{1,78}$/;
const LAST_ID = 2n ** 256n - 1n;

const { chainId, rest } = pagePath();
const [, contract = '', , id = ''] = rest;

/** Page of an NFT: its picture and metadata, its owner or holders, and its transfers. */
function InstancePage(): VNode {
  if (!isAddress(contract)) return h(Frame, { children: h(MalformedAddress, { text: contract }) });
  if (!TOKEN_ID.test(id) || BigInt(id) > LAST_ID) {
    return h(Frame, {
      children: html`<h1>Not a token ID</h1>${h(Empty, {
        children: html`
          <code>${clipped(id)}</code> is not the token ID of an NFT. A token ID is a whole number below 2^256, in decimal digits.
        `,
      })}`,
    });
  }
  return h(Frame, { children: h(KnownInstance, { path: { address_hash: contract, id: BigInt(id) } }) });
}

interface InstancePath {
  readonly address_hash: string;
  readonly id: bigint;
}

function KnownInstance({ path }: { path: InstancePath }): VNode {
  const instance = useAnswer(signal =>
    api.GET('/explorer/tokens/{address_hash}/instances/{id}', {
      params: { path, query: { chain_id: chainId } },
      signal,
    }),
  );
  return h(MainRecord<Instance>, {
    loading: instance,
    title: 'NFT',
    missing: html`This NFT does not exist. <a href=${pageOf.token(chainId, contract)}>See the collection</a>.`,
    children: (record, headers) => h(Overview, { path, instance: record, headers }),
  });
}

function Overview({
  path,
  instance,
  headers,
}: {
  path: InstancePath;
  instance: Instance;
  headers: Headers;
}): VNode {
  const name = nftName(instance);
  setTitle(`NFT ${name}`);
  return html`
    <div class="heading">
    <div class="row">
      <h1>${name}</h1>
      ${h(Badge, { tone: 'busy', children: instance.is_unique === false ? 'Multiple copies' : 'NFT' })}
    </div>
    ${h(OnChain, { chainId })}
    </div>
    <div class="beside">
      ${h(Card, { children: h(Picture, { chainId, contract, nft: instance, isDescribed: true }) })}
      <div class="stack">
        ${h(Card, {
          title: 'Overview',
          children: html`
            ${h(InstanceFacts, { instance })}
            ${h(Source, { headers })}
          `,
        })}
        ${h(Metadata, { metadata: instance.metadata })}
      </div>
    </div>
    ${h(Card, { children: h(Tabs, { label: 'Records of the NFT', tabs: tabsOf(path, instance) }) })}
  `;
}

function InstanceFacts({ instance }: { instance: Instance }): VNode {
  const { token, owner } = instance;
  return h(Facts, {
    rows: [
      ['Collection', token !== null && h(TokenReference, { chainId, token })],
      ['Token ID', html`<code>${instance.id}</code>`],
      ['Standard', token?.type != null && clipped(token.type)],
      ['Owner', owner !== null && h(AddressReference, { chainId, address: owner })],
      ['Image', linkTo(instance.image_url)],
      ['Animation', linkTo(instance.animation_url)],
      ['External link', linkTo(instance.external_app_url)],
    ],
  });
}

/** External link; false for an address without a web scheme. */
function linkTo(address: string | undefined): VNode | false {
  const href = webAddress(address);
  if (href === undefined) return false;
  return html`<a href=${href} rel="noreferrer noopener nofollow">${clipped(href, LINK_CHARACTERS)}</a>`;
}

function Metadata({ metadata }: { metadata: Instance['metadata'] }): VNode {
  if (metadata === undefined) {
    return h(Card, {
      title: 'Metadata',
      children: html`<p class="hint">The back end has no metadata for this NFT.</p>`,
    });
  }
  const { description } = metadata;
  return h(Card, {
    title: 'Metadata',
    children: html`
      ${typeof description === 'string' && html`<p class="text">${clipped(description, DESCRIPTION_CHARACTERS)}</p>`}
      ${h(Attributes, { metadata })}
      <details>
        <summary>Metadata as JSON</summary>
        ${h(CodeText, { label: 'Metadata', value: JSON.stringify(metadata, undefined, 2) })}
      </details>
    `,
  });
}

function tabsOf(path: InstancePath, instance: Instance): readonly Tab[] {
  return [
    { id: 'transfers', label: 'Transfers', content: () => transfersOf(path, instance) },
    ...(instance.is_unique === true
      ? []
      : [{ id: 'holders', label: 'Holders', content: () => holdersOf(path, instance) }]),
  ];
}

function transfersOf(path: InstancePath, { token }: Instance): VNode {
  return recordList({
    label: 'Transfers of the NFT',
    columns: transferColumns(chainId, token === null ? {} : { token }),
    keyOf: transferKey,
    empty: 'This NFT has no transfers yet.',
    load: (position: RecordCursor | undefined, signal) =>
      api.GET('/explorer/tokens/{address_hash}/instances/{id}/transfers', {
        params: { path, query: pageQuery(chainId, position) },
        signal,
      }),
  });
}

function holdersOf(path: InstancePath, { token }: Instance): VNode {
  return recordList({
    label: 'Holders of the NFT',
    columns: holderColumns(chainId, { token, isOfInstance: true }),
    keyOf: holderKey,
    empty: 'This NFT has no holders.',
    load: (position: RecordCursor | undefined, signal) =>
      api.GET('/explorer/tokens/{address_hash}/instances/{id}/holders', {
        params: { path, query: pageQuery(chainId, position) },
        signal,
      }),
  });
}

/** One attribute of an NFT, as named by its publisher. */
interface Attribute {
  readonly name: string;
  readonly value: unknown;
  readonly isDate: boolean;
}

const MAX_ATTRIBUTES = 200;
const NAME_CHARACTERS = 60;
const VALUE_CHARACTERS = 200;
/** The latest second that a Date can hold. */
const LAST_SECOND = 8.64e12;

/** Attributes of an NFT. Metadata comes from strangers, so it is shown as text only. */
function Attributes({ metadata }: { metadata: Readonly<Record<string, unknown>> }): VNode | null {
  const attributes = attributesOf(metadata);
  if (attributes.length === 0) return null;
  return html`<dl class="attributes">
    ${attributes.slice(0, MAX_ATTRIBUTES).map(
      ({ name, value, isDate }, position) => html`<div key=${position}>
        <dt>${clipped(name, NAME_CHARACTERS)}</dt>
        <dd>${isDate ? h(Moment, { at: Number(value) * 1000 }) : clipped(textOf(value), VALUE_CHARACTERS)}</dd>
      </div>`,
    )}
  </dl>
  ${
    attributes.length > MAX_ATTRIBUTES &&
    html`<p class="small">The first ${MAX_ATTRIBUTES} of ${attributes.length} attributes; all are in the metadata below.</p>`
  }`;
}

/**
 * Reads the attributes: a list of `{ trait_type, value }`, as marketplaces use it, or an object of names and values.
 */
function attributesOf({ attributes, traits }: Readonly<Record<string, unknown>>): readonly Attribute[] {
  const given = attributes ?? traits;
  if (Array.isArray(given)) {
    return given.map((one: unknown) => {
      const { trait_type, name, value = one, display_type } = entriesOf(one);
      return {
        name: textOf(trait_type ?? name ?? 'Attribute'),
        value,
        isDate: display_type === 'date' && typeof value === 'number' && Math.abs(value) <= LAST_SECOND,
      };
    });
  }
  return Object.entries(entriesOf(given)).map(([name, value]) => ({ name, value, isDate: false }));
}

function entriesOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '–' : JSON.stringify(value);
}

show(InstancePage);
