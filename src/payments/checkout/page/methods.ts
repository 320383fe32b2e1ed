import { paymentUri } from '../../model/payment-uri.ts';
import { amountText, tokenAmount } from '../../model/token-amount.ts';
import { type Html, html, type Piece } from './html.ts';
import { qrCode } from './qr.ts';
import { isPayable, missingAmount, pageState, type SessionView } from './states.ts';

const NATIVE = /^0x0{40}$/;

/** The ways to pay, while there is something to pay. */
export function methods(view: SessionView): Piece {
  const state = pageState(view);
  if (!isPayable(state)) return null;
  const ways = html`${walletWay(view)}
${view.checkout.wallet_only ? walletOnlyNote() : transferWay(view)}`;
  if (state !== 'sent') return ways;
  return html`<details class="fold"><summary>It was not sent after all?</summary>
<p class="note">Please look into your wallet first: what was sent twice is paid twice.</p>
${ways}
</details>`;
}

/** Filled by the script, which alone can talk to wallets. */
function walletWay(view: SessionView): Html {
  const { checkout } = view;
  const missing = missingAmount(view);
  return html`<section class="way" aria-labelledby="wallet-title">
<h2 id="wallet-title">Pay with your wallet</h2>
<noscript><p class="note">To pay from a wallet of this browser, please allow scripts on this page.</p></noscript>
<div id="wallet" data-amount="${missing}" data-button="${checkout.button_text}" data-amount-text="${amountText(missing, checkout.token)}">
<button class="primary" type="button" id="pay" disabled><span>${checkout.button_text}</span> <span class="button-amount">${amountText(missing, checkout.token)}</span></button>
<ul class="wallets" id="wallets" hidden></ul>
<p class="wallet-status" id="wallet-status" role="status"></p>
</div>
</section>`;
}

function walletOnlyNote(): Html {
  return html`<p class="note">Many people are paying this merchant right now. Only a payment from the wallet button can be told apart from theirs, so please use that, or come back a little later to pay by code.</p>`;
}

function transferWay(view: SessionView): Html {
  const { checkout, state } = view;
  const { token, chain, recipient_address: recipient } = checkout;
  const missing = missingAmount(view);
  const uri = paymentUri({
    chainId: chain.id,
    tokenAddress: token.address,
    recipientAddress: recipient,
    amount: missing,
  });
  const asked = amountText(missing, token);
  return html`<section class="way" aria-labelledby="transfer-title">
<h2 id="transfer-title">Or send it from anywhere</h2>
<div class="transfer">
<div class="code">${qrCode(uri, `QR code for wallets: send ${asked} on ${chain.name} to ${recipient}`)}
<a class="open-wallet" href="${uri}">Open in a wallet app</a></div>
<dl class="facts">
${fact('Exact amount', tokenAmount(missing, token.decimals), { unit: token.symbol, copied: 'amount' })}
${fact('To address', recipient, { copied: 'address', isCode: true })}
<div class="fact"><dt>Network</dt><dd>${chain.name}, and no other</dd></div>
${NATIVE.test(token.address) ? null : fact(`${token.symbol} contract`, token.address, { copied: 'contract', isCode: true })}
</dl>
</div>
<p class="note">${exactly(view)}</p>
<div class="more"><button type="button" class="quiet" data-copy="${uri}" data-copied="payment link" hidden>Copy payment link</button></div>
<details class="fold"><summary>Does your wallet not understand the code?</summary>
<p>This one holds the address alone. Choose ${token.symbol} on ${chain.name} in your wallet and enter ${asked} yourself.</p>
${qrCode(recipient, `QR code of the address ${recipient}`)}
</details>
${state.amount_received === '0' ? null : html`<p class="hint">A payment from another wallet than the first is not added up.</p>`}
</section>`;
}

/** Why every digit counts. Decision 110. */
function exactly(view: SessionView): Piece {
  const { checkout, state } = view;
  if (state.amount_received !== '0') return 'Send it from the same wallet as before.';
  const extra = BigInt(checkout.amount_due) - BigInt(checkout.amount);
  return html`<strong>Send exactly this amount, to the last digit.</strong> It tells your payment apart from others${
    extra > 0n && `, which is why it is ${amountText(extra, checkout.token)} more than the price`
  }. Fees of an exchange come on top.`;
}

/** A value with a button that copies it, which the script shows. */
function fact(
  name: string,
  value: string,
  { unit, copied, isCode = false }: { unit?: string; copied: string; isCode?: boolean },
): Html {
  return html`<div class="fact"><dt>${name}</dt><dd>${isCode ? html`<code>${value}</code>` : html`<strong class="amount">${value}</strong>`}${
    unit !== undefined && html` ${unit}`
  } <button type="button" class="quiet copy" data-copy="${value}" data-copied="${copied}" aria-label="Copy ${copied}" hidden>Copy</button></dd></div>`;
}
