import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import type { components } from '#generated/payments/types.ts';
import { h } from '#pages/browser/element.ts';
import type { Texts, Words } from '#payments/browser/languages/en.ts';
import { leftTooMuch, payerWords } from '#payments/browser/outcome-words.ts';
import { amountIn, useTexts } from '../texts.ts';
import { NextUse } from './payer-parts.ts';

type Checkout = components['schemas']['Checkout'];
type CheckoutState = components['schemas']['CheckoutState'];

/** Data of a session's page. */
export interface SessionView {
  readonly checkout: Checkout;
  readonly state: CheckoutState;
  /** The wallet that signed for the session; null for none. */
  readonly signedAddress: string | null;
  /** True when a payment is seen also if a contract sends it, as some exchanges do. */
  readonly seesContracts: boolean;
  /** Times in UTC milliseconds: of this data, and until which payments of an ended session are recognised. */
  readonly now: number;
  readonly recognisedUntil: number;
}

/**
 * State of a session's page: its outcome, or
 * - `sent`: claimed, but not seen on the chain yet
 * - `stalled`: nothing arrived, and payments on the chain are not read now
 * - `reserved`: nothing arrived, and all uses of the link that are left are reserved for others
 * - `closing`: past its end, but not decided yet
 */
export type PageState = Checkout['outcome'] | 'sent' | 'stalled' | 'reserved' | 'closing';

export function pageState({ state, now }: SessionView): PageState {
  const { outcome, status } = state;
  if (status !== 'active' || DECIDED.includes(outcome)) return outcome;
  if (Date.parse(state.expires_at) <= now) return 'closing';
  if (outcome !== 'waiting') return outcome;
  if (state.tx_hash !== null) return 'sent';
  if (state.accepts_payment) return 'waiting';
  // An open session without a payment waits for its chain or for a use, or its link has none left.
  if (state.is_chain_late) return 'stalled';
  return state.all_uses_reserved ? 'reserved' : 'sold_out';
}

/** Outcomes of an open session in which its end changes nothing. */
const DECIDED: readonly PageState[] = ['confirming', 'paid_late', 'paid_sold_out', 'paid_unproven'];
/** States in which the page may ask for a payment. */
const PAYABLE: readonly PageState[] = ['waiting', 'sent', 'partial', 'failed', 'dropped'];

/** True while the page shows how to pay (Decision 341). */
export function asksForPayment(view: SessionView): boolean {
  return view.state.accepts_payment && PAYABLE.includes(pageState(view));
}

/** Time until which a use is reserved for the payer, while the page asks for the payment; undefined for none. */
export function reservedUntil(view: SessionView): string | undefined {
  const { use_reserved_until: end } = view.state;
  return end !== null && asksForPayment(view) && Date.parse(end) > view.now ? end : undefined;
}

/** True when nothing more is expected to change. */
export function isDecided({ state }: SessionView): boolean {
  return state.status !== 'active' && state.outcome !== 'confirming';
}

/** Pace at which a page asks for its state: its session is open, has ended without being completed, or is final. */
export type PagePace = 'open' | 'ended' | 'final';

/** Pace of a page at a time in UTC milliseconds (Decision 364). */
export function paceOf({ state, recognisedUntil }: SessionView, now: number): PagePace {
  if (state.status === 'active' || state.payment_status === 'confirming') return 'open';
  return state.status === 'expired' && now < recognisedUntil ? 'ended' : 'final';
}

/**
 * Amount that a wallet that signed still owes, or that is missing at a deposit address, in smallest units: the rest of the
 * price, without a tail (Decision 132).
 */
export function owedByWallet({ state }: SessionView): bigint {
  return BigInt(state.amount_remaining);
}

/**
 * Amount that a transfer without the wallet button has to send, in smallest units. The first transfer is recognized by
 * its exact amount, later ones by the wallet of the first (Decisions 111 and 132).
 */
export function owedByTransfer(view: SessionView): bigint {
  const { state } = view;
  return BigInt(state.amount_received) === 0n ? BigInt(state.amount_due) : owedByWallet(view);
}

