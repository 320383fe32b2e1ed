import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Awaited, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Card } from '#pages/browser/layout.ts';
import { Reference } from '#pages/browser/reference.ts';
import { merchantWords } from '#payments/browser/outcome-words.ts';
import { confirmationsText } from '#payments/browser/transfer-words.ts';
import { shownId } from '../addresses.ts';
import { api, type Payments } from '../api.ts';
import { Amount } from '../chains.ts';
import { openPage } from '../frame.ts';
import { RefundLinks } from '../refunds/refund-parts.ts';
import { CheckoutStatus } from '../statuses.ts';
import { Acceptance } from './acceptance.ts';
import { Actions } from './actions.ts';
import { PayerFacts, PaymentFacts } from './payment-facts.ts';
import { SetAsideWarning } from './set-aside.ts';
import { Timeline } from './timeline.ts';

type Session = Payments['CheckoutSession'];

/** Renewal interval while the checkout is open or its payment is being confirmed. */
const RENEW_MS = 3_000;
/** Most transfers and events requested. A checkout has only a few. */
const FIRST = { page: 1, limit: 50 } as const;

const id = shownId();

/** Page of a checkout with its whole history. It refreshes until the checkout has ended. */
function PaymentPage(): VNode {
  const [isOver, setOver] = useState(false);
  const session = useAnswer(
    signal =>
      api.GET('/api/v1/checkout-sessions/{checkout_session_id}', {
        params: { path: { checkout_session_id: id } },
        signal,
      }),
    [],
    { everyMs: isOver ? undefined : RENEW_MS },
  );
  const known = session.answer?.data;
  useEffect(() => setOver(known !== undefined && hasEnded(known)), [known]);
  return h(Awaited<Session>, {
    loading: session,
    children: shown => h(Payment, { session: shown, changed: session.reload }),
  });
}

function hasEnded({ status, payment_status }: Session): boolean {
  return status !== 'active' && payment_status !== 'confirming';
}

function Payment({ session, changed }: { session: Session; changed: () => void }): VNode {
  const query = { session_id: id, ...FIRST };
  const transfers = useAnswer(signal => api.GET('/api/v1/transactions', { params: { query }, signal }));
  const movedQuery = { moved_from: id, ...FIRST };
  const movedAway = useAnswer(signal =>
    api.GET('/api/v1/transactions', { params: { query: movedQuery }, signal }),
  );
  const events = useAnswer(signal => api.GET('/api/v1/events', { params: { query }, signal }));
  // The lists change only with the session, so polling the session alone shows when to reload them.
  const version = `${session.updated_at} ${session.confirmations}`;
  const shown = useRef(version);
  useEffect(() => {
    if (shown.current === version) return;
    shown.current = version;
    transfers.reload();
    movedAway.reload();
    events.reload();
  }, [version]);

  return html`
    <div class="title">
      <h1>${h(Amount, { units: session.amount, of: session })} ${h(CheckoutStatus, { session })}</h1>
      ${h(Reference, { value: session.id })}
    </div>
    ${h(Progress, { session })}
    ${h(Need, { session })}
    ${session.payment_status === 'confirming' && h(SetAsideWarning, { sessionId: id })}
    ${h(Acceptance, { session, changed })}
    ${h(Actions, { session, changed })}
    ${h(RefundLinks, { session })}
    <div class="grid">
      ${h(PaymentFacts, { session })}
      ${h(PayerFacts, { session })}
    </div>
    ${h(Card, {
      title: 'Timeline',
      children: h(Awaited<Payments['PaymentTransactionList']>, {
        loading: transfers,
        children: ({ data }) =>
          h(Timeline, {
            story: {
              session,
              transfers: data,
              movedAway: movedAway.answer?.data.data ?? [],
              events: events.answer?.data.data ?? [],
              changed,
            },
          }),
      }),
    })}
  `;
}

/** Sentences about a state that needs the merchant; null for any other. */
function Need({ session }: { session: Session }): VNode | null {
  const { text } = merchantWords(session);
  return text === '' ? null : html`<p class="notice warning">${text}</p>`;
}

interface Step {
  readonly text: string;
  readonly state: 'done' | 'ended' | 'now' | 'open' | 'failed';
}

const SPOKEN = {
  done: 'done',
  ended: 'ended',
  now: 'in progress',
  open: 'not yet',
  failed: 'failed',
} as const;

/** Progress of a checkout from opening to completion. */
function Progress({ session }: { session: Session }): VNode {
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

/** Outcomes of a checkout whose money arrived and is confirmed. */
const ARRIVED: readonly Session['outcome'][] = [
  'partial',
  'paid',
  'overpaid',
  'paid_late',
  'paid_sold_out',
  'paid_unproven',
];

function stepsOf(session: Session): readonly Step[] {
  const { outcome, status, tx_hash, payer_address } = session;
  const hasArrived = ARRIVED.includes(outcome);
  const isSeen = hasArrived || outcome === 'confirming' || outcome === 'dropped';
  const isOpen = status === 'active';
  return [
    { text: 'Created', state: 'done' },
    {
      text: payer_address === null ? 'Sender not known' : 'Sender known',
      state: isSeen || payer_address !== null ? 'done' : isOpen ? 'now' : 'open',
    },
    {
      text: tx_hash !== null && !isSeen ? 'Transfer submitted' : 'Transfer detected',
      state: isSeen ? 'done' : outcome === 'failed' ? 'failed' : isOpen && tx_hash !== null ? 'now' : 'open',
    },
    {
      text: confirmationsText(session),
      state: hasArrived
        ? 'done'
        : outcome === 'confirming'
          ? 'now'
          : outcome === 'dropped'
            ? 'failed'
            : 'open',
    },
    endOf(session),
  ];
}

function endOf(session: Session): Step {
  const { outcome, status } = session;
  const { badge: text, tone } = merchantWords(session);
  if (tone === 'good') return { text, state: 'done' };
  if (tone === 'warning') return { text, state: outcome === 'overpaid' ? 'done' : 'now' };
  if (status === 'active' && outcome !== 'dropped') return { text: 'Completed', state: 'open' };
  return { text, state: tone === 'plain' ? 'ended' : 'failed' };
}

openPage('Payment', PaymentPage);
