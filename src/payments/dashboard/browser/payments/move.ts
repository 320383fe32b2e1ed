import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { answerOf } from '#pages/browser/answer.ts';
import { DialogButton } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';
import { Amount } from '../chains.ts';
import { ReasonField, reasonPart } from '../decisions.ts';
import { useHasPermission } from '../signed-in.ts';
import { CandidateField } from './candidates.ts';

type Transfer = Payments['PaymentTransaction'];

interface MoveProps {
  readonly session: Payments['CheckoutSession'];
  readonly transfer: Transfer;
  readonly changed: () => void;
}

/** Button that moves a payment to another checkout, where that is possible. */
export function Move({ session, transfer, changed }: MoveProps): VNode | null {
  const mayWrite = useHasPermission('write');
  const [openings, setOpenings] = useState(0);
  const [target, setTarget] = useState('');
  const [reason, setReason] = useState('');
  if (!mayWrite || !isMovable(session, transfer)) return null;
  const params = { path: { transaction_id: transfer.id } };
  return html`<div>${h(DialogButton, {
    label: 'Move',
    title: 'Move this payment to another checkout?',
    onOpen: () => setOpenings(openings + 1),
    onConfirm: () => move(transfer.id, { session_id: target, ...reasonPart(reason) }).then(changed),
    children: html`
      <p>
        ${h(Amount, { units: transfer.amount, of: transfer })} will count for the other checkout, and no longer for this one.
        An open checkout is completed if the amount is enough. Otherwise you can accept it.
      </p>
      ${
        openings > 0 &&
        h(CandidateField, {
          openings,
          load: signal => api.GET('/api/v1/transactions/{transaction_id}/candidates', { params, signal }),
          onSession: setTarget,
        })
      }
      ${h(ReasonField, { value: reason, onValue: setReason })}
    `,
  })}</div>`;
}

/** False for a payment that is part of what completed its checkout (Decision 346). */
function isMovable(
  { status, transaction_id, accepted_at }: MoveProps['session'],
  transfer: Transfer,
): boolean {
  if (transfer.status !== 'completed') return false;
  const isExtra = transfer.duplicate || (transfer.late && accepted_at === null);
  return status !== 'completed' || (isExtra && transaction_id !== transfer.id);
}

function move(id: string, body: Payments['Assignment']): Promise<unknown> {
  const params = { path: { transaction_id: id }, header: { 'Idempotency-Key': idempotencyKey() } };
  return answerOf(api.POST('/api/v1/transactions/{transaction_id}/move', { params, body }));
}
