import type { EventData } from '../../model/event.ts';

/** The data of an event without what the payer wrote. */
export function withoutPayer(data: EventData): EventData {
  const erased = { ...data };
  if (erased.checkoutSession !== null)
    erased.checkoutSession = { ...erased.checkoutSession, customerEmail: null, customerName: null };
  if ('form_data' in erased) erased.form_data = {};
  if ('shipping_address' in erased) erased.shipping_address = null;
  return erased;
}

/** Fields of sessions and transactions that hold what the payer wrote, or tie them to a customer. */
const PAYER_FIELDS = ['customerEmail', 'customerName', 'customer_id', 'form_data', 'shipping_address'];

/** An answer of the API with null in these fields, at any depth. */
export function withoutPayerFields(answer: string): string {
  return JSON.stringify(JSON.parse(answer), (name, value: unknown) =>
    PAYER_FIELDS.includes(name) ? null : value,
  );
}

/** True when a text names one of these sessions. */
export function namesSession(text: string, sessionIds: ReadonlySet<string>): boolean {
  return (text.match(/cs_[0-9A-Za-z]{24}/g) ?? []).some(id => sessionIds.has(id));
}
