import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { amountIn, useTexts } from '../texts.ts';
import type { WalletOffer } from '../wallet/wallet-way.ts';
import { asksForPayment, type SessionView } from './states.ts';

/** Transfers that arrived and could be the payer's, with the way to prove one; null for none (Decision 342). */
export function Candidates({ view, wallets }: { view: SessionView; wallets: WalletOffer }): VNode | null {
  const texts = useTexts();
  const { candidates: words, states } = texts;
  const { checkout, state } = view;
  if (state.candidates.length === 0) return null;
  const { merchant, token } = checkout;
  const amounts = state.candidates.map(candidate => {
    const isConfirmed = candidate.confirmations >= candidate.required_confirmations;
    const amount = amountIn(texts, BigInt(candidate.amount), token);
    return isConfirmed
      ? amount
      : `${amount} (${states.confirmed(candidate.confirmations, candidate.required_confirmations)})`;
  });
  const isOnly = amounts.length === 1 && state.candidates.every(one => one.is_only);
  return html`<section class="candidates" aria-labelledby="candidates-title">
    <h2 id="candidates-title">${words.title}</h2>
    <p>${words.text({ amounts, isOnly, isOpen: asksForPayment(view), merchant: merchant.name })}</p>
    ${
      wallets.wallets.length === 0
        ? html`<p class="hint">${words.hint}</p>`
        : wallets.wallets.map(
            wallet => html`<button
              type="button"
              class="secondary"
              key=${wallet.id}
              disabled=${wallets.isLocked}
              onClick=${() => wallets.prove(wallet)}
            >
              ${words.sign(wallet.name)}
            </button>`,
          )
    }
    <p class="wallet-status" role="status" data-tone=${wallets.proof?.tone}>${wallets.proof?.text}</p>
  </section>`;
}
