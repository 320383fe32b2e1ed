import { html } from 'htm/preact';
import { type ComponentChildren, Fragment, type VNode } from 'preact';
import { plainUnits } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import type { Texts } from '#payments/browser/languages/en.ts';
import { transferAddress } from '../offer.ts';
import { type QrPath, QrPicture } from '../qr-picture.ts';
import { amountIn, buttonTextIn, useTexts } from '../texts.ts';
import { WalletApps } from '../wallet/wallet-apps.ts';
import { NATIVE } from '../wallet/wallet-provider.ts';
import { type WalletOffer, WalletWay } from '../wallet/wallet-way.ts';
import { CopiedFact, CopyText } from './payer-parts.ts';
import { asksForPayment, owedByTransfer, owedByWallet, pageState, type SessionView } from './states.ts';

/** Parts of a transfer without the wallet button, as the server computes them. Amounts are decimal strings. */
export interface TransferFacts {
  readonly uri: string;
  /** QR codes of the URI and of the address alone. */
  readonly uriCode: QrPath;
  readonly addressCode: QrPath;
  /** The URI without an amount, for a deposit address; null for an exact amount. */
  readonly anyAmount: { readonly uri: string; readonly uriCode: QrPath } | null;
  /** The largest tail of the price, and of a very small one (Decision 132). */
  readonly largestTail: string;
  readonly leastLargestTail: string;
}

/** A session's page as the server and the browser show it. `transfer` is null when nothing can be sent. */
export interface ShownSession extends SessionView {
  readonly transfer: TransferFacts | null;
  /** Address of the page for payers. */
  readonly pageUrl: string;
  /** The payer's address as people read it, with its checksum; null while it is not known. */
  readonly payerAddress: string | null;
}

/** The ways to pay, the one that works here first (Decision 443); null when there is nothing to pay. */
export function Methods(props: { view: ShownSession; wallets: WalletOffer }): VNode | null {
  const { view } = props;
  if (!asksForPayment(view)) return null;
  const texts = useTexts();
  const ways = h(Ways, props);
  if (pageState(view) !== 'sent') return ways;
  return html`<details class="fold">
    <summary>${texts.ways.notSent}</summary>
    <p class="note">${texts.ways.twice}</p>
    ${ways}
  </details>`;
}

function Ways({ view, wallets }: { view: ShownSession; wallets: WalletOffer }): VNode {
  const texts = useTexts();
  const { checkout, transfer, pageUrl } = view;
  const owed = amountIn(texts, owedByWallet(view), checkout.token);
  const hasWallet = wallets.wallets.length > 0;
  const wallet = h(WalletWay, {
    key: 'wallet',
    label: buttonTextIn(checkout.button_text, texts.form.pay),
    owed,
    hasCode: transfer !== null,
    wallets,
  });
  const others = [
    ...(hasWallet ? [] : [h(WalletApps, { key: 'apps', uri: transfer?.uri, pageUrl })]),
    transfer === null
      ? html`<p class="note" key="note">${texts.ways.walletOnly}</p>`
      : h(TransferWay, { key: 'transfer', view, transfer }),
  ];
  const isFirst = hasWallet || transfer === null;
  return h(Fragment, { children: isFirst ? [wallet, ...others] : [...others, wallet] });
}

interface Transfer {
  readonly view: SessionView;
  readonly transfer: TransferFacts;
}

