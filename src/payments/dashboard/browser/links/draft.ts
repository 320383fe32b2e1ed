import { commaAdvice, smallestUnits, typedUnits } from '#pages/browser/amounts.ts';
import { Problem } from '#pages/browser/problem.ts';
import type { Payments } from '../api.ts';
import { type Chains, tokenAt } from '../chains.ts';

type Link = Payments['PaymentLink'];
type Token = Pick<Payments['PaymentToken'], 'decimals'>;
/** Terms of a link, as the API takes them for creation and changes. */
export type LinkBody = Payments['PaymentLinkCreation'];

export interface ItemDraft {
  readonly name: string;
  readonly description: string;
  readonly imageUrl: string;
  readonly amount: string;
  readonly quantity: string;
}

export interface ShippingDraft {
  readonly id: string;
  readonly name: string;
  readonly amount: string;
  readonly days: string;
}

export interface FormFieldDraft {
  readonly id: string;
  readonly type: Payments['FormFieldType'];
  readonly label: string;
  readonly isRequired: boolean;
  readonly placeholder: string;
  /** One option per line. */
  readonly options: string;
}

export interface MetadataDraft {
  readonly key: string;
  readonly value: string;
}

/** Source of the price: a fixed amount, the payer's choice, or the sum of items. */
export type Pricing = 'fixed' | 'open' | 'items';

/** Terms of a link as typed: amounts in whole units, times in the reader's time zone. */
export interface Draft {
  readonly name: string;
  readonly description: string;
  readonly shortCode: string;
  readonly pricing: Pricing;
  readonly amount: string;
  readonly minAmount: string;
  readonly maxAmount: string;
  readonly suggestedAmount: string;
  /** In percent; empty for the organization's. */
  readonly paymentMethod: Link['payment_method'];
  readonly tolerance: string;
  readonly chainId: number;
  readonly tokenAddress: string;
  readonly recipient: string;
  readonly items: readonly ItemDraft[];
  readonly imageUrl: string;
  readonly themeColor: string;
  readonly buttonText: string;
  readonly returnUrl: string;
  readonly returnLabel: string;
  readonly businessName: string;
  readonly logoUrl: string;
  readonly fields: readonly FormFieldDraft[];
  readonly shipping: readonly ShippingDraft[];
  readonly collectsAddress: boolean;
  readonly maxUses: string;
  readonly reservesUses: boolean;
  readonly expiresAt: string;
  readonly metadata: readonly MetadataDraft[];
}

const EMPTY: Omit<Draft, 'chainId' | 'tokenAddress' | 'recipient'> = {
  name: '',
  description: '',
  shortCode: '',
  pricing: 'fixed',
  amount: '',
  minAmount: '',
  maxAmount: '',
  suggestedAmount: '',
  paymentMethod: 'exact_amount',
  tolerance: '',
  items: [],
  imageUrl: '',
  themeColor: '',
  buttonText: '',
  returnUrl: '',
  returnLabel: '',
  businessName: '',
  logoUrl: '',
  fields: [],
  shipping: [],
  collectsAddress: false,
  maxUses: '',
  reservesUses: false,
  expiresAt: '',
  metadata: [],
};

/** Draft with the defaults of the organization. Defaults that do not exist in the key's mode are ignored. */
export function newDraft(chains: Chains, organization: Payments['Organization']): Draft {
  const { default_chain_id, default_token_address, default_recipient_address } = organization;
  const chain = chains.find(({ id }) => id === default_chain_id) ?? chains[0];
  const token = chain?.tokens.find(({ address }) => address === default_token_address) ?? chain?.tokens[0];
  return {
    ...EMPTY,
    chainId: chain?.id ?? 0,
    tokenAddress: token?.address ?? '',
    recipient: default_recipient_address ?? '',
  };
}

