import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { plainUnits, unitsText } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { type QrPath, QrPicture } from '../qr-picture.ts';
import { NATIVE } from '../wallet/wallet-provider.ts';
import { type WalletOffer, WalletWay } from '../wallet/wallet-way.ts';
import { CopyText } from './payer-parts.ts';
import { asksForPayment, owedByTransfer, owedByWallet, pageState, type SessionView } from './states.ts';

/** Parts of a transfer without the wallet button, as the server computes them. Amounts are decimal strings. */
export interface TransferFacts {
  readonly uri: string;
  /** QR codes of the URI and of the address alone. */
  readonly uriCode: QrPath;
  readonly addressCode: QrPath;
  /** The largest tail of the price, and of a very small one (Decision 132). */
  readonly largestTail: string;
  readonly leastLargestTail: string;
}

/** A session's page as the server and the browser show it. `transfer` is null when nothing can be sent. */
export interface ShownSession extends SessionView {
  readonly transfer: TransferFacts | null;
}

/** The ways to pay; null when there is nothing to pay. */
export function Methods({ view, wallets }: { view: ShownSession; wallets: WalletOffer }): VNode | null {
  if (!asksForPayment(view)) return null;
  const { checkout, transfer } = view;
  const owed = unitsText(owedByWallet(view), checkout.token);
  const ways = html`
    ${h(WalletWay, { label: checkout.button_text, owed, hasCode: transfer !== null, wallets })}
    ${transfer === null ? walletOnlyNote() : h(TransferWay, { view, transfer })}
  `;
  if (pageState(view) !== 'sent') return ways;
  return html`<details class="fold">
    <summary>Not sent yet?</summary>
    <p class="note">Please check your wallet first: a payment that is sent twice is paid twice.</p>
    ${ways}
  </details>`;
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
  const { token, chain, recipient_address: recipient } = checkout;
  const { uri, uriCode, addressCode } = transfer;
  const asked = unitsText(owedByTransfer(view), token);
  return html`<section class="way" aria-labelledby="transfer-title">
    <h2 id="transfer-title">Or send it from ${seesContracts ? 'anywhere' : 'your own wallet'}</h2>
    ${h(ExactAmount, { view, transfer })}
    <div class="transfer">
      <div class="code">
        ${h(QrPicture, { drawing: uriCode, label: `QR code for wallets: send ${asked} on ${chain.name} to ${recipient}` })}
        <a class="open-wallet" href=${uri}>Open in a wallet app</a>
      </div>
      <dl class="facts">
        ${fact('To address', recipient, 'address')}
        <div class="fact"><dt>Network</dt><dd>${chain.name}, and no other</dd></div>
        ${NATIVE.test(token.address) ? null : fact(`${token.symbol} contract`, token.address, 'contract')}
      </dl>
    </div>
    <div class="more">${h(CopyText, { text: uri, copied: 'payment link', label: 'Copy payment link' })}</div>
    <details class="fold">
      <summary>Your wallet cannot read this code?</summary>
      <p>This one contains only the address. Choose ${token.symbol} on ${chain.name} in your wallet and enter ${asked} yourself.</p>
      ${h(QrPicture, { drawing: addressCode, label: `QR code of the address ${recipient}` })}
    </details>
    ${
      state.amount_received !== '0' &&
      html`<p class="hint">A payment from a different wallet is not added to the first one.</p>`
    }
  </section>`;
}

/** The amount of a transfer, in large type, with its tail marked and explained. */
function ExactAmount({ view, transfer }: Transfer): VNode {
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
    <p class="note">${exactly(view, transfer)}</p>
  </div>`;
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
  }${
    seesContracts
      ? 'Fees of an exchange come on top.'
      : `${token.symbol} that an exchange or a contract sends may not be recognised.`
  }`;
}

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

/** An address with a button to copy it. */
function fact(name: string, value: string, copied: string): VNode {
  return html`<div class="fact"><dt>${name}</dt><dd><code>${value}</code> ${h(CopyText, { text: value, copied, className: 'copy' })}</dd></div>`;
}
