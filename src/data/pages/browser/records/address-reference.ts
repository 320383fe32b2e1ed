import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { clipped, Reference } from '#pages/browser/reference.ts';
import { type Explorer, pageOf } from '../api.ts';

/** Address as a link to its page, labelled with its name if it has one. */
export function AddressReference({
  chainId,
  address,
  isWhole = false,
}: {
  chainId: number;
  address: Explorer['Address'];
  isWhole?: boolean;
}): VNode {
  const name = nameOf(address);
  return h(Reference, {
    value: address.hash,
    name: name === undefined ? undefined : clipped(name),
    href: pageOf.address(chainId, address.hash),
    isWhole,
  });
}

/** Name of an address: the registered name, else that of its contract or token; undefined without one. */
function nameOf({ ens_domain_name, name }: Explorer['Address']): string | undefined {
  return ens_domain_name || name || undefined;
}

/** Badge that marks a record as incoming or outgoing for the address `of`. */
export function Direction({
  of,
  from,
  to,
}: {
  of: string;
  from: Explorer['Address'];
  to: Explorer['Address'] | null;
}): VNode {
  const isSender = from.hash.toLowerCase() === of.toLowerCase();
  const isReceiver = to?.hash.toLowerCase() === of.toLowerCase();
  const text = isSender ? (isReceiver ? 'self' : 'out') : 'in';
  return html`<span class=${`badge ${text === 'in' ? 'good' : text === 'out' ? 'warning' : 'plain'}`}>${text}</span>`;
}
