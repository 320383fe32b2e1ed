import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import type { components } from '#generated/payments/types.ts';
import { unitsText } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';

type Checkout = components['schemas']['Checkout'];
type CheckoutState = components['schemas']['CheckoutState'];

/** Data of a session's page. */
export interface SessionView {
  readonly checkout: Checkout;
  readonly state: CheckoutState;
  /** True when the chain dropped the payment after it had completed the session. */
  readonly isReorged: boolean;
  /** UTC milliseconds. */
  readonly now: number;
}

/**
 * State of a session's page:
 * - `sent`: claimed, but not seen on the chain yet
 * - `closing`: past its end, but not decided yet
 * - `late`: a payment came after the end
 * - `dropped`: the network dropped the payment after the receipt
 */
export type PageState =
  | 'awaiting'
  | 'sent'
  | 'confirming'
  | 'underpaid'
  | 'failed'
  | 'closing'
  | 'completed'
  | 'dropped'
  | 'late'
  | 'expired';

/** States in which the page asks for a payment. */
const PAYABLE: readonly PageState[] = ['awaiting', 'sent', 'underpaid', 'failed'];

/** States that can end only by a payment that is not expected any more. */
const FINAL: readonly PageState[] = ['completed', 'dropped', 'expired'];

export function pageState({ state, isReorged, now }: SessionView): PageState {
  const { status, payment_status: payment } = state;
  if (status === 'completed') return isReorged ? 'dropped' : 'completed';
  if (status === 'expired') {
    return state.late || payment === 'confirming' || BigInt(state.amount_received) > 0n ? 'late' : 'expired';
  }
  if (payment === 'confirming') return 'confirming';
  if (Date.parse(state.expires_at) <= now) return 'closing';
  if (payment === 'failed') return 'failed';
  if (payment === 'underpaid') return 'underpaid';
  return state.tx_hash === null ? 'awaiting' : 'sent';
}

export function isPayable(state: PageState): boolean {
  return PAYABLE.includes(state);
}

export function isFinalState(state: PageState): boolean {
  return FINAL.includes(state);
}

/**
 * Amount that a wallet that signed still owes, in smallest units: the rest of the price, without a tail (Decision 132).
 */
export function owedByWallet({ checkout, state }: SessionView): bigint {
  const missing = BigInt(checkout.amount) - BigInt(state.amount_received);
  return missing > 0n ? missing : 0n;
}

/**
 * Amount that a transfer without the wallet button has to send, in smallest units. The first transfer is recognized by
 * its exact amount, later ones by the wallet of the first (Decisions 111 and 132).
 */
export function owedByTransfer(view: SessionView): bigint {
  const { state } = view;
  return BigInt(state.amount_received) === 0n ? BigInt(state.amount_due) : owedByWallet(view);
}

interface StatusMessage {
  readonly tone: 'calm' | 'busy' | 'good' | 'warning' | 'bad';
  readonly icon: IconName;
  readonly title: string;
  readonly text: ComponentChildren;
}

const REASONS: Readonly<Record<string, string>> = {
  reverted: 'The network executed the transaction, but it failed; the amount was not transferred.',
  cancelled: 'The transaction was cancelled in the wallet before the network executed it.',
  replaced: 'The wallet sent another transaction in its place.',
  not_found: 'The transaction never appeared on the network.',
  reorged: 'The network dropped the transaction after it had appeared.',
};

/** Current state in words. Its container is a live region, so screen readers announce each change. */
export function StatusPanel({ view }: { view: SessionView }): VNode {
  const state = pageState(view);
  const { tone, icon: name, title, text } = MESSAGES[state](view);
  return html`<div class=${`status-panel ${tone}`} data-state-name=${state}>
    ${h(Icon, { name })}
    <div><h2>${title}</h2>${text}</div>
  </div>`;
}

