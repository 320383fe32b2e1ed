import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Awaited, answerOf, useAnswer } from '#pages/browser/answer.ts';
import { DialogButton } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { Card, Facts } from '#pages/browser/layout.ts';
import { Moment } from '#pages/browser/moment.ts';
import { Reference } from '#pages/browser/reference.ts';
import { REFUND_FAILURES } from '#payments/browser/refund-words.ts';
import { dashboard, shownId } from '../addresses.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';
import { Amount, ChainName, TransactionHash } from '../chains.ts';
import { ActorName, ReasonField, reasonPart } from '../decisions.ts';
import { openPage } from '../frame.ts';
import { useHasPermission } from '../signed-in.ts';
import { DESTINATION_SOURCES, RefundStatus } from './refund-parts.ts';
import { SendRefund } from './send-refund.ts';

type Refund = Payments['Refund'];

const RENEW_MS = 3_000;
const id = shownId();

/** Page of a refund: what to send, and what the chain has seen. It refreshes, because a reorganisation may change it. */
function RefundPage(): VNode {
  const refund = useAnswer(
    signal => api.GET('/api/v1/refunds/{refund_id}', { params: { path: { refund_id: id } }, signal }),
    [],
    { everyMs: RENEW_MS },
  );
  return html`
    <p class="small"><a href=${dashboard.refunds}>Refunds</a></p>
    ${h(Awaited<Refund>, {
      loading: refund,
      children: shown => h(ShownRefund, { refund: shown, changed: refund.reload }),
    })}
  `;
}

function ShownRefund({ refund, changed }: { refund: Refund; changed: () => void }): VNode {
  const mayWrite = useHasPermission('write');
  const { failure_reason: failure, status } = refund;
  const isToSend = status === 'requires_action';
  return html`
    <div class="title">
      <h1>${h(Amount, { units: refund.amount, of: refund })} ${h(RefundStatus, { refund })}</h1>
      ${h(Reference, { value: refund.id })}
    </div>
    ${
      isToSend &&
      failure !== null &&
      html`<p class="notice warning" role="status">Nothing has been refunded: ${REFUND_FAILURES[failure]}.${
        failure === 'reorged' || failure === 'not_found'
          ? ' It may still arrive. Check in your wallet before you send again.'
          : ''
      }</p>`
    }
    ${isToSend && !refund.destination_proved && html`<p class="notice warning">Nobody has proved that the destination belongs to the payer. A transfer cannot be taken back.</p>`}
    ${isToSend && mayWrite && h(SendRefund, { refund, changed })}
    <div class="grid">${h(RefundFacts, { refund })}${h(HistoryFacts, { refund })}</div>
    ${isToSend && mayWrite && html`<div class="row">${h(Cancel, { changed })}</div>`}
  `;
}

function RefundFacts({ refund }: { refund: Refund }): VNode {
  const { session_id: session, tx_hash, chain_id, confirmations, required_confirmations } = refund;
  return h(Card, {
    title: 'Transfer',
    children: h(Facts, {
      rows: [
        ['Amount', h(Amount, { units: refund.amount, of: refund })],
        ['Destination', h(Reference, { value: refund.destination_address })],
        ['Source of the address', DESTINATION_SOURCES[refund.destination_source]],
        ['Chain', h(ChainName, { id: chain_id })],
        ['Transaction', tx_hash !== null && h(TransactionHash, { hash: tx_hash, chainId: chain_id })],
        ['Confirmations', refund.status === 'pending' && `${confirmations} of ${required_confirmations}`],
        ['Payment', session !== null && h(Reference, { value: session, href: dashboard.payment(session) })],
      ],
    }),
  });
}

function HistoryFacts({ refund }: { refund: Refund }): VNode {
  const { completed_at: completed, cancelled_at: cancelled } = refund;
  return h(Card, {
    title: 'History',
    children: h(Facts, {
      rows: [
        ['Reason', refund.reason],
        ['Created', h(Moment, { at: refund.created_at })],
        ['Created by', h(ActorName, { actor: refund.created_by })],
        [
          'Transaction named by',
          refund.completed_by !== null && h(ActorName, { actor: refund.completed_by }),
        ],
        ['Expires', refund.status === 'requires_action' && h(Moment, { at: refund.expires_at })],
        ['Completed', completed !== null && h(Moment, { at: completed })],
        ['Ended', cancelled !== null && h(Moment, { at: cancelled })],
        ['Cancelled by', refund.cancelled_by !== null && h(ActorName, { actor: refund.cancelled_by })],
        ['Reason of the cancellation', refund.cancelled_reason],
      ],
    }),
  });
}

function Cancel({ changed }: { changed: () => void }): VNode {
  const [reason, setReason] = useState('');
  const cancel = async () => {
    const params = { path: { refund_id: id }, header: { 'Idempotency-Key': idempotencyKey() } };
    await answerOf(api.POST('/api/v1/refunds/{refund_id}/cancel', { params, body: reasonPart(reason) }));
    changed();
  };
  return h(DialogButton, {
    label: 'Cancel refund',
    title: 'Cancel this refund?',
    tone: 'danger',
    onConfirm: cancel,
    children: html`
      <p>Its amount can be refunded again. Do not cancel it if a wallet has already sent the money: name its transaction.</p>
      ${h(ReasonField, { value: reason, onValue: setReason })}
    `,
  });
}

openPage('Refund', RefundPage);
