import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { answerOf } from '#pages/browser/answer.ts';
import { DialogButton } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { Badge } from '#pages/browser/layout.ts';
import { Ago } from '#pages/browser/moment.ts';
import { Reference } from '#pages/browser/reference.ts';
import { dashboard } from '../addresses.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';
import { Amount } from '../chains.ts';
import { DecidedBy, ReasonField, reasonPart } from '../decisions.ts';
import { useHasPermission } from '../signed-in.ts';
import { CandidateField } from './candidates.ts';

type Transfer = Payments['UnmatchedTransfer'];

interface DecisionProps {
  readonly transfer: Transfer;
  readonly changed: () => void;
}

/** Decision about a transfer, and the buttons for those that are possible. A dismissed one can be refunded like an open one. */
export function TransferDecisions({ transfer, changed }: DecisionProps): VNode {
  const mayWrite = useHasPermission('write');
  const refund = html`<a class="button" href=${dashboard.newRefund({ unmatched_transfer_id: transfer.id })}>Refund</a>`;
  switch (transfer.status) {
    case 'set_aside':
      return html`<span class="small">Waiting for the receipt of its transaction</span>`;
    case 'assigned':
      return h(Assigned, { transfer });
    case 'dismissed':
      return html`
        ${h(Dismissed, { transfer })}
        ${mayWrite && html`<div class="row">${h(Restore, { transfer, changed })}${refund}</div>`}
      `;
    case 'refunded':
      return h(Badge, { tone: 'plain', children: 'Refunded' });
    case 'open':
      return html`
        <p>${h(Suggestion, { transfer })}</p>
        ${
          mayWrite &&
          html`<div class="row">
            ${h(Assign, { transfer, changed })}${h(Dismiss, { transfer, changed })}${refund}
          </div>`
        }
      `;
  }
}

function Assigned({ transfer }: { transfer: Transfer }): VNode {
  const { session_id: session, assigned_by, assigned_reason } = transfer;
  return html`
    ${session !== null && h(Reference, { value: session, href: dashboard.payment(session) })}
    ${h(DecidedBy, { actor: assigned_by, reason: assigned_reason })}
  `;
}

function Dismissed({ transfer }: { transfer: Transfer }): VNode {
  const { dismissed_at: at, dismissed_by, dismissed_reason } = transfer;
  return html`
    ${h(Badge, { tone: 'plain', children: 'Dismissed' })} ${at !== null && h(Ago, { at })}
    ${h(DecidedBy, { actor: dismissed_by, reason: dismissed_reason })}
  `;
}

function Suggestion({ transfer: { suggested_session_id: id } }: { transfer: Transfer }): VNode {
  if (id === null) return html`<span class="small">No suggestion</span>`;
  return html`${h(Reference, { value: id, href: dashboard.payment(id) })} <span class="small">suggested</span>`;
}

function Assign({ transfer, changed }: DecisionProps): VNode {
  const [openings, setOpenings] = useState(0);
  const [session, setSession] = useState('');
  const [reason, setReason] = useState('');
  const params = { path: { unmatched_transfer_id: transfer.id } };
  return h(DialogButton, {
    label: 'Assign',
    title: 'Assign this transfer to a checkout?',
    onOpen: () => setOpenings(openings + 1),
    onConfirm: () => assign(transfer.id, { session_id: session, ...reasonPart(reason) }).then(changed),
    children: html`
      <p>
        ${h(Amount, { units: transfer.amount, of: transfer })} will count as a payment of the checkout. An open checkout is
        completed if the amount is enough. Otherwise you can accept it.
      </p>
      ${
        openings > 0 &&
        h(CandidateField, {
          openings,
          load: signal =>
            api.GET('/api/v1/unmatched-transfers/{unmatched_transfer_id}/candidates', { params, signal }),
          onSession: setSession,
        })
      }
      ${h(ReasonField, { value: reason, onValue: setReason })}
    `,
  });
}

function Dismiss({ transfer, changed }: DecisionProps): VNode {
  const [reason, setReason] = useState('');
  return h(DialogButton, {
    label: 'Dismiss',
    title: 'Dismiss this transfer?',
    onConfirm: () => dismiss(transfer.id, reason).then(changed),
    children: html`
      <p>
        ${h(Amount, { units: transfer.amount, of: transfer })} will be listed as dismissed, as no payment of a checkout. You
        can restore it at any time.
      </p>
      ${h(ReasonField, { value: reason, onValue: setReason })}
    `,
  });
}

function Restore({ transfer, changed }: DecisionProps): VNode {
  const [reason, setReason] = useState('');
  return h(DialogButton, {
    label: 'Restore',
    title: 'Restore this transfer?',
    onConfirm: () => restore(transfer.id, reason).then(changed),
    children: html`
      <p>${h(Amount, { units: transfer.amount, of: transfer })} will be open again, and can be assigned to a checkout.</p>
      ${h(ReasonField, { value: reason, onValue: setReason })}
    `,
  });
}

function assign(id: string, body: Payments['Assignment']): Promise<unknown> {
  const params = paramsOf(id);
  return answerOf(api.POST('/api/v1/unmatched-transfers/{unmatched_transfer_id}/assign', { params, body }));
}

function dismiss(id: string, reason: string): Promise<unknown> {
  const [params, body] = [paramsOf(id), reasonPart(reason)];
  return answerOf(api.POST('/api/v1/unmatched-transfers/{unmatched_transfer_id}/dismiss', { params, body }));
}

function restore(id: string, reason: string): Promise<unknown> {
  const [params, body] = [paramsOf(id), reasonPart(reason)];
  return answerOf(api.POST('/api/v1/unmatched-transfers/{unmatched_transfer_id}/restore', { params, body }));
}

function paramsOf(id: string) {
  return { path: { unmatched_transfer_id: id }, header: { 'Idempotency-Key': idempotencyKey() } };
}
