import { html } from 'htm/preact';
import { getAddress } from 'viem';
import type { Assets } from '#pages/assets.ts';
import { h } from '#pages/browser/element.ts';
import { webAddress } from '#pages/browser/reference.ts';
import { qrDrawing } from '#pages/qr.ts';
import { pictureAddress } from '#payments/browser/image-address.ts';
import type { Texts } from '#payments/browser/languages/en.ts';
import { paymentUri } from '../../amounts/payment-uri.ts';
import { largestTail } from '../../amounts/token-amount.ts';
import { httpsOnly, offerName, transferAddress } from './browser/offer.ts';
import type { ShownSession, TransferFacts } from './browser/session/methods.ts';
import { SessionPage } from './browser/session/session-page.ts';
import {
  asksForPayment,
  owedByTransfer,
  type PagePace,
  type PageState,
  paceOf,
  pageState,
  type SessionView,
} from './browser/session/states.ts';
import { pageText, SCRIPTS } from './document.ts';

/** Seconds after which a page that no script follows is reloaded. */
export const REFRESH_SECONDS: Readonly<Record<PagePace, number | undefined>> = {
  open: 20,
  ended: 60,
  final: undefined,
};
/** Beginnings of titles; none for other states. */
const TITLES: Partial<Readonly<Record<PageState, keyof Texts['titles']>>> = {
  sent: 'sent',
  confirming: 'confirming',
  partial: 'partial',
  failed: 'failed',
  paid: 'paid',
  overpaid: 'paid',
  paid_late: 'paid_late',
  sold_out: 'sold_out',
  paid_sold_out: 'sold_out',
  paid_unproven: 'paid_unproven',
  dropped: 'dropped',
  expired: 'expired',
};

/**
 * Page of a checkout. The script renders the same components again, from the same data, and reads the page again for
 * the data of each new state (Decision 213).
 */
export function sessionPage(
  { assets, texts }: { readonly assets: Assets; readonly texts: Texts },
  session: SessionView,
  pageUrl: string,
): string {
  const { checkout } = session;
  const view = shownSession(session, pageUrl);
  const name = pageState(view);
  const title = `${offerName(checkout, texts)} · ${checkout.merchant.name}`;
  const known = TITLES[name];
  return pageText(
    {
      title: known === undefined ? title : `${texts.titles[known]} · ${title}`,
      texts,
      assets,
      script: SCRIPTS.session,
      themeColor: checkout.theme_color,
      isTest: checkout.chain.is_testnet,
      refreshSeconds: REFRESH_SECONDS[paceOf(view, view.now)],
      isFollowed: true,
      merchant: checkout.merchant,
      isDeposit: checkout.deposit_address !== null,
    },
    html`<main class="checkout" data-page=${JSON.stringify(view)}>${h(SessionPage, { view })}</main>`,
  );
}

/**
 * A session with what only the server can work out. Of the merchant's URLs only those of https and of uploaded pictures
 * are passed on. Addresses of the chain get their checksum, because payers copy and compare them. `state` keeps those of
 * the API, with whose next state the script compares it.
 */
function shownSession(session: SessionView, pageUrl: string): ShownSession {
  const { checkout, state, signedAddress } = session;
  const { merchant, items, chain, token } = checkout;
  return {
    ...session,
    pageUrl,
    signedAddress: signedAddress && getAddress(signedAddress),
    payerAddress: state.payer_address && getAddress(state.payer_address),
    checkout: {
      ...checkout,
      recipient_address: getAddress(checkout.recipient_address),
      token: { ...token, address: getAddress(token.address) },
      merchant: { ...merchant, logo_url: pictureAddress(merchant.logo_url) },
      image_url: pictureAddress(checkout.image_url),
      items: items.map(item => ({ ...item, image_url: pictureAddress(item.image_url) })),
      chain: { ...chain, explorer_url: webAddress(chain.explorer_url) ?? null },
      return_url: httpsOnly(checkout.return_url),
      cancel_url: httpsOnly(checkout.cancel_url),
    },
    state: { ...state, return_url: httpsOnly(state.return_url) },
    transfer: canTransfer(session) ? transferFacts(session) : null,
  };
}

/** True when a transfer without the wallet button is recognized: the rest of a part has no exact amount. */
function canTransfer(session: SessionView): boolean {
  const { checkout, state, signedAddress } = session;
  if (!asksForPayment(session) || checkout.wallet_only) return false;
  if (checkout.deposit_address !== null) return true;
  return state.amount_received === '0' || signedAddress !== null;
}

function transferFacts(session: SessionView): TransferFacts {
  const { checkout } = session;
  const { token, chain } = checkout;
  const recipientAddress = transferAddress(checkout);
  const destination = { chainId: chain.id, tokenAddress: token.address, recipientAddress };
  const coded = (uri: string) => ({ uri, uriCode: qrDrawing(uri) });
  return {
    ...coded(paymentUri({ ...destination, amount: owedByTransfer(session) })),
    anyAmount: checkout.deposit_address === null ? null : coded(paymentUri(destination)),
    addressCode: qrDrawing(getAddress(recipientAddress)),
    largestTail: largestTail(BigInt(checkout.amount), token.decimals).toString(),
    leastLargestTail: largestTail(0n, token.decimals).toString(),
  };
}
