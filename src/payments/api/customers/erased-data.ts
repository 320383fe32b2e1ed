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

/**
 * An answer of the API with null in these fields of some sessions, and of records that name one as their session. Metadata
 * may have the same names, and is the shop's.
 */
export function withoutPayerFields(answer: string, sessionIds: ReadonlySet<string>): string {
  const erased = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(erased);
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value);
    const isOfPayer = fields.some(
      ([name, id]) => (name === 'id' || name === 'session_id') && sessionIds.has(id),
    );
    return Object.fromEntries(
      fields.map(([name, field]) => {
        if (isOfPayer && PAYER_FIELDS.includes(name)) return [name, null];
        return [name, name === 'metadata' ? field : erased(field)];
      }),
    );
  };
  return JSON.stringify(erased(JSON.parse(answer)));
}

/** True for an event of one of these sessions. */
export function isOfSession(data: EventData, sessionIds: ReadonlySet<string>): boolean {
  const ids = [data.checkoutSession?.id, 'session_id' in data ? data.session_id : null];
  return ids.some(id => typeof id === 'string' && sessionIds.has(id));
}

/** True when a text names one of these sessions. */
export function namesSession(text: string, sessionIds: ReadonlySet<string>): boolean {
  return (text.match(/cs_[0-9A-Za-z]{24}/g) ?? []).some(id => sessionIds.has(id));
}
