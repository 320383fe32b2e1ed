import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Awaited, useAnswer } from '#pages/browser/answer.ts';
import { Card } from '#pages/browser/layout.ts';
import { Reference } from '#pages/browser/reference.ts';
import { shownId } from '../addresses.ts';
import { api, type Payments } from '../api.ts';
import { Amount } from '../chains.ts';
import { openPage } from '../frame.ts';
import { CheckoutStatus } from '../statuses.ts';
import { Actions } from './actions.ts';
import { PayerFacts, PaymentFacts } from './payment-facts.ts';
import { Progress } from './progress.ts';
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
  return html`<${Awaited} loading=${session}>
    ${(shown: Session) => html`<${Payment} session=${shown} changed=${session.reload} />`}
  <//>`;
}

function hasEnded({ status, payment_status }: Session): boolean {
  return status !== 'active' && payment_status !== 'confirming';
}

function Payment({ session, changed }: { session: Session; changed: () => void }): VNode {
  const query = { session_id: id, ...FIRST };
  const transfers = useAnswer(signal => api.GET('/api/v1/transactions', { params: { query }, signal }), []);
  const events = useAnswer(signal => api.GET('/api/v1/events', { params: { query }, signal }), []);
  // Both lists change only with the session, so polling the session alone shows when to reload them.
  const version = `${session.updated_at} ${session.confirmations}`;
  const shown = useRef(version);
  useEffect(() => {
    if (shown.current === version) return;
    shown.current = version;
    transfers.reload();
    events.reload();
  }, [version]);

  return html`
    <div class="title">
      <h1><${Amount} units=${session.amount} of=${session} /> <${CheckoutStatus} session=${session} /></h1>
      <${Reference} value=${session.id} />
    </div>
    <${Progress} session=${session} />
    ${session.payment_status === 'confirming' && html`<${SetAsideWarning} sessionId=${id} />`}
    <${Actions} session=${session} changed=${changed} />
    <div class="grid">
      <${PaymentFacts} session=${session} />
      <${PayerFacts} session=${session} />
    </div>
    <${Card} title="What happened">
      <${Awaited} loading=${transfers}>
        ${({ data }: Payments['PaymentTransactionList']) => html`<${Timeline}
          story=${{ session, transfers: data, events: events.answer?.data.data ?? [] }}
        />`}
      <//>
    <//>
  `;
}

openPage('Payment', PaymentPage);