/** Current state in words. Its container is a live region, so screen readers announce each change. */
export function StatusPanel({ view }: { view: SessionView }): VNode {
  const texts = useTexts();
  const state = pageState(view);
  const [tone, name] = LOOKS[state];
  const { title, text } = wordsOf(view, state, texts);
  return html`<div class=${`status-panel ${tone}`} data-state-name=${state}>
    ${h(Icon, { name })}
    <div>
      <h2>${title}</h2>
      ${state === 'confirming' && h(Progress, { state: view.state })}
      ${text !== '' && html`<p>${text}${howToSend(view, state, texts)}${nextUse(view, state)}</p>`}
    </div>
  </div>`;
}

type Tone = 'calm' | 'busy' | 'good' | 'warning' | 'bad';

/** Colour and icon of each state. */
const LOOKS: Readonly<Record<PageState, readonly [Tone, IconName]>> = {
  waiting: ['calm', 'clock'],
  sent: ['busy', 'chain'],
  stalled: ['warning', 'clock'],
  reserved: ['warning', 'clock'],
  closing: ['warning', 'clock'],
  confirming: ['busy', 'chain'],
  partial: ['warning', 'attention'],
  failed: ['bad', 'stop'],
  paid: ['good', 'done'],
  overpaid: ['good', 'done'],
  paid_late: ['warning', 'attention'],
  sold_out: ['warning', 'stop'],
  paid_sold_out: ['warning', 'attention'],
  paid_unproven: ['warning', 'attention'],
  dropped: ['bad', 'attention'],
  expired: ['calm', 'clock'],
};

function wordsOf(view: SessionView, state: PageState, texts: Texts): Words {
  if (state === 'reserved') return texts.closed.reserved;
  if (state === 'sent' || state === 'stalled' || state === 'closing') return texts.states[state];
  const { checkout, state: facts } = view;
  const units = (amount: bigint) => amountIn(texts, amount, checkout.token);
  const unlessNothing = (amount: bigint) => (amount > 0n ? units(amount) : '');
  const returning = BigInt(facts.amount_reserved) - BigInt(facts.amount_refunded);
  return payerWords(
    state,
    {
      merchant: checkout.merchant.name,
      price: units(BigInt(checkout.amount)),
      received: units(BigInt(facts.amount_received)),
      missing: units(owedByWallet(view)),
      tooMuch: unlessNothing(leftTooMuch(facts)),
      sentBack: unlessNothing(BigInt(facts.amount_refunded)),
      returning: unlessNothing(returning),
      confirmations: texts.states.confirmed(facts.confirmations, facts.required_confirmations),
      status: facts.status,
      canPay: asksForPayment(view),
      isLate: facts.late,
      failureReason: facts.failure_reason,
    },
    texts,
  );
}

function Progress({ state }: Pick<SessionView, 'state'>): VNode {
  const { states } = useTexts();
  return html`<p><progress max=${state.required_confirmations} value=${state.confirmations} aria-label=${states.confirmations}></progress></p>`;
}

/** The time at which the payer may have the next chance, if it is known. */
function nextUse({ state: { next_use_at: next } }: SessionView, state: PageState): ComponentChildren {
  return state === 'reserved' && next !== null ? h(NextUse, { at: next }) : null;
}

/** Instruction for the payer of a part to send the rest, or that the page will give one. */
function howToSend(view: SessionView, state: PageState, texts: Texts): ComponentChildren {
  const { states } = texts;
  // How much is confirming is not known here, and may be a part.
  if (state === 'confirming' && view.checkout.deposit_address !== null && view.state.status === 'active')
    return ` ${states.restAfterwards}`;
  if (state !== 'partial' || !asksForPayment(view)) return null;
  const missing = amountIn(texts, owedByWallet(view), view.checkout.token);
  if (view.checkout.deposit_address !== null) return ` ${states.restAnyWallet(missing)}`;
  return view.signedAddress === null
    ? ` ${states.restButton(missing)}`
    : states.restSameWallet<ComponentChildren>(missing, html`<code>${view.signedAddress}</code>`);
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
