import type { DueAtHead } from '#payments/store/chain-records.ts';
import { newId, randomBase62 } from '../../src/lib/ids.ts';
import type { ApiKey } from '../../src/payments/keys/api-key.ts';
import type { Organization, Owner } from '../../src/payments/model/owner.ts';
import type { PaymentLink } from '../../src/payments/model/payment-link.ts';

/** Creation time of the records of these factories, in UTC milliseconds. */
export const RECORD_TIME = Date.UTC(2026, 4, 4, 12);

const TOKEN = `0x${'70'.repeat(20)}`;
const RECIPIENT = `0x${'5e'.repeat(20)}`;

/** A field of a link's form, as in the API and the store. */
export const SIZE_FIELD: NonNullable<PaymentLink['formSchema']>['fields'][number] = {
  id: 'size',
  type: 'select',
  label: 'Size',
  required: true,
  placeholder: null,
  options: ['S', 'M'],
};

/** An organization with a unique name. */
export function anOrganization(changes: Partial<Organization> = {}): Organization {
  return {
    id: newId('org'),
    name: `Acme ${randomBase62(8)}`,
    tier: 'standard',
    defaults: { chainId: null, tokenAddress: null, recipientAddress: null },
    createdAt: RECORD_TIME,
    ...changes,
  };
}

/** An admin key of an organization and mode that never expires. */
export function anApiKey({ organizationId, mode }: Owner, changes: Partial<ApiKey> = {}): ApiKey {
  return {
    id: newId('ak'),
    organizationId,
    mode,
    name: 'Shop',
    prefix: `tg_${mode}_${randomBase62(5)}`,
    lastFour: randomBase62(4),
    permission: 'admin',
    expiresAt: null,
    lastUsedAt: null,
    createdAt: RECORD_TIME,
    revokedAt: null,
    rolledAt: null,
    ...changes,
  };
}

/** An active link with an amount, without form, shipping, items, expiry or limit. */
export function aLink({ organizationId, mode }: Owner, changes: Partial<PaymentLink> = {}): PaymentLink {
  return {
    id: newId('pl'),
    organizationId,
    mode,
    shortCode: randomBase62(10),
    name: 'A cup of coffee',
    description: null,
    isActive: true,
    amount: 2_500_000n,
    minAmount: null,
    maxAmount: null,
    suggestedAmount: null,
    chainId: 31_337,
    tokenAddress: TOKEN,
    recipientAddress: RECIPIENT,
    imageUrl: null,
    themeColor: null,
    buttonText: 'Pay',
    returnUrl: null,
    returnLabel: null,
    branding: null,
    formSchema: null,
    shippingOptions: [],
    collectShippingAddress: false,
    items: [],
    maxUses: null,
    reserveUses: false,
    paymentMethod: 'exact_amount',
    toleranceBps: null,
    currentUses: 0,
    expiresAt: null,
    metadata: {},
    createdAt: RECORD_TIME,
    updatedAt: RECORD_TIME,
    ...changes,
  };
}

/** Selection of all records of a chain that wait for their confirmations. */
export function allDue(chainId: number): DueAtHead {
  return { chainId, headBlock: Number.MAX_SAFE_INTEGER, now: Number.MAX_SAFE_INTEGER, limit: 1_000 };
}
