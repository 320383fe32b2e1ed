import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { Badge } from '#pages/browser/layout.ts';
import { clipped, Name, Reference } from '#pages/browser/reference.ts';
import { isBlank } from '#pages/browser/text-direction.ts';
import { type Explorer, pageOf } from '../api.ts';

type Address = Explorer['Address'];

/**
 * Address as a link to its page, with its name next to it. The address is always shown, because anyone can name a
 * contract like another one (Decision 419).
 */
export function AddressReference({
  chainId,
  address,
  isWhole = false,
}: {
  chainId: number;
  address: Address;
  isWhole?: boolean;
}): VNode {
  return html`<span class="party">${h(Reference, {
    value: address.hash,
    href: pageOf.address(chainId, address.hash),
    isWhole,
  })}${h(AddressNames, { address })}</span>`;
}

/** Best known name of an address with its source, and the mark of a scam. Renders nothing without either. */
export function AddressNames({ address }: { address: Address }): VNode {
  const [first] = namesOf(address);
  return html`${first !== undefined && h(Name, first)}${h(ScamBadge, { of: address })}`;
}

/** Name of an address, and who says so. */
interface SourcedName {
  readonly text: string;
  readonly source: string;
  readonly title: string;
  readonly isVouched: boolean;
}

/**
 * Names of an address, the most trustworthy first: labels of the back end, the registry of names, the verified source,
 * and last what the contract calls itself. Names without a visible character are none.
 */
function namesOf(address: Address): readonly SourcedName[] {
  const { public_tags: tags, metadata, ens_domain_name: domain, name, is_verified } = address;
  return [
    ...tags.map(tag => label(tag.display_name)),
    ...(metadata === undefined ? [] : [label(metadata.name)]),
    {
      text: domain ?? '',
      source: 'ENS',
      title: 'Name in the registry of names of the chain',
      isVouched: true,
    },
    is_verified === true ? verifiedName(name ?? '') : ownName(name ?? ''),
  ]
    .filter(({ text }) => !isBlank(text))
    .map(one => ({ ...one, text: clipped(one.text) }));
}

function label(text: string): SourcedName {
  return { text, source: 'label', title: 'Label that the back end has for this address', isVouched: true };
}

/** Name of a contract in its verified source. */
function verifiedName(text: string): SourcedName {
  return { text, source: 'verified', title: 'Name in the verified source code', isVouched: true };
}

/** Name that a contract gives itself, or whose source is not known. */
export function ownName(text: string): SourcedName {
  return {
    text,
    source: 'own name',
    title: 'Name that the contract gives itself. Anyone can choose any.',
    isVouched: false,
  };
}

/** Mark of an address or token that its back end takes for a scam; renders nothing for any other. */
export function ScamBadge({ of }: { of: Pick<Address, 'reputation'> }): VNode | null {
  if (of.reputation !== 'scam') return null;
  const title = 'The back end takes this for a scam.';
  return h(Badge, { tone: 'bad', title, children: 'scam' });
}

/** Badge that marks a record as incoming or outgoing for the address `of`. */
export function Direction({ of, from, to }: { of: string; from: Address; to: Address | null }): VNode {
  const isSender = from.hash.toLowerCase() === of.toLowerCase();
  const isReceiver = to?.hash.toLowerCase() === of.toLowerCase();
  const text = isSender ? (isReceiver ? 'self' : 'out') : 'in';
  return html`<span class=${`badge ${text === 'in' ? 'good' : text === 'out' ? 'warning' : 'plain'}`}>${text}</span>`;
}
