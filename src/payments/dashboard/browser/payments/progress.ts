import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { Payments } from '../api.ts';

type Session = Payments['CheckoutSession'];

interface Step {
  readonly text: string;
  readonly state: 'done' | 'now' | 'open' | 'failed';
}

const SPOKEN = { done: 'done', now: 'under way', open: 'to come', failed: 'failed' } as const;

/** Progress of a checkout from opening to completion. */
export function Progress({ session }: { session: Session }): VNode {
  return html`<ol class="steps" aria-label="Progress">
    ${stepsOf(session).map(
      ({
        text,
        state,
      }) => html`<li key=${text} class=${state} aria-current=${state === 'now' ? 'step' : undefined}>
        ${text}<span class="visually-hidden">, ${SPOKEN[state]}</span>
      </li>`,
    )}
  </ol>`;
}

function stepsOf(session: Session): readonly Step[] {
  const { status, payment_status, tx_hash, payer_address, confirmations, required_confirmations } = session;
  const isPaid = status === 'completed';
  const isSeen = isPaid || payment_status === 'confirming' || payment_status === 'underpaid';
  const isOver = status === 'expired';
  return [
    { text: 'Opened', state: 'done' },
    {
      text: payer_address === null ? 'Payer unknown' : 'Payer known',
      state: isSeen || payer_address !== null ? 'done' : isOver ? 'failed' : 'now',
    },
    {
      text: tx_hash !== null && !isSeen ? 'Transfer claimed' : 'Transfer seen',
      state: isSeen ? 'done' : isOver ? 'failed' : tx_hash === null ? 'open' : 'now',
    },
    {
      text: `${confirmations} of ${required_confirmations} confirmations`,
      state: confirmationState(session),
    },
    endOf(session),
  ];
}

function confirmationState({ status, payment_status, is_reorged }: Session): Step['state'] {
  if (is_reorged) return 'failed';
  if (status === 'completed' || payment_status === 'underpaid') return 'done';
  if (payment_status === 'confirming') return 'now';
  return status === 'expired' ? 'failed' : 'open';
}

function endOf({ status, payment_status, is_reorged }: Session): Step {
  if (is_reorged) return { text: 'Dropped by the chain', state: 'failed' };
  if (status === 'completed') return { text: 'Completed', state: 'done' };
  if (status === 'expired') return { text: 'Expired', state: 'failed' };
  return payment_status === 'underpaid'
    ? { text: 'Part missing', state: 'now' }
    : { text: 'Completed', state: 'open' };
}
