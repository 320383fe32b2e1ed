import type { Binding } from '../../db/columns.ts';
import { booleanOf, jsonColumn, uintColumn, uintOrNull } from '../../db/columns.ts';
import type { Mode } from '../model/owner.ts';
import type { PaymentLink } from '../model/payment-link.ts';
import { storedJson, type Values } from './rows.ts';

/** A row of `payment_links`. */
export interface LinkRow {
  id: string;
  organization_id: string;
  mode: Mode;
  short_code: string;
  name: string;
  description: string | null;
  is_active: number | boolean;
  amount: string | null;
  min_amount: string | null;
  max_amount: string | null;
  suggested_amount: string | null;
  chain_id: number;
  token_address: string;
  recipient_address: string;
  image_url: string | null;
  theme_color: string | null;
  button_text: string;
  return_url: string | null;
  return_label: string | null;
  branding: string | null;
  form_schema: string | null;
  shipping_options: string;
  collect_shipping_address: number | boolean;
  items: string;
  max_uses: number | null;
  current_uses: number;
  expires_at: number | null;
  metadata: string;
  created_at: number;
  updated_at: number;
  search_text: string;
}

/** Stands in no name and no short code. */
export const BETWEEN_SEARCHED = '\n';

/** What of a link may change after it was made, by column; its uses are counted, not written. */
export function changeableValues(link: PaymentLink) {
  return {
    short_code: link.shortCode,
    name: link.name,
    description: link.description,
    is_active: link.isActive,
    amount: uintOrNullColumn(link.amount),
    min_amount: uintOrNullColumn(link.minAmount),
    max_amount: uintOrNullColumn(link.maxAmount),
    suggested_amount: uintOrNullColumn(link.suggestedAmount),
    chain_id: link.chainId,
    token_address: link.tokenAddress,
    recipient_address: link.recipientAddress,
    image_url: link.imageUrl,
    theme_color: link.themeColor,
    button_text: link.buttonText,
    return_url: link.returnUrl,
    return_label: link.returnLabel,
    branding: link.branding && jsonColumn(link.branding),
    form_schema: link.formSchema && jsonColumn(link.formSchema),
    shipping_options: jsonColumn(link.shippingOptions),
    collect_shipping_address: link.collectShippingAddress,
    items: jsonColumn(link.items),
    max_uses: link.maxUses,
    expires_at: link.expiresAt,
    metadata: jsonColumn(link.metadata),
    updated_at: link.updatedAt,
    search_text: searchText(link.name + BETWEEN_SEARCHED + link.shortCode),
  } satisfies Values;
}

/** A whole link, by column. */
export function linkValues(link: PaymentLink) {
  return {
    id: link.id,
    organization_id: link.organizationId,
    mode: link.mode,
    ...changeableValues(link),
    current_uses: link.currentUses,
    created_at: link.createdAt,
  } satisfies Record<keyof LinkRow, Binding>;
}

/** The link in a row. */
export function linkOf(row: LinkRow): PaymentLink {
  return {
    id: row.id,
    organizationId: row.organization_id,
    mode: row.mode,
    shortCode: row.short_code,
    name: row.name,
    description: row.description,
    isActive: booleanOf(row.is_active),
    amount: uintOrNull(row.amount),
    minAmount: uintOrNull(row.min_amount),
    maxAmount: uintOrNull(row.max_amount),
    suggestedAmount: uintOrNull(row.suggested_amount),
    chainId: row.chain_id,
    tokenAddress: row.token_address,
    recipientAddress: row.recipient_address,
    imageUrl: row.image_url,
    themeColor: row.theme_color,
    buttonText: row.button_text,
    returnUrl: row.return_url,
    returnLabel: row.return_label,
    branding: row.branding === null ? null : storedJson(row.branding),
    formSchema: row.form_schema === null ? null : storedJson(row.form_schema),
    shippingOptions: storedJson(row.shipping_options),
    collectShippingAddress: booleanOf(row.collect_shipping_address),
    items: storedJson(row.items),
    maxUses: row.max_uses,
    currentUses: row.current_uses,
    expiresAt: row.expires_at,
    metadata: storedJson(row.metadata),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Text as it is searched: in upper case, which unlike lower case depends on no letter beside it. */
export function searchText(text: string): string {
  return text.toUpperCase();
}

function uintOrNullColumn(value: bigint | null): string | null {
  return value === null ? null : uintColumn(value);
}
