import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import type { BrandedMerchant, Contact, MerchantIdentity, Owner } from './owner.ts';
import type { PaymentMethod } from './session.ts';

/**
 * A payment link as it is stored. Amounts in the token's smallest unit, addresses lower case, times UTC milliseconds.
 */
export interface PaymentLink extends Owner {
  readonly id: string;
  readonly shortCode: string;
  readonly name: string;
  readonly description: string | null;
  readonly isActive: boolean;
  /** Null when the payer chooses the amount. */
  readonly amount: bigint | null;
  readonly minAmount: bigint | null;
  readonly maxAmount: bigint | null;
  readonly suggestedAmount: bigint | null;
  readonly chainId: number;
  readonly tokenAddress: string;
  readonly recipientAddress: string;
  readonly imageUrl: string | null;
  readonly themeColor: string | null;
  readonly buttonText: string;
  readonly returnUrl: string | null;
  readonly returnLabel: string | null;
  readonly branding: PaymentsSchemas['Branding'] | null;
  readonly formSchema: PaymentsSchemas['FormSchema'] | null;
  readonly shippingOptions: readonly PaymentsSchemas['ShippingOption'][];
  readonly collectShippingAddress: boolean;
  readonly items: readonly PaymentsSchemas['Item'][];
  readonly maxUses: number | null;
  readonly reserveUses: boolean;
  readonly currentUses: number;
  readonly paymentMethod: PaymentMethod;
  /** In hundredths of a percent; null for that of the organization. */
  readonly toleranceBps: number | null;
  readonly expiresAt: number | null;
  readonly metadata: PaymentsSchemas['Metadata'];
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The merchant that payers see. The branding of a link takes precedence over the organization. */
export function merchantOf(
  branding: PaymentLink['branding'] | undefined,
  { name, logoUrl }: MerchantIdentity,
): BrandedMerchant {
  return { name: branding?.business_name ?? name, logo_url: branding?.logo_url ?? logoUrl };
}

/** A merchant as payers see it, with the contact of today. */
export function withContact(
  merchant: BrandedMerchant,
  { contactEmail, siteUrl, termsUrl }: Contact,
): PaymentsSchemas['Merchant'] {
  return { ...merchant, contact_email: contactEmail, site_url: siteUrl, terms_url: termsUrl };
}

/** True when all uses of the link are counted. */
export function isSoldOut({ currentUses, maxUses }: Pick<PaymentLink, 'currentUses' | 'maxUses'>): boolean {
  return maxUses !== null && currentUses >= maxUses;
}

export type Availability = PaymentsSchemas['PaymentLink']['availability'];

/** `active` when a new session may start, otherwise the reason why not (Decision 109). */
export function availabilityOf(
  link: Pick<PaymentLink, 'isActive' | 'currentUses' | 'maxUses' | 'expiresAt'>,
  now: number,
): Availability {
  if (!link.isActive) return 'inactive';
  if (isSoldOut(link)) return 'used_up';
  if (link.expiresAt !== null && link.expiresAt <= now) return 'expired';
  return 'active';
}
