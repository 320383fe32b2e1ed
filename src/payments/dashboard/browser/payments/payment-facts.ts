import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { Card, type Fact, Facts } from '#pages/browser/layout.ts';
import { Moment } from '#pages/browser/moment.ts';
import { Reference } from '#pages/browser/reference.ts';
import { dashboard } from '../addresses.ts';
import type { Payments } from '../api.ts';
import { Amount, ChainName, TransactionHash } from '../chains.ts';
import { toleranceFact } from '../tolerance.ts';

type Session = Payments['CheckoutSession'];

/** Terms of a checkout, and the amount received. */
export function PaymentFacts({ session }: { session: Session }): VNode {
  const { amount, amount_due, subtotal, shipping_option: shipping, payer_address, tx_hash } = session;
  const { use_reserved_until: reserved, deposit_address: deposit } = session;
  const units = (value: string) => h(Amount, { units: value, of: session });
  return h(Card, {
    title: 'Payment',
    children: h(Facts, {
      rows: [
        ['Price', units(amount)],
        ['Subtotal', subtotal !== amount && units(subtotal)],
        ['Shipping', shipping !== null && html`${shipping.name}, ${units(shipping.amount)}`],
        ['Exact amount to send', amount_due !== amount && units(amount_due)],
        toleranceFact(session.payment_tolerance || null),
        ['Amount received', units(session.amount_received)],
        ['Refunded', session.amount_refunded !== '0' && units(session.amount_refunded)],
        ['Amount too much', session.amount_overpaid !== '0' && units(session.amount_overpaid)],
        ['Amount remaining', missing(session) > 0n && units(missing(session).toString())],
        ['Sender', payer_address !== null && h(Reference, { value: payer_address })],
        ['Transaction', tx_hash !== null && h(TransactionHash, { hash: tx_hash, chainId: session.chain_id })],
        ['Deposit address', deposit !== null && h(Reference, { value: deposit })],
        ['Recipient', h(Reference, { value: session.recipient_address })],
        ['Chain', h(ChainName, { id: session.chain_id })],
        ['Payment link', linkOf(session)],
        ['Created', h(Moment, { at: session.created_at })],
        ['Payment deadline', h(Moment, { at: session.expires_at })],
        ['Use reserved until', reserved !== null && h(Moment, { at: reserved })],
        ['Completed', session.completed_at !== null && h(Moment, { at: session.completed_at })],
      ],
    }),
  });
}

/** Amount still missing from a partial payment, up to the price. What was sent back does not count towards it. */
export function missing({ outcome, amount, amount_received, amount_refunded }: Session): bigint {
  return outcome === 'partial' ? BigInt(amount) - BigInt(amount_received) + BigInt(amount_refunded) : 0n;
}

function linkOf({ payment_link_id: id }: Session): ComponentChildren {
  return id !== null && h(Reference, { value: id, href: dashboard.link(id) });
}

/** Data entered by the payer and attached by the merchant. */
export function PayerFacts({ session }: { session: Session }): VNode {
  const { customerName, customerEmail, clientReferenceId, shipping_address, metadata } = session;
  const { form_data, form_labels: labels, customer_id: customerId } = session;
  const rows: readonly Fact[] = [
    [
      'Customer',
      customerId !== null && h(Reference, { value: customerId, href: dashboard.customer(customerId) }),
    ],
    ['Name', customerName],
    ['Email', customerEmail],
    ['Reference', clientReferenceId],
    ...Object.entries(form_data ?? {}).map(([field, value]): Fact => [labels[field] ?? field, String(value)]),
    ['Shipping address', shipping_address === null ? null : addressText(shipping_address)],
    ...Object.entries(metadata).map(([key, value]): Fact => [`metadata.${key}`, value]),
  ];
  return h(Card, {
    title: 'Payer',
    children: rows.every(([, value]) => value === null || value === false)
      ? html`<p class="small">No details of the payer and no metadata.</p>`
      : h(Facts, { rows }),
  });
}

function addressText({ name, line1, line2, zip, city, state, country }: Payments['ShippingAddress']): string {
  return [name, line1, line2, `${zip} ${city}`, state, country].filter(part => part !== null).join(', ');
}
