import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { answerOf, ProblemNotice } from '#pages/browser/answer.ts';
import { DialogButton, useChange } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { CopyButton, webAddress } from '#pages/browser/reference.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';
import { useHasPermission, useSignIn } from '../signed-in.ts';

type Session = Payments['CheckoutSession'];
type Outcome = NonNullable<Payments['SimulationRequest']['outcome']>;

const OUTCOMES: readonly (readonly [value: Outcome, text: string])[] = [
  ['completed', 'paid in full'],
  ['underpaid', 'underpaid (half)'],
  ['failed', 'payment fails'],
  ['reorg', 'paid, then dropped by the chain'],
];

/** Actions on an open checkout. `changed` is called after each change. */
export function Actions({ session, changed }: { session: Session; changed: () => void }): VNode | null {
  const { mode } = useSignIn();
  const mayWrite = useHasPermission('write');
  if (session.status !== 'active') return null;
  const url = webAddress(session.url);
  return html`<div class="row">
    ${url !== undefined && html`<a class="button" href=${url}>Open payment page</a>${h(CopyButton, { text: url, label: 'Copy URL of the payment page' })}`}
    ${mayWrite && mode === 'test' && h(Simulation, { id: session.id, changed })}
    ${
      mayWrite &&
      session.payment_status !== 'confirming' &&
      h(DialogButton, {
        label: 'Expire',
        title: 'Expire this checkout?',
        tone: 'danger',
        onConfirm: () => expire(session.id).then(changed),
        children: html`
          <p>It can no longer be paid. A payment that still arrives is listed as late.</p>
        `,
      })
    }
  </div>`;
}

function Simulation({ id, changed }: { id: string; changed: () => void }): VNode {
  const [outcome, setOutcome] = useState<Outcome>('completed');
  const { isBusy, problem, run } = useChange();
  const chosen = (event: Event & { currentTarget: HTMLSelectElement }) =>
    setOutcome(OUTCOMES.find(([value]) => value === event.currentTarget.value)?.[0] ?? 'completed');
  return html`
    <label class="visually-hidden" for="outcome">Outcome of a simulated payment</label>
    <select id="outcome" class="inline" value=${outcome} onChange=${chosen}>
      ${OUTCOMES.map(([value, text]) => html`<option value=${value}>${text}</option>`)}
    </select>
    <button type="button" disabled=${isBusy} onClick=${() => run(() => simulate(id, outcome).then(changed))}>
      Simulate
    </button>
    ${problem !== undefined && h(ProblemNotice, { problem })}
  `;
}

function expire(id: string): Promise<unknown> {
  const params = { path: { checkout_session_id: id }, header: { 'Idempotency-Key': idempotencyKey() } };
  return answerOf(api.POST('/api/v1/checkout-sessions/{checkout_session_id}/expire', { params }));
}

function simulate(id: string, outcome: Outcome): Promise<unknown> {
  const params = { path: { checkout_session_id: id }, header: { 'Idempotency-Key': idempotencyKey() } };
  return answerOf(
    api.POST('/api/v1/test/sessions/{checkout_session_id}/simulate', { params, body: { outcome } }),
  );
}
