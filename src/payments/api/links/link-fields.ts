import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { InvalidBody } from '#contract/contracts/violations.ts';
import { newId } from '#lib/ids.ts';
import { normalToken } from '../../model/payment-chain.ts';
import type { PaymentLink } from '../../model/payment-link.ts';
import { bpsOf, percentOf } from '../../model/session.ts';

type Creation = PaymentsSchemas['PaymentLinkCreation'];
type Changes = PaymentsSchemas['PaymentLinkChanges'];
type Unsaid = 'id' | 'organizationId' | 'mode' | 'currentUses' | 'createdAt' | 'updatedAt';

/** Fields of a link in a request, in stored form. A field that the request does not name is absent; null clears one. */
export type LinkFields = Partial<Omit<PaymentLink, Unsaid>>;

/** Forbidden id of a form field: no body may have such a key, so the field could not be filled in (Decision 101). */
const UNNAMEABLE = '__proto__';

/** Default text of the pay button. */
export const BUTTON_TEXT = 'Pay';

/**
 * Converts a body that is valid under the contract. Each field is checked on its own. Items get new ids. `now` is UTC
 * milliseconds.
 * @throws InvalidBody for an expiry in the past, a duplicate id, an id that no body can name, and a `select` without
 * options (Decision 108).
 */
export function linkFields(body: Changes & Partial<Creation>, now: number): LinkFields {
  return named({
    name: body.name?.trim(),
    description: body.description,
    shortCode: body.short_code,
    isActive: body.is_active,
    amount: amountOf(body.amount),
    minAmount: amountOf(body.min_amount),
    maxAmount: amountOf(body.max_amount),
    suggestedAmount: amountOf(body.suggested_amount),
    chainId: body.chain_id,
    tokenAddress: body.token_address === undefined ? undefined : normalToken(body.token_address),
    recipientAddress: body.recipient_address?.toLowerCase(),
    imageUrl: body.image_url,
    themeColor: body.theme_color,
    buttonText: body.button_text === null ? BUTTON_TEXT : body.button_text,
    returnUrl: body.return_url,
    returnLabel: body.return_label,
    branding: body.branding && {
      business_name: body.branding.business_name ?? null,
      logo_url: body.branding.logo_url ?? null,
    },
    formSchema: body.form_schema && { fields: formFields(body.form_schema.fields) },
    shippingOptions: body.shipping_options === undefined ? undefined : shipping(body.shipping_options ?? []),
    collectShippingAddress: body.collect_shipping_address,
    items: body.items === undefined ? undefined : items(body.items ?? []),
    maxUses: body.max_uses,
    reserveUses: body.reserve_uses,
    paymentMethod: body.payment_method,
    toleranceBps: toleranceBpsOf(body.payment_tolerance),
    expiresAt: endOf(body.expires_at, now),
    metadata: body.metadata === null ? {} : body.metadata,
  });
}

function named(fields: { [Field in keyof LinkFields]: LinkFields[Field] | undefined }): LinkFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function amountOf(text: string | null | undefined): bigint | null | undefined {
  return typeof text === 'string' ? BigInt(text) : text;
}

/** A tolerance in hundredths of a percent. @throws InvalidBody for a part of a hundredth */
export function toleranceBpsOf<Absent extends null | undefined>(percent: number | Absent): number | Absent {
  if (typeof percent !== 'number') return percent;
  const bps = bpsOf(percent);
  if (percentOf(bps) === percent) return bps;
  throw new InvalidBody('payment_tolerance', 'must have at most two decimal places');
}

/** Parses a time and cuts it to milliseconds (Decision 95). */
function endOf(text: string | null | undefined, now: number): number | null | undefined {
  if (typeof text !== 'string') return text;
  const end = Date.parse(text);
  // Written this way round so that an unreadable time (NaN) is refused too.
  if (!(end > now)) throw new InvalidBody('expires_at', 'must be in the future');
  return end;
}

function formFields(fields: readonly PaymentsSchemas['FormFieldInput'][]): PaymentsSchemas['FormField'][] {
  refuseDuplicateIds('form_schema.fields', fields);
  return fields.map(({ id, type, label, required, placeholder, options }, index) => {
    const path = `form_schema.fields.${index}`;
    if (id === UNNAMEABLE) throw new InvalidBody(`${path}.id`, `must not be ${UNNAMEABLE}`);
    return {
      id,
      type,
      label,
      required,
      placeholder: placeholder ?? null,
      options: type === 'select' ? selectable(options, `${path}.options`) : [],
    };
  });
}

/** Checks and trims the options of a `select`: forms send them trimmed, and a blank one is no choice. */
function selectable(options: readonly string[], path: string): string[] {
  if (options.length === 0) throw new InvalidBody(path, 'needs at least one option to select');
  return options.map((option, index) => {
    const text = option.trim();
    if (text === '') throw new InvalidBody(`${path}.${index}`, 'must not be blank');
    return text;
  });
}

function shipping(
  options: readonly PaymentsSchemas['ShippingOptionInput'][],
): PaymentsSchemas['ShippingOption'][] {
  refuseDuplicateIds('shipping_options', options);
  return options.map(({ id, name, amount, estimated_days = null }) => ({ id, name, amount, estimated_days }));
}

function items(all: readonly PaymentsSchemas['ItemInput'][]): PaymentsSchemas['Item'][] {
  return all.map(({ name, description = null, image_url = null, amount, quantity }) => ({
    id: newId('pli'),
    name,
    description,
    image_url,
    amount,
    quantity,
  }));
}

function refuseDuplicateIds(path: string, all: readonly { id: string }[]): void {
  const seen = new Set<string>();
  for (const [index, { id }] of all.entries()) {
    if (seen.has(id))
      throw new InvalidBody(
        `${path}.${index}.id`,
        'repeats the id of an earlier entry; each id must be unique',
      );
    seen.add(id);
  }
}
