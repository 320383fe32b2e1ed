import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { availabilityOf, type PaymentLink } from '../../model/payment-link.ts';
import { timestamp, timestampOrNull } from './answers.ts';

/** A payment link as the contract shows it; `now` (UTC ms) decides its availability. */
export function linkBody(
  link: PaymentLink,
  { publicUrl, now }: { publicUrl: string; now: number },
): PaymentsSchemas['PaymentLink'] {
  return {
    object: 'payment_link',
    id: link.id,
    mode: link.mode,
    name: link.name,
    description: link.description,
    short_code: link.shortCode,
    url: `${publicUrl}/pay/${link.shortCode}`,
    is_active: link.isActive,
    availability: availabilityOf(link, now),
    amount: amountText(link.amount),
    min_amount: amountText(link.minAmount),
    max_amount: amountText(link.maxAmount),
    suggested_amount: amountText(link.suggestedAmount),
    token_address: link.tokenAddress,
    chain_id: link.chainId,
    recipient_address: link.recipientAddress,
    image_url: link.imageUrl,
    theme_color: link.themeColor,
    button_text: link.buttonText,
    return_url: link.returnUrl,
    return_label: link.returnLabel,
    branding: link.branding,
    form_schema: link.formSchema,
    shipping_options: [...link.shippingOptions],
    collect_shipping_address: link.collectShippingAddress,
    items: [...link.items],
    max_uses: link.maxUses,
    current_uses: link.currentUses,
    expires_at: timestampOrNull(link.expiresAt),
    metadata: link.metadata,
    created_at: timestamp(link.createdAt),
    updated_at: timestamp(link.updatedAt),
  };
}

function amountText(amount: bigint | null): string | null {
  return amount === null ? null : amount.toString();
}
