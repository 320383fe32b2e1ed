import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { unitsText } from '#pages/browser/amounts.ts';
import { candidateText, PROOF_HINT } from '#payments/browser/candidate-words.ts';
import type { WalletOffer } from '../wallet/wallet-way.ts';
import { isDecided, type SessionView } from './states.ts';

/** Transfers that arrived and could be the payer's, with the way to prove one; null for none (Decision 342). */
export function Candidates({ view, wallets }: { view: SessionView; wallets: WalletOffer }): VNode | null {
  const { checkout, state } = view;
  if (state.candidates.length === 0) return null;
  const { merchant, token } = checkout;
  return html`<section class="way" aria-labelledby="candidates-title">
    <h2 id="candidates-title">A payment arrived that could be yours</h2>
    ${state.candidates.map(
      ({ amount, is_only }) =>
        html`<p class="note">${candidateText({ amount: unitsText(BigInt(amount), token), isOnly: is_only, merchant: merchant.name })}</p>`,
    )}
    ${
      wallets.wallets.length === 0
        ? html`<p class="hint">${PROOF_HINT}</p>`
        : wallets.wallets.map(
            wallet => html`<p key=${wallet.id}>
              <button type="button" class="secondary" disabled=${wallets.isLocked} onClick=${() => wallets.prove(wallet)}>
                It was mine: sign with ${wallet.name}
              </button>
            </p>`,
          )
    }
    ${
      // With a way to pay below, the message is there.
      (isDecided(view) || !state.accepts_payment) &&
      wallets.message !== undefined &&
      html`<p class="wallet-status" role="status" data-tone=${wallets.message.tone}>${wallets.message.text}</p>`
    }
  </section>`;
}