function TransferWay({ view, transfer }: Transfer): VNode {
  const texts = useTexts();
  const { ways } = texts;
  const { checkout, state, seesContracts } = view;
  const { token, chain } = checkout;
  const { uri, uriCode, addressCode, anyAmount } = transfer;
  const recipient = transferAddress(checkout);
  const asked = amountIn(texts, owedByTransfer(view), token);
  return html`<section class="way" aria-labelledby="transfer-title">
    <h2 id="transfer-title">${seesContracts ? ways.fromAnywhere : ways.fromWallet}</h2>
    ${h(AskedAmount, { view, transfer })}
    <div class="transfer">
      <div class="code" id="code">
        <a class="show-code" href="#code">${ways.showCode}</a>
        ${h(QrPicture, { drawing: uriCode, label: ways.codeOf(asked, chain.name, recipient) })}
        <a class="open-wallet" href=${uri}>${ways.openApp}</a>
      </div>
      <dl class="facts">
        ${h(CopiedFact, { name: ways.to, value: recipient, copied: ways.address })}
        <div class="fact"><dt>${ways.network}</dt><dd>${network(view, texts)}</dd></div>
        ${NATIVE.test(token.address) ? null : h(CopiedFact, { name: ways.contract(token.symbol), value: token.address, copied: ways.contractCopied })}
      </dl>
    </div>
    <div class="more">${h(CopyText, { text: uri, copied: ways.link, label: ways.copyLink })}</div>
    ${anyAmount !== null && h(AnyAmountCode, { view, anyAmount })}
    <details class="fold">
      <summary>${ways.unreadable}</summary>
      <p>${ways.addressOnly(token.symbol, chain.name, asked)}</p>
      ${h(QrPicture, { drawing: addressCode, label: ways.addressCode(recipient) })}
    </details>
    ${state.amount_received !== '0' && anyAmount === null && html`<p class="hint">${ways.otherWallet}</p>`}
  </section>`;
}

/** The only network on which the money reaches the merchant. */
function network({ checkout: { chain, deposit_address: deposit } }: SessionView, { ways }: Texts): string {
  return deposit === null ? ways.onlyOn(chain.name) : ways.onlyOnDeposit(chain.name);
}

/** Code of a deposit address for a payer who types the amount. */
function AnyAmountCode({
  view,
  anyAmount: { uri, uriCode },
}: {
  view: SessionView;
  anyAmount: NonNullable<TransferFacts['anyAmount']>;
}): VNode {
  const { ways } = useTexts();
  const { token, chain } = view.checkout;
  const label = ways.openCodeOf(token.symbol, chain.name, transferAddress(view.checkout));
  return html`<details class="fold">
    <summary>${ways.chooseAmount}</summary>
    <p>${ways.amountOpen(token.symbol)}</p>
    ${h(QrPicture, { drawing: uriCode, label })}
    <p><a class="open-wallet" href=${uri}>${ways.openAppNoAmount}</a></p>
  </details>`;
}

/** The amount of a transfer, in large type, with its tail marked, and what may be sent instead. */
function AskedAmount({ view, transfer }: Transfer): VNode {
  const texts = useTexts();
  const { checkout } = view;
  const { symbol, decimals } = checkout.token;
  const exact = plainUnits(owedByTransfer(view), decimals);
  const price = plainUnits(BigInt(checkout.amount), decimals);
  const tail = owedByTransfer(view) > BigInt(checkout.amount) ? exact.slice(commonLength(exact, price)) : '';
  const head = exact.slice(0, exact.length - tail.length);
  return html`<div class="exact">
    <p class="exact-amount">
      <strong class="amount">${head}${tail !== '' && html`<span class="tail">${tail}</span>`}</strong> <span>${symbol}</span> ${h(CopyText, { text: exact, copied: texts.ways.amount, className: 'copy' })}
    </p>
    <p class="note">${transfer.anyAmount === null ? exactly(view, transfer, texts) : anyAmountCounts(view, texts)}</p>
  </div>`;
}

/** Explanation of a deposit address (Decision 402). */
function anyAmountCounts({ checkout: { merchant } }: SessionView, { ways }: Texts): ComponentChildren {
  return html`<strong>${ways.anyAmount}</strong> ${ways.anyAmountNote(merchant.name)}`;
}

/** Explanation of the exact amount and of the highest possible tail (Decision 132). */
function exactly(
  { checkout, state, seesContracts }: SessionView,
  transfer: TransferFacts,
  texts: Texts,
): ComponentChildren {
  const { ways } = texts;
  if (state.amount_received !== '0') return ways.sameWallet;
  const { token } = checkout;
  const price = BigInt(checkout.amount);
  const tail = BigInt(checkout.amount_due) - price;
  const [shown, most, least] = [tail, transfer.largestTail, transfer.leastLargestTail].map(units =>
    amountIn(texts, BigInt(units), token),
  );
  return html`<strong>${ways.exactly}</strong> ${ways.exactlyWhy} ${
    tail > 0n && `${ways.tail(shown ?? '', most ?? '', least ?? '')} `
  }${seesContracts ? ways.fees : ways.noContracts(token.symbol)}`;
}

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}