const MESSAGES: Readonly<Record<PageState, (view: SessionView) => StatusMessage>> = {
  awaiting: () => ({ tone: 'calm', icon: 'clock', title: 'Waiting for your payment', text: null }),

  sent: () => ({
    tone: 'busy',
    icon: 'chain',
    title: 'Your payment is on its way',
    text: html`<p>It has been sent and has not appeared on the network yet. You may close this page.</p>`,
  }),

  confirming: ({ state }) => ({
    tone: 'busy',
    icon: 'chain',
    title: 'Payment detected, confirming',
    text: html`<p><progress max=${state.required_confirmations} value=${state.confirmations} aria-label="Confirmations"></progress></p>
      <p>${confirmationsText(state)}. You may close this page: the payment counts without it.</p>`,
  }),

  underpaid: view => {
    const { token } = view.checkout;
    const missing = unitsText(owedByWallet(view), token);
    return {
      tone: 'warning',
      icon: 'attention',
      title: `${missing} still to pay`,
      text: html`<p>${unitsText(BigInt(view.state.amount_received), token)} of ${unitsText(BigInt(view.checkout.amount), token)} received. Send the remaining ${missing} from the same wallet${
        view.state.payer_address !== null && html`, <code>${view.state.payer_address}</code>`
      }.</p>`,
    };
  },

  failed: ({ state }) => ({
    tone: 'bad',
    icon: 'stop',
    title: 'The payment failed',
    text: html`<p>${REASONS[state.failure_reason ?? '']} Nothing was received. You can try again below.</p>`,
  }),

  closing: () => ({
    tone: 'warning',
    icon: 'clock',
    title: 'The time to pay has ended',
    text: html`<p>Please do not send anything now. If you have paid, keep this page open: your payment may still be detected.</p>`,
  }),

  completed: ({ checkout }) => ({
    tone: 'good',
    icon: 'done',
    title: 'Paid. Thank you!',
    text: html`<p>${checkout.merchant.name} has received your payment.</p>`,
  }),

  dropped: ({ checkout }) => ({
    tone: 'bad',
    icon: 'attention',
    title: 'The network dropped your payment',
    text: html`<p>It had been confirmed and was dropped afterwards, which is very rare. Please contact ${checkout.merchant.name} before you pay again.</p>`,
  }),

  late: ({ checkout, state }) => ({
    tone: 'warning',
    icon: 'attention',
    title: 'Your payment did not complete this checkout',
    text: html`<p>${
      state.payment_status === 'confirming'
        ? html`It arrived after the deadline and is being confirmed (${confirmationsText(state)}).`
        : html`${unitsText(BigInt(state.amount_received), checkout.token)} arrived, but not everything in time.`
    } ${checkout.merchant.name} can see it. Please contact them, and do not pay again.</p>`,
  }),

  expired: ({ checkout }) => ({
    tone: 'calm',
    icon: 'clock',
    title: 'This checkout has expired',
    text: html`<p>No payment was matched to it in time. Please do not send anything now. If you have paid already, contact ${checkout.merchant.name}. Otherwise start again there.</p>`,
  }),
};

function confirmationsText({
  confirmations,
  required_confirmations: required,
}: SessionView['state']): string {
  return `${confirmations} of ${required} ${required === 1 ? 'confirmation' : 'confirmations'}`;
}

/** An icon next to a heading that says the same in words. */
type IconName = 'clock' | 'chain' | 'done' | 'attention' | 'stop';

const PATHS: Readonly<Record<IconName, string>> = {
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3.5 2',
  chain:
    'M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7l-1.3 1.3M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7l1.3-1.3',
  done: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM8 12.3l2.8 2.8L16.2 9.5',
  attention: 'M12 4 2.8 20h18.4zM12 10v4.5M12 17.2v.1',
  stop: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM9 9l6 6M15 9l-6 6',
};

function Icon({ name }: { name: IconName }): VNode {
  return html`<svg
    class="icon"
    aria-hidden="true"
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    stroke-width="1.8"
    stroke-linecap="round"
    stroke-linejoin="round"
  >
    <path d=${PATHS[name]} />
  </svg>`;
}
