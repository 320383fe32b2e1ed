import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { components } from '#generated/payments/types.ts';
import { type Denomination, smallestUnits, typedUnits } from '#pages/browser/amounts.ts';
import { useFocusOnRefusal } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { Refusals, TextField } from '#pages/browser/fields.ts';
import { boxText, type Problem } from '#pages/browser/problem.ts';
import type { Texts } from '#payments/browser/languages/en.ts';
import { amountIn, buttonTextIn, useTexts } from '../texts.ts';
import {
  AddressFields,
  MerchantField,
  paramOf,
  ShippingChoice,
  type Typed,
  type TypedValues,
} from './payer-fields.ts';

/** Terms of a link that its form shows. Amounts are decimal strings in the token's smallest unit. */
export interface StartTerms {
  readonly token: Denomination;
  readonly chainName: string;
  /** Without shipping; null when the payer chooses between the bounds. */
  readonly price: string | null;
  readonly minAmount: string | null;
  readonly maxAmount: string | null;
  readonly suggestedAmount: string | null;
  readonly fields: readonly components['schemas']['FormField'][];
  readonly collectShippingAddress: boolean;
  readonly shippingOptions: readonly components['schemas']['ShippingOption'][];
  readonly buttonText: string;
}

export interface StartFormProps extends TypedValues {
  readonly terms: StartTerms;
  /** Problems of the form, each shown at its field or else above the button. */
  readonly refusals: readonly Problem[];
  readonly isBusy: boolean;
  /** Undefined until a script can start a checkout. */
  readonly onSubmit: ((form: HTMLFormElement) => void) | undefined;
}

/** Form that starts a checkout of a link. */
export function StartForm({ terms, typed, onTyped, refusals, isBusy, onSubmit }: StartFormProps): VNode {
  const texts = useTexts();
  const { token, chainName, price, fields, shippingOptions, buttonText } = terms;
  const { form } = useFocusOnRefusal(refusals[0]);
  const values = { typed, onTyped };
  const submitted = (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    if (!isBusy) onSubmit?.(event.currentTarget);
  };
  const inputs = html`
    ${price === null && h(AmountField, { terms, ...values })}
    ${fields.map(field => h(MerchantField, { key: field.id, field, ...values }))}
    ${terms.collectShippingAddress && h(AddressFields, values)}
    ${shippingOptions.length > 0 && h(ShippingChoice, { options: shippingOptions, token, ...values })}
  `;
  const elsewhere = refusals.find(({ param }) => !paramsOf(terms).includes(param));
  return html`<form
    id="start"
    method="post"
    noValidate
    aria-busy=${isBusy ? 'true' : undefined}
    ref=${form}
    onSubmit=${submitted}
  >
    ${h(Refusals.Provider, { value: refusals, children: inputs })}
    <p class="form-error" role="alert" hidden=${elsewhere === undefined}>${elsewhere && boxText(elsewhere, false)}</p>
    <noscript>
      <p class="note">${texts.form.scripts}</p>
    </noscript>
    <button class="primary" type="submit" disabled=${isBusy || onSubmit === undefined}>
      ${buttonTextIn(buttonText, texts.form.toPayment)}
    </button>
    <p class="hint">${texts.form.payIn(token.symbol, chainName)}</p>
  </form>`;
}

/** Values of a form that was not touched. */
export function initialValues({ price, suggestedAmount, shippingOptions, token }: StartTerms): Typed {
  const [first] = shippingOptions;
  return {
    ...(price === null &&
      suggestedAmount !== null && { amount: typedUnits(BigInt(suggestedAmount), token.decimals) }),
    ...(first !== undefined && { shipping_option_id: first.id }),
  };
}

/** Amount of the shipping option that is selected; 0 without one. */
export function shippingOf({ shippingOptions }: StartTerms, typed: Typed): bigint {
  return BigInt(shippingOptions.find(({ id }) => id === typed.shipping_option_id)?.amount ?? 0);
}

/** Price with shipping; undefined until the payer has typed an amount. */
export function totalOf(terms: StartTerms, typed: Typed): bigint | undefined {
  const { price, token } = terms;
  const units = price === null ? smallestUnits(typed.amount ?? '', token.decimals) : BigInt(price);
  return units === undefined ? undefined : units + shippingOf(terms, typed);
}

/** Fields of the form, as the API names them in errors. */
function paramsOf({ price, fields, collectShippingAddress, shippingOptions }: StartTerms): unknown[] {
  const address = ['name', 'line1', 'line2', 'zip', 'city', 'state', 'country'];
  return [
    ...(price === null ? ['amount'] : []),
    ...fields.map(paramOf),
    ...(collectShippingAddress ? address.map(name => `shipping_address.${name}`) : []),
    ...(shippingOptions.length > 0 ? ['shipping_option_id'] : []),
  ];
}

function AmountField({ terms, typed, onTyped }: TypedValues & { terms: StartTerms }): VNode {
  const texts = useTexts();
  return h(TextField, {
    label: texts.form.amount,
    param: 'amount',
    hint: boundsText(terms, texts),
    value: typed.amount ?? '',
    onValue: text => onTyped('amount', text),
    isRequired: true,
    maxLength: 120,
    inputMode: 'decimal',
    unit: terms.token.symbol,
  });
}

function boundsText({ minAmount, maxAmount, token }: StartTerms, texts: Texts): string | undefined {
  const { form } = texts;
  const text = (bound: string) => amountIn(texts, BigInt(bound), token);
  if (minAmount !== null && maxAmount !== null) return form.between(text(minAmount), text(maxAmount));
  if (minAmount !== null) return form.atLeast(text(minAmount));
  return maxAmount === null ? undefined : form.atMost(text(maxAmount));
}