/** Draft with the terms of an existing link. */
export function draftOf(link: Link, chains: Chains): Draft {
  const token = tokenAt(chains, link) ?? { decimals: 0 };
  const typed = (amount: string | null) =>
    amount === null ? '' : typedUnits(BigInt(amount), token.decimals);
  return {
    name: link.name,
    description: link.description ?? '',
    shortCode: link.short_code,
    pricing: link.amount !== null ? 'fixed' : link.items.length > 0 ? 'items' : 'open',
    amount: typed(link.amount),
    minAmount: typed(link.min_amount),
    maxAmount: typed(link.max_amount),
    suggestedAmount: typed(link.suggested_amount),
    paymentMethod: link.payment_method,
    tolerance: link.payment_tolerance === null ? '' : String(link.payment_tolerance),
    chainId: link.chain_id,
    tokenAddress: link.token_address,
    recipient: link.recipient_address,
    items: link.items.map(item => ({
      name: item.name,
      description: item.description ?? '',
      imageUrl: item.image_url ?? '',
      amount: typed(item.amount),
      quantity: String(item.quantity),
    })),
    imageUrl: link.image_url ?? '',
    themeColor: link.theme_color ?? '',
    buttonText: link.button_text,
    returnUrl: link.return_url ?? '',
    returnLabel: link.return_label ?? '',
    businessName: link.branding?.business_name ?? '',
    logoUrl: link.branding?.logo_url ?? '',
    fields: (link.form_schema?.fields ?? []).map(({ required, placeholder, options, ...field }) => ({
      ...field,
      isRequired: required,
      placeholder: placeholder ?? '',
      options: options.join('\n'),
    })),
    shipping: link.shipping_options.map(({ id, name, amount, estimated_days: days }) => ({
      id,
      name,
      amount: typed(amount),
      days: days === null ? '' : String(days),
    })),
    collectsAddress: link.collect_shipping_address,
    maxUses: link.max_uses === null ? '' : String(link.max_uses),
    reservesUses: link.reserve_uses,
    expiresAt: link.expires_at === null ? '' : localTime(link.expires_at),
    metadata: Object.entries(link.metadata).map(([key, value]) => ({ key, value })),
  };
}

/** Converts a draft to the API's body. @throws Problem with the name of the field for an invalid amount */
export function bodyOf(draft: Draft, token: Token): LinkBody {
  const { pricing, items, fields, shipping, metadata } = draft;
  const isOpen = pricing === 'open';
  const amount = (param: string, text: string) => amountIn(param, text, token);
  const bound = (param: string, text: string) => (isOpen && text.trim() !== '' ? amount(param, text) : null);
  return {
    name: draft.name,
    description: textOrNull(draft.description),
    ...(draft.shortCode.trim() !== '' && { short_code: draft.shortCode.trim() }),
    amount: pricing === 'fixed' ? amount('amount', draft.amount) : null,
    min_amount: bound('min_amount', draft.minAmount),
    max_amount: bound('max_amount', draft.maxAmount),
    suggested_amount: bound('suggested_amount', draft.suggestedAmount),
    payment_method: draft.paymentMethod,
    payment_tolerance: numberOrNull(draft.tolerance),
    chain_id: draft.chainId,
    token_address: draft.tokenAddress,
    ...(draft.recipient.trim() !== '' && { recipient_address: draft.recipient.trim() }),
    items: isOpen
      ? []
      : items.map((item, index) => ({
          name: item.name,
          description: textOrNull(item.description),
          image_url: textOrNull(item.imageUrl),
          amount: amount(`items.${index}.amount`, item.amount),
          quantity: Number(item.quantity),
        })),
    image_url: textOrNull(draft.imageUrl),
    theme_color: textOrNull(draft.themeColor),
    button_text: textOrNull(draft.buttonText),
    return_url: textOrNull(draft.returnUrl),
    return_label: textOrNull(draft.returnLabel),
    branding: brandingOf(draft),
    form_schema: fields.length === 0 ? null : { fields: fields.map(formFieldOf) },
    shipping_options: shipping.map(({ id, name, amount: price, days }, index) => ({
      id,
      name,
      amount: amount(`shipping_options.${index}.amount`, price),
      estimated_days: numberOrNull(days),
    })),
    collect_shipping_address: draft.collectsAddress,
    max_uses: numberOrNull(draft.maxUses),
    reserve_uses: draft.reservesUses,
    expires_at: draft.expiresAt === '' ? null : new Date(draft.expiresAt).toISOString(),
    metadata: Object.fromEntries(metadata.map(({ key, value }) => [key, value])),
  };
}

function amountIn(param: string, text: string, { decimals }: Token): string {
  const units = smallestUnits(text, decimals);
  if (units !== undefined) return units.toString();
  const advice = commaAdvice(text) ?? `Type an amount such as 12.5, with at most ${decimals} decimal places.`;
  throw new Problem(advice, { param });
}

function brandingOf({ businessName, logoUrl }: Draft): NonNullable<LinkBody['branding']> | null {
  const branding = { business_name: textOrNull(businessName), logo_url: textOrNull(logoUrl) };
  return branding.business_name === null && branding.logo_url === null ? null : branding;
}

function formFieldOf({ id, type, label, isRequired, placeholder, options }: FormFieldDraft) {
  const lines = options.split('\n').map(line => line.trim());
  return {
    id,
    type,
    label,
    required: isRequired,
    placeholder: textOrNull(placeholder),
    options: type === 'select' ? lines.filter(line => line !== '') : [],
  };
}

function textOrNull(text: string): string | null {
  return text.trim() === '' ? null : text.trim();
}

function numberOrNull(text: string): number | null {
  return text.trim() === '' ? null : Number(text);
}

/** Time in the format of a `datetime-local` input, in the reader's time zone. */
function localTime(at: string): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
