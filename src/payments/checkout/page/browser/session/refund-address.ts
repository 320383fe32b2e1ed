import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { components } from '#generated/payments/types.ts';
import { h } from '#pages/browser/element.ts';
import { TextField } from '#pages/browser/fields.ts';
import { leftToReturn } from '#payments/browser/outcome-words.ts';
import { useTexts } from '../texts.ts';
import type { Wallet } from '../wallet/wallet-provider.ts';
import type { WalletOffer } from '../wallet/wallet-way.ts';
import { type PageState, pageState, type SessionView } from './states.ts';

export type RefundAddress = components['schemas']['RefundAddress'];

/** The address that the payer stated, and ways to state another one. */
export interface RefundStatement {
  readonly stated: RefundAddress | undefined;
  /** Sentence about the last attempt; empty before. */
  readonly said: string;
  readonly isBusy: boolean;
  /** True once the payer uses the form or has opened the page by a mailed link. The form is open from then on. */
  readonly isUsed: boolean;
  /** Token of the mailed link by which the page was opened; undefined without one. */
  readonly token: string | undefined;
  /** States an address: by the mailed link, signed if a wallet is given, else without proof. */
  readonly state: (address: string, wallet?: Wallet) => void;
  /** Asks for a mailed link. */
  readonly mail: () => void;
}

/** States in which money has arrived that the merchant may send back. */
const REFUNDABLE: readonly PageState[] = [
  'overpaid',
  'paid_late',
  'paid_sold_out',
  'paid_unproven',
  'partial',
];

/** True when the payer may state where a refund is to go: until all that is not the price was sent back. */
export function isRefundable(view: SessionView): boolean {
  return REFUNDABLE.includes(pageState(view)) && leftToReturn(view.state) > 0n;
}

interface RefundAddressFormProps {
  readonly view: SessionView;
  readonly wallets: WalletOffer;
  readonly statement: RefundStatement;
}

/** Form in which the payer states where a refund is to go, proved by the wallet that paid or not (Decision 351). */
export function RefundAddressForm({ view, wallets, statement }: RefundAddressFormProps): VNode | null {
  const { stated, said, isBusy, isUsed, token, state, mail } = statement;
  const { refund } = useTexts();
  const [typed, setTyped] = useState('');
  if (!isRefundable(view)) return null;
  const { merchant } = view.checkout;
  const submitted = (event: SubmitEvent) => {
    event.preventDefault();
    state(typed.trim());
  };
  return html`<details class="fold" id="refund-address" open=${isUsed}>
    <summary>${refund.where}</summary>
    <p class="note">${refund.note(merchant.name, view.checkout.chain.name)}</p>
    ${stated?.address != null && html`<p>${refund.stated} <code>${stated.address}</code>, ${refund.proofs[stated.proof ?? 'none']}</p>`}
    <form onSubmit=${submitted}>
      ${h(TextField, {
        label: refund.address,
        param: 'address',
        value: typed,
        isRequired: true,
        pattern: '0x[0-9a-fA-F]{40}',
        placeholder: '0x…',
        onValue: setTyped,
      })}
      ${
        token !== undefined
          ? html`<button class="secondary" disabled=${isBusy}>${refund.byLink}</button>`
          : html`${wallets.wallets.map(
              wallet =>
                html`<button type="button" class="secondary" key=${wallet.id} disabled=${isBusy} onClick=${() => state(typed.trim(), wallet)}>${refund.sign(wallet.name)}</button> `,
            )}
            <button class="secondary" disabled=${isBusy}>${refund.noProof}</button>
            <p class="hint">${refund.mailHint}</p>
            <button type="button" class="secondary" disabled=${isBusy} onClick=${mail}>${refund.mail}</button>`
      }
    </form>
    <p class="hint" role="status">${said}</p>
  </details>`;
}
