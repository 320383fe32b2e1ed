import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { unitsText } from '#pages/browser/amounts.ts';
import { candidateText, PROOF_HINT } from '#payments/browser/candidate-words.ts';
import { confirmationsText } from '#payments/browser/transfer-words.ts';
import type { WalletOffer } from '../wallet/wallet-way.ts';
import { asksForPayment, type SessionView } from './states.ts';

/** Transfers that arrived and could be the payer's, with the way to prove one; null for none (Decision 342). */
export function Candidates({ view, wallets }: { view: SessionView; wallets: WalletOffer }): VNode | null {
  const { checkout, state } = view;
  if (state.candidates.length === 0) return null;
  const { merchant, token } = checkout;
  const amounts = state.candidates.map(candidate => {
    const isConfirmed = candidate.confirmations >= candidate.required_confirmations;
    const amount = unitsText(BigInt(candidate.amount), token);
    return isConfirmed ? amount : `${amount} (${confirmationsText(candidate)})`;
  });
  const isOnly = amounts.length === 1 && state.candidates.every(one => one.is_only);
  return html`<section class="candidates" aria-labelledby="candidates-title">
    <h2 id="candidates-title">A payment arrived that could be yours</h2>
    <p>${candidateText({ amounts, isOnly, isOpen: asksForPayment(view), merchant: merchant.name })}</p>
    ${
      wallets.wallets.length === 0
        ? html`<p class="hint">${PROOF_HINT}</p>`
        : wallets.wallets.map(
            wallet => html`<button
              type="button"
              class="secondary"
              key=${wallet.id}
              disabled=${wallets.isLocked}
              onClick=${() => wallets.prove(wallet)}
            >
              It was mine: sign with ${wallet.name}
            </button>`,
          )
    }
    <p class="wallet-status" role="status" data-tone=${wallets.proof?.tone}>${wallets.proof?.text}</p>
  </section>`;
}
