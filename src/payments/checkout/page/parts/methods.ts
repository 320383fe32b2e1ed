import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { plainUnits, unitsText } from '#pages/browser/amounts.ts';
import { paymentUri } from '#payments/amounts/payment-uri.ts';
import { largestTail } from '#payments/amounts/token-amount.ts';
import { qrCode } from './qr.ts';
import { isPayable, owedByTransfer, owedByWallet, pageState, type SessionView } from './states.ts';

const NATIVE = /^0x0{40}$/;

/** The ways to pay; null when there is nothing to pay. */
export function methods(view: SessionView): VNode | null {
  const state = pageState(view);
  if (!isPayable(state)) return null;
  const ways = html`${walletWay(view)}${view.checkout.wallet_only ? walletOnlyNote() : transferWay(view)}`;
  if (state !== 'sent') return ways;
  return html`<details class="fold">
    <summary>Not sent yet?</summary>
    <p class="note">Please check your wallet first: a payment that is sent twice is paid twice.</p>
    ${ways}
  </details>`;
}

/** The wallet button. Only the script can talk to wallets, so it fills this part. */
function walletWay(view: SessionView): VNode {
  const { button_text: label, token } = view.checkout;
  const owed = owedByWallet(view);
  const asked = unitsText(owed, token);
  return html`<section class="way" aria-labelledby="wallet-title">
    <h2 id="wallet-title">Pay with your wallet</h2>
    <noscript>
      <p class="note">To pay from a wallet of this browser, please allow scripts on this page.</p>
    </noscript>
    <div id="wallet" data-amount=${owed.toString()}>
      <button class="primary" type="button" id="pay" disabled>
        <span>${label}</span> <span class="button-amount">${asked}</span>
      </button>
      <ul class="wallets" id="wallets" hidden></ul>
      <p class="wallet-status" id="wallet-status" role="status"></p>
    </div>
  </section>`;
}

function walletOnlyNote(): VNode {
  return html`<p class="note">This checkout can be paid with the wallet button only. A transfer from elsewhere could not be told apart from other payments.</p>`;
}

function transferWay(view: SessionView): VNode {
  const { checkout, state } = view;
  const { token, chain, recipient_address: recipient } = checkout;
  const owed = owedByTransfer(view);
  const uri = paymentUri({
    chainId: chain.id,
    tokenAddress: token.address,
    recipientAddress: recipient,
    amount: owed,
  });
  const asked = unitsText(owed, token);
  return html`<section class="way" aria-labelledby="transfer-title">
    <h2 id="transfer-title">Or send it from anywhere</h2>
    ${exactAmount(view)}
    <div class="transfer">
      <div class="code">
        ${qrCode(uri, `QR code for wallets: send ${asked} on ${chain.name} to ${recipient}`)}
        <a class="open-wallet" href=${uri}>Open in a wallet app</a>
      </div>
      <dl class="facts">
        ${fact('To address', recipient, 'address')}
        <div class="fact"><dt>Network</dt><dd>${chain.name}, and no other</dd></div>
        ${NATIVE.test(token.address) ? null : fact(`${token.symbol} contract`, token.address, 'contract')}
      </dl>
    </div>
    <div class="more">
      <button type="button" class="quiet" data-copy=${uri} data-copied="payment link" hidden>Copy payment link</button>
    </div>
    <details class="fold">
      <summary>Your wallet cannot read this code?</summary>
      <p>This one contains only the address. Choose ${token.symbol} on ${chain.name} in your wallet and enter ${asked} yourself.</p>
      ${qrCode(recipient, `QR code of the address ${recipient}`)}
    </details>
    ${
      state.amount_received !== '0' &&
      html`<p class="hint">A payment from a different wallet is not added to the first one.</p>`
    }
  </section>`;
}

/** The amount of a transfer, in large type, with its tail marked and explained. */
function exactAmount(view: SessionView): VNode {
  const { checkout } = view;
  const { symbol, decimals } = checkout.token;
  const exact = plainUnits(owedByTransfer(view), decimals);
  const price = plainUnits(BigInt(checkout.amount), decimals);
  const tail = owedByTransfer(view) > BigInt(checkout.amount) ? exact.slice(commonLength(exact, price)) : '';
  const head = exact.slice(0, exact.length - tail.length);
  return html`<div class="exact">
    <p class="exact-amount">
      <strong class="amount">${head}${tail !== '' && html`<span class="tail">${tail}</span>`}</strong> <span>${symbol}</span> ${copyButton(exact, 'amount')}
    </p>
    <p class="note">${exactly(view)}</p>
  </div>`;
}

/** Explanation of the exact amount and of the highest possible tail (Decision 132). */
function exactly({ checkout, state }: SessionView): ComponentChildren {
  if (state.amount_received !== '0') return 'Send it from the same wallet as before.';
  const { token } = checkout;
  const price = BigInt(checkout.amount);
  const tail = BigInt(checkout.amount_due) - price;
  const least = unitsText(largestTail(0n, token.decimals), token);
  return html`<strong>Send exactly this amount, to the last digit.</strong> The last digits tell your payment apart from others. ${
    tail > 0n &&
    `This is ${unitsText(tail, token)} more than the price. The difference is at most ${unitsText(largestTail(price, token.decimals), token)}: 1 % of the price or ${least}, whichever is larger. `
  }Fees of an exchange come on top.`;
}

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

/** An address with a button to copy it. */
function fact(name: string, value: string, copied: string): VNode {
  return html`<div class="fact"><dt>${name}</dt><dd><code>${value}</code> ${copyButton(value, copied)}</dd></div>`;
}

/** A button to copy a value. The script shows it where there is a clipboard. */
function copyButton(value: string, copied: string): VNode {
  return html`<button
    type="button"
    class="quiet copy"
    data-copy=${value}
    data-copied=${copied}
    aria-label=${`Copy ${copied}`}
    hidden
  >Copy</button>`;
}
