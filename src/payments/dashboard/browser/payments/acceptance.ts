import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { answerOf, useAnswer } from '#pages/browser/answer.ts';
import { DialogButton } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';
import { Amount } from '../chains.ts';
import { ReasonField, reasonPart } from '../decisions.ts';
import { useHasPermission } from '../signed-in.ts';
import { missing } from './payment-facts.ts';

type Session = Payments['CheckoutSession'];

/** Outcomes of a checkout whose money arrived without completing it. */
const ACCEPTABLE: readonly Session['outcome'][] = ['partial', 'paid_late', 'paid_sold_out', 'paid_unproven'];

/** Ends after which no checkout can be accepted (Decision 345). */
const FINAL_ENDS: Readonly<Partial<Record<NonNullable<Session['ended_reason']>, string>>> = {
  merchant: 'you ended it',
  link_deleted: 'its link was deleted',
};

/** Button that accepts the money that arrived, or the reason why it cannot be accepted. */
export function Acceptance({ session, changed }: { session: Session; changed: () => void }): VNode | null {
  const mayWrite = useHasPermission('write');
  const [openings, setOpenings] = useState(0);
  const [reason, setReason] = useState('');
  // Reserved money is what refunds have returned or will return (Decision 350).
  const isAllReserved = BigInt(session.amount_received) <= BigInt(session.amount_reserved);
  if (session.status === 'completed' || !ACCEPTABLE.includes(session.outcome) || isAllReserved) return null;
  const end = session.ended_reason === null ? undefined : FINAL_ENDS[session.ended_reason];
  if (end !== undefined) {
    return html`<p class="small">It cannot be accepted, because ${end}. Refund the money, or move it to another checkout.</p>`;
  }
  if (!mayWrite) return null;
  return html`<div class="row">${h(DialogButton, {
    label: 'Accept',
    title: 'Accept this checkout as paid?',
    tone: 'primary',
    onOpen: () => setOpenings(openings + 1),
    onConfirm: () => accept(session.id, reason).then(changed),
    children: html`
      ${h(Effect, { session })}
      ${openings > 0 && session.payment_link_id !== null && h(LinkUses, { linkId: session.payment_link_id, openings })}
      ${h(ReasonField, { value: reason, onValue: setReason })}
    `,
  })}</div>`;
}

/** The consequences for the checkout and its receivers. */
function Effect({ session }: { session: Session }): VNode {
  const { amount, amount_received: received, amount_refunded: refunded } = session;
  const rest = missing(session);
  const units = (value: string) => h(Amount, { units: value, of: session });
  return html`
    <p>
      ${units(received)} of ${units(amount)} arrived${refunded !== '0' && html`, and you have sent back ${units(refunded)}`}${
        rest > 0n &&
        html`, so ${units(rest.toString())} is missing. You
      give that up`
      }. The checkout will be completed, and its payer and your webhooks will learn of it. This cannot be
      undone.
    </p>
  `;
}

/** The uses of a link before and after the acceptance. Empty when the link cannot be read. */
function LinkUses({ linkId, openings }: { linkId: string; openings: number }): VNode | null {
  const params = { path: { payment_link_id: linkId } };
  const link = useAnswer(
    signal => api.GET('/api/v1/payment-links/{payment_link_id}', { params, signal }),
    [openings],
  );
  const known = link.answer?.data;
  if (known === undefined) return null;
  const { current_uses: taken, max_uses: most } = known;
  if (most === null) return html`<p>It counts as use ${taken + 1} of its link, which has no limit.</p>`;
  const isBeyond = taken >= most;
  return html`<p class=${isBeyond ? 'notice warning' : undefined}>
    The link has ${most} ${most === 1 ? 'use' : 'uses'}, and ${taken} ${taken === 1 ? 'is' : 'are'} taken: accepting counts
    ${' '}use ${taken + 1}${isBeyond ? ', which is more than the link allows' : ''}.
  </p>`;
}

function accept(id: string, reason: string): Promise<unknown> {
  const params = { path: { checkout_session_id: id }, header: { 'Idempotency-Key': idempotencyKey() } };
  const body = reasonPart(reason);
  return answerOf(api.POST('/api/v1/checkout-sessions/{checkout_session_id}/accept', { params, body }));
}
