import { newId, randomBase62 } from '#lib/ids.ts';
import type { Owner } from '#payments/model/owner.ts';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import type { PaymentLink } from '#payments/model/payment-link.ts';

export const CHAIN_ID = 31_337;
const RECIPIENT = `0x${'5e'.repeat(20)}`;

/** Body of a request that creates a link. */
export const CREATION = {
  name: 'A cup of coffee',
  description: 'Filter, 250 ml',
  amount: '2500000',
  token_address: NATIVE_COIN,
  chain_id: CHAIN_ID,
  recipient_address: RECIPIENT,
  metadata: { order: '2041', shop: 'Alder Street' },
};

/** Link that `CREATION` creates, with new ids. `now` is UTC ms. */
export function aLink(owner: Owner, now: number, changes: Partial<PaymentLink> = {}): PaymentLink {
  return {
    id: newId('pl'),
    ...owner,
    shortCode: randomBase62(8),
    name: CREATION.name,
    description: CREATION.description,
    isActive: true,
    amount: BigInt(CREATION.amount),
    minAmount: null,
    maxAmount: null,
    suggestedAmount: null,
    chainId: CHAIN_ID,
    tokenAddress: NATIVE_COIN,
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
    metadata: CREATION.metadata,
    createdAt: now,
    updatedAt: now,
    ...changes,
  };
}
