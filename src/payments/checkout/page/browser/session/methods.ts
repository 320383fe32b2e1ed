import { html } from 'htm/preact';
import { type ComponentChildren, Fragment, type VNode } from 'preact';
import { plainUnits, unitsText } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { transferAddress } from '../offer.ts';
import { type QrPath, QrPicture } from '../qr-picture.ts';
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
}

/** The ways to pay, the one that works here first (Decision 443); null when there is nothing to pay. */
export function Methods(props: { view: ShownSession; wallets: WalletOffer }): VNode | null {
  const { view } = props;
  if (!asksForPayment(view)) return null;
  const ways = h(Ways, props);
  if (pageState(view) !== 'sent') return ways;
  return html`<details class="fold">
    <summary>Not sent yet?</summary>
    <p class="note">Please check your wallet first: a payment that is sent twice is paid twice.</p>
    ${ways}
  </details>`;
}

function Ways({ view, wallets }: { view: ShownSession; wallets: WalletOffer }): VNode {
  const { checkout, transfer, pageUrl } = view;
  const owed = unitsText(owedByWallet(view), checkout.token);
  const hasWallet = wallets.wallets.length > 0;
  const wallet = h(WalletWay, {
    key: 'wallet',
    label: checkout.button_text,
    owed,
    hasCode: transfer !== null,
    wallets,
  });
  const others = [
    ...(hasWallet ? [] : [h(WalletApps, { key: 'apps', uri: transfer?.uri, pageUrl })]),
    transfer === null ? walletOnlyNote() : h(TransferWay, { key: 'transfer', view, transfer }),
  ];
  const isFirst = hasWallet || transfer === null;
  return h(Fragment, { children: isFirst ? [wallet, ...others] : [...others, wallet] });
}

function walletOnlyNote(): VNode {
  return html`<p class="note">This checkout can be paid with the wallet button only. A transfer from elsewhere could not be told apart from other payments.</p>`;
}

interface Transfer {
  readonly view: SessionView;
  readonly transfer: TransferFacts;
}

function TransferWay({ view, transfer }: Transfer): VNode {
  const { checkout, state, seesContracts } = view;
  const { token, chain } = checkout;
  const { uri, uriCode, addressCode, anyAmount } = transfer;
  const recipient = transferAddress(checkout);
  const asked = unitsText(owedByTransfer(view), token);
  return html`<section class="way" aria-labelledby="transfer-title">
    <h2 id="transfer-title">Send it from ${seesContracts ? 'anywhere' : 'your own wallet'}</h2>
    ${h(AskedAmount, { view, transfer })}
    <div class="transfer">
      <div class="code" id="code">
        <a class="show-code" href="#code">Show the QR code</a>
        ${h(QrPicture, { drawing: uriCode, label: `QR code for wallets: send ${asked} on ${chain.name} to ${recipient}` })}
        <a class="open-wallet" href=${uri}>Open in a wallet app</a>
      </div>
      <dl class="facts">
        ${h(CopiedFact, { name: 'To address', value: recipient, copied: 'address' })}
        <div class="fact"><dt>Network</dt><dd>${network(view)}</dd></div>
        ${NATIVE.test(token.address) ? null : h(CopiedFact, { name: `${token.symbol} contract`, value: token.address, copied: 'contract' })}
      </dl>
    </div>
    <div class="more">${h(CopyText, { text: uri, copied: 'payment link', label: 'Copy payment link' })}</div>
    ${anyAmount !== null && h(AnyAmountCode, { view, anyAmount })}
    <details class="fold">
      <summary>Your wallet cannot read this code?</summary>
      <p>This one contains only the address. Choose ${token.symbol} on ${chain.name} in your wallet and enter ${asked} yourself.</p>
      ${h(QrPicture, { drawing: addressCode, label: `QR code of the address ${recipient}` })}
    </details>
    ${
      state.amount_received !== '0' &&
      anyAmount === null &&
      html`<p class="hint">A payment from a different wallet is not added to the first one.</p>`
    }
  </section>`;
}

/** The only network on which the money reaches the merchant. */
function network({ checkout: { chain, deposit_address: deposit } }: SessionView): string {
  return deposit === null
    ? `${chain.name}, and no other`
    : `Only on ${chain.name}. What is sent to it on another network may be lost.`;
}

/** Code of a deposit address for a payer who types the amount. */
function AnyAmountCode({
  view,
  anyAmount: { uri, uriCode },
}: {
  view: SessionView;
  anyAmount: NonNullable<TransferFacts['anyAmount']>;
}): VNode {
  const { token, chain } = view.checkout;
  return html`<details class="fold">
    <summary>You want to choose the amount yourself?</summary>
    <p>This code leaves the amount of ${token.symbol} open. Send the rest later, to the same address.</p>
    ${h(QrPicture, { drawing: uriCode, label: `QR code for wallets: send ${token.symbol} on ${chain.name} to ${transferAddress(view.checkout)}, any amount` })}
    <p><a class="open-wallet" href=${uri}>Open in a wallet app without an amount</a></p>
  </details>`;
}

/** The amount of a transfer, in large type, with its tail marked, and what may be sent instead. */
function AskedAmount({ view, transfer }: Transfer): VNode {
  const { checkout } = view;
  const { symbol, decimals } = checkout.token;
  const exact = plainUnits(owedByTransfer(view), decimals);
  const price = plainUnits(BigInt(checkout.amount), decimals);
  const tail = owedByTransfer(view) > BigInt(checkout.amount) ? exact.slice(commonLength(exact, price)) : '';
  const head = exact.slice(0, exact.length - tail.length);
  return html`<div class="exact">
    <p class="exact-amount">
      <strong class="amount">${head}${tail !== '' && html`<span class="tail">${tail}</span>`}</strong> <span>${symbol}</span> ${h(CopyText, { text: exact, copied: 'amount', className: 'copy' })}
    </p>
    <p class="note">${transfer.anyAmount === null ? exactly(view, transfer) : anyAmountCounts(view)}</p>
  </div>`;
}

/** Explanation of a deposit address (Decision 402). */
function anyAmountCounts({ checkout: { merchant } }: SessionView): ComponentChildren {
  return html`<strong>Any amount counts, in one or several parts.</strong> The address below belongs to this checkout alone, and can only pay ${merchant.name}. What arrives is counted, so fees of an exchange come on top.`;
}

/** Explanation of the exact amount and of the highest possible tail (Decision 132). */
function exactly(
  { checkout, state, seesContracts }: SessionView,
  transfer: TransferFacts,
): ComponentChildren {
  if (state.amount_received !== '0') return 'Send it from the same wallet as before.';
  const { token } = checkout;
  const price = BigInt(checkout.amount);
  const tail = BigInt(checkout.amount_due) - price;
  const least = unitsText(BigInt(transfer.leastLargestTail), token);
  return html`<strong>Send exactly this amount, to the last digit.</strong> The last digits tell your payment apart from others. ${
    tail > 0n &&
    `This is ${unitsText(tail, token)} more than the price. The difference is at most ${unitsText(BigInt(transfer.largestTail), token)}: 1 % of the price or ${least}, whichever is larger. `
  }${seesContracts ? 'Fees of an exchange come on top.' : `${token.symbol} that an exchange or a contract sends may not be recognised.`}`;
}

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}
