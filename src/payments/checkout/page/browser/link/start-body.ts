import type { components } from '#generated/payments/types.ts';
import { ambiguousParts, smallestUnits } from '#pages/browser/amounts.ts';
import { Problem } from '#pages/browser/problem.ts';
import type { Texts } from '#payments/browser/languages/en.ts';
import { amountIn } from '../texts.ts';
import { paramOf, type Typed } from './payer-fields.ts';
import type { StartTerms } from './start-form.ts';

type CheckoutStart = components['schemas']['CheckoutStart'];
type FormValue = string | number | boolean;

/** Body that starts a checkout. Fields that were left empty are omitted. */
export function startBody(
  terms: StartTerms,
  typed: Typed,
  { reference, language }: { readonly reference: string | null; readonly language: string },
): CheckoutStart {
  const { price, token, fields, collectShippingAddress, shippingOptions } = terms;
  const values = fields.flatMap((field): [string, FormValue][] => {
    const value = formValue(field.type, (typed[paramOf(field)] ?? '').trim());
    return value === undefined ? [] : [[field.id, value]];
  });
  const [email] = fields.flatMap(field =>
    field.type === 'email' ? (filled(typed, paramOf(field)) ?? []) : [],
  );
  const address = collectShippingAddress ? addressIn(typed) : undefined;
  return {
    ...(price === null && { amount: String(smallestUnits(typed.amount ?? '', token.decimals)) }),
    ...(values.length > 0 && { form_data: Object.fromEntries(values) }),
    ...(email !== undefined && { customerEmail: email }),
    ...(address !== undefined && { shipping_address: address }),
    ...(shippingOptions.length > 0 && { shipping_option_id: typed.shipping_option_id }),
    ...(reference !== null && { clientReferenceId: reference }),
    language,
  };
}

function formValue(type: components['schemas']['FormFieldType'], text: string): FormValue | undefined {
  if (type === 'checkbox') return text === 'on';
  if (text === '') return undefined;
  return type === 'number' ? Number(text) : text;
}

function addressIn(typed: Typed): CheckoutStart['shipping_address'] | undefined {
  const part = (name: string) => filled(typed, `shipping_address.${name}`);
  const [line1, zip, city] = [part('line1'), part('zip'), part('city')];
  if (line1 === undefined || zip === undefined || city === undefined) return undefined;
  const others = ['name', 'line2', 'state', 'country'].flatMap(name => {
    const text = part(name);
    return text === undefined ? [] : [[name, text]];
  });
  return { ...Object.fromEntries(others), line1, zip, city };
}

function filled(typed: Typed, param: string): string | undefined {
  const text = (typed[param] ?? '').trim();
  return text === '' ? undefined : text;
}

/** Faults of a form before it is sent: those that the browser finds, and an amount that is none or out of bounds. */
export function faultsOf(form: HTMLFormElement, context: FormContext, typed: Typed): readonly Problem[] {
  const { terms } = context;
  const faults = [...form.elements].flatMap(element => {
    const isWrong =
      (element instanceof HTMLInputElement ||
        element instanceof HTMLSelectElement ||
        element instanceof HTMLTextAreaElement) &&
      !element.validity.valid;
    return isWrong ? [new Problem(element.validationMessage, { param: element.name })] : [];
  });
  const isRefused = faults.some(({ param }) => param === 'amount');
  const amount = terms.price === null && !isRefused ? amountFault(context, typed.amount ?? '') : undefined;
  return amount === undefined ? faults : [new Problem(amount, { param: 'amount' }), ...faults];
}

/** Terms of a form and the texts of its page. */
interface FormContext {
  readonly terms: StartTerms;
  readonly texts: Texts;
}

function amountFault({ terms, texts }: FormContext, text: string): string | undefined {
  const { token, minAmount, maxAmount } = terms;
  const { form } = texts;
  const units = smallestUnits(text, token.decimals);
  if (units === undefined) {
    const ambiguous = ambiguousParts(text);
    if (ambiguous !== undefined) return form.ambiguous(ambiguous.whole, ambiguous.fraction);
    return form.amountForm(token.symbol, token.decimals);
  }
  const least = BigInt(minAmount ?? 1);
  if (units < least) return form.tooLittle(amountIn(texts, least, token));
  if (maxAmount === null || units <= BigInt(maxAmount)) return undefined;
  return form.tooMuch(amountIn(texts, BigInt(maxAmount), token));
}
