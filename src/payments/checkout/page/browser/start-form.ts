import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { components } from '#generated/payments/types.ts';
import { type Denomination, plainUnits, unitsText } from '#pages/browser/amounts.ts';
import { addressFields, amountField, formFields, shippingFields } from './fields.ts';

/** Terms of a link that its form shows. Amounts are in the token's smallest unit. */
export interface StartTerms {
  readonly token: Denomination;
  readonly chainName: string;
  /** Without shipping; null when the payer chooses between the bounds. */
  readonly price: bigint | null;
  readonly minAmount: bigint | null;
  readonly maxAmount: bigint | null;
  readonly suggestedAmount: bigint | null;
  readonly fields: readonly components['schemas']['FormField'][];
  readonly collectShippingAddress: boolean;
  readonly shippingOptions: readonly components['schemas']['ShippingOption'][];
  readonly buttonText: string;
}

export interface StartFormProps {
  readonly terms: StartTerms;
  readonly shortCode: string;
  /** From the URL that the payer opened; null when it had none. */
  readonly clientReferenceId?: string | null;
  /** False until a script can start a checkout. */
  readonly isReady?: boolean;
}

/** Form that starts a checkout of a link. */
export function StartForm({
  terms,
  shortCode,
  clientReferenceId = null,
  isReady = false,
}: StartFormProps): VNode {
  const { token, chainName, price, shippingOptions, buttonText } = terms;
  return html`<form
    id="start"
    method="post"
    data-short-code=${shortCode}
    data-symbol=${token.symbol}
    data-decimals=${token.decimals}
    data-price=${price?.toString()}
  >
    ${
      clientReferenceId !== null &&
      html`<input type="hidden" name="clientReferenceId" value=${clientReferenceId} />`
    }
    ${price === null && chosenAmount(terms)}
    ${formFields(terms.fields)}
    ${terms.collectShippingAddress && addressFields()}
    ${shippingFields(shippingOptions, token)}
    <p class="error" id="form-error" role="alert" hidden></p>
    <noscript>
      <p class="note">To begin, please allow scripts on this page. They come from this site only.</p>
    </noscript>
    <button class="primary" type="submit" disabled=${!isReady}>
      <span>${buttonText}</span> <span class="button-amount" id="total">
        ${price !== null && unitsText(price + firstShipping(shippingOptions), token)}
      </span>
    </button>
    <p class="hint">You pay in ${token.symbol} on ${chainName}, from any wallet. Nothing is charged yet.</p>
  </form>`;
}

/** Price of the first shipping option, which is selected at first; 0 without one. */
export function firstShipping(options: StartTerms['shippingOptions']): bigint {
  return BigInt(options[0]?.amount ?? 0);
}

function chosenAmount(terms: StartTerms): VNode {
  const { token, minAmount, maxAmount, suggestedAmount } = terms;
  return amountField(token, {
    hint: boundsText(terms),
    suggested: suggestedAmount === null ? undefined : plainUnits(suggestedAmount, token.decimals),
    least: minAmount ?? 1n,
    most: maxAmount,
  });
}

function boundsText({ minAmount, maxAmount, token }: StartTerms): string | undefined {
  const [least, most] = [minAmount, maxAmount].map(bound => (bound === null ? '' : unitsText(bound, token)));
  if (minAmount !== null && maxAmount !== null) return `From ${least} to ${most}`;
  if (minAmount !== null) return `At least ${least}`;
  return maxAmount === null ? undefined : `At most ${most}`;
}
