import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import type { CheckoutSession } from '../model/session.ts';

type EventFormData = PaymentsSchemas['EventFormData'];

/** The keys of `form_data` that the document gives a meaning, with the JavaScript type of their values. */
const MEANINGS = { email: 'string', shipping_address: 'object' } as const;
const RESERVED_IDS = ['email', 'shipping_address'] as const;

/**
 * The `form_data` of an event. Answers to fields called `email` or `shipping_address`, which only old links have, are
 * sent as `field_email` and `field_shipping_address` (Decision 150).
 */
export function eventFormData({
  formData,
  customerEmail,
  shippingAddress,
}: Pick<CheckoutSession, 'formData' | 'customerEmail' | 'shippingAddress'>): EventFormData {
  return {
    ...renamed(formData ?? {}, RESERVED_IDS),
    ...(customerEmail !== null && { email: customerEmail }),
    ...(shippingAddress !== null && { shipping_address: shippingAddress }),
  };
}

/** The `form_data` of a stored event, in the contract's types also when it was written before the two ids were refused. */
export function typedFormData(stored: EventFormData): EventFormData {
  const mistyped = RESERVED_IDS.filter(id => Object.hasOwn(stored, id) && typeof stored[id] !== MEANINGS[id]);
  return mistyped.length === 0 ? stored : renamed(stored, mistyped);
}

/** Moves the values of some keys to `field_…`, which gets another prefix while a field of that id was filled in. */
function renamed(
  answers: Readonly<Record<string, unknown>>,
  ids: readonly (typeof RESERVED_IDS)[number][],
): EventFormData {
  const moved = new Map(Object.entries(answers));
  for (const id of ids) {
    if (!moved.has(id)) continue;
    let key = `field_${id}`;
    while (moved.has(key)) key = `field_${key}`;
    moved.set(key, moved.get(id));
    moved.delete(id);
  }
  return Object.fromEntries(moved);
}
