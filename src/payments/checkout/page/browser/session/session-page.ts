import { html } from 'htm/preact';
import { type ComponentChildren, Fragment, type VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { h } from '#pages/browser/element.ts';
import { Contact } from '../contact.ts';
import { httpsOnly, type Offer, OfferSummary } from '../offer.ts';
import { useTexts } from '../texts.ts';
import { NO_WALLETS, type WalletOffer } from '../wallet/wallet-way.ts';
import { Candidates } from './candidates.ts';
import { Methods, type ShownSession } from './methods.ts';
import { Countdown, LocalTime } from './payer-parts.ts';
import { isReceipt, Receipt } from './receipt.ts';
import { RefundAddressForm, type RefundStatement } from './refund-address.ts';
import { type PaymentReporter, ReportPayment } from './report-payment.ts';
import {
  asksForPayment,
  isDecided,
  type PageState,
  pageState,
  reservedUntil,
  type SessionView,
  StatusPanel,
} from './states.ts';

interface SessionPageProps {
  readonly view: ShownSession;
  readonly wallets?: WalletOffer;
  /** Form for the destination of a refund; absent on the server. */
  readonly statement?: RefundStatement;
  /** Absent on the server, where nothing can be reported. */
  readonly report?: PaymentReporter;
  /** Sentence about the connection; empty while it is good. */
  readonly connection?: string;
}

/** States in which a payment that was made may not show yet. */
const WAITING: readonly PageState[] = [
  'waiting',
  'sent',
  'stalled',
  'reserved',
  'closing',
  'partial',
  'failed',
  'dropped',
  'expired',
  'sold_out',
];

/** Content of a checkout's page: the offer, the ways to pay, the progress of the payment, and finally the receipt. */
export function SessionPage({
  view,
  wallets = NO_WALLETS,
  statement,
  report,
  connection = '',
}: SessionPageProps): VNode {
  const texts = useTexts();
  const { section, status } = useFocusOnChange(pageState(view));
  return h(Fragment, {
    children: html`
      ${h(OfferSummary, { offer: offerOf(view) })}
      <section class="payment" id="payment" aria-label=${texts.form.payment} tabindex="-1" ref=${section}>
        <div id="status" role="status" aria-live="polite" ref=${status}>
          ${h(StatusPanel, { view })}${h(DelayNotice, { view })}${h(ReservedNotice, { view })}
        </div>
        <div>${h(Candidates, { view, wallets })}</div>
        <div>${asksMerchant(view) && h(Contact, { merchant: view.checkout.merchant })}</div>
        <div>${h(TimeLeft, { view })}</div>
        <div id="methods">${h(Methods, { view, wallets })}</div>
        <div>${report !== undefined && WAITING.includes(pageState(view)) && h(ReportPayment, { report })}</div>
        <div>${h(Receipt, { view })}</div>
        ${statement !== undefined && h(RefundAddressForm, { view, wallets, statement })}
        <div id="leave">${h(WayOut, { view })}</div>
        <p class="hint" id="connection" role="status">${connection}</p>
      </section>
    `,
  });
}

/** Scrolls to the status when it changes, and keeps the focus in the payment when its element is gone. */
function useFocusOnChange(state: string) {
  const section = useRef<HTMLElement>(null);
  const status = useRef<HTMLDivElement>(null);
  const shown = useRef(state);
  const hadFocus = section.current?.contains(document.activeElement) ?? false;
  useEffect(() => {
    if (shown.current === state) return;
    shown.current = state;
    if (hadFocus && document.activeElement === document.body) section.current?.focus({ preventScroll: true });
    status.current?.scrollIntoView({ block: 'nearest' });
  }, [state]);
  return { section, status };
}

function offerOf({ checkout }: SessionView): Offer {
  const { merchant, name, description, items, token, chain, shipping_option: shipping } = checkout;
  return {
    merchant,
    name,
    description,
    imageUrl: checkout.image_url,
    items,
    token,
    chainName: chain.name,
    total: checkout.amount,
    extras: shipping === null ? [] : [{ name: shipping.name, amount: shipping.amount }],
  };
}

function TimeLeft({ view }: { view: SessionView }): ComponentChildren {
  if (!asksForPayment(view) || pageState(view) === 'sent') return null;
  const { time } = useTexts();
  const { expires_at: end } = view.state;
  const reserved = reservedUntil(view);
  return html`
    ${h(Countdown, { end, leftMs: Date.parse(end) - view.now })}
    ${reserved !== undefined && html`<p class="hint" id="reserved">${time.reserved(h(LocalTime, { iso: reserved }))}</p>`}
  `;
}

/** Notice that payments on the chain are detected late (Decision 131). */
function DelayNotice({ view }: { view: SessionView }): VNode | null {
  const { time } = useTexts();
  if (!view.state.is_chain_late || isDecided(view)) return null;
  return html`<p class="hint">${time.late(view.checkout.chain.name)}</p>`;
}

/** Notice for the payer of a part, or of a payment that failed, that no use is free for the rest (Decision 359). */
function ReservedNotice({ view }: { view: SessionView }): VNode | null {
  const { closed } = useTexts();
  const isSaid = !UNPAID_PARTS.includes(pageState(view));
  return isSaid || !view.state.all_uses_reserved ? null : html`<p class="hint">${closed.reserved.text}</p>`;
}

const UNPAID_PARTS: readonly PageState[] = ['partial', 'failed', 'dropped'];

/** States in which the payer may have a question that only the merchant can answer. */
const WITH_QUESTIONS: readonly PageState[] = [
  'expired',
  'overpaid',
  'paid_late',
  'sold_out',
  'paid_sold_out',
  'paid_unproven',
  'dropped',
];

function asksMerchant(view: SessionView): boolean {
  const { candidates, status } = view.state;
  const name = pageState(view);
  return (
    WITH_QUESTIONS.includes(name) || candidates.length > 0 || (name === 'partial' && status !== 'active')
  );
}

function WayOut({ view }: { view: SessionView }): VNode | null {
  const { time } = useTexts();
  const { cancel_url: given, merchant } = view.checkout;
  const url = httpsOnly(given ?? merchant.site_url);
  const name = pageState(view);
  if (url === null || isReceipt(name)) return null;
  const isGivingUp = asksForPayment(view) && name !== 'sent';
  return html`<p class="leave"><a href=${url} rel="noreferrer">${isGivingUp ? time.cancel(merchant.name) : time.back(merchant.name)}</a></p>`;
}
