import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { ZERO_ADDRESS } from '#evm/address.ts';
import { isObject } from '#lib/json.ts';
import { type Fields, given, listOf } from '../../upstream-json/fields.ts';
import { hashOrNull } from '../../upstream-json/values.ts';
import { addressOrNull, assetTypeOrNull, quantityOrNull, wordsOrNull } from './forms.ts';

type NftSale = InsightsSchemas['NftSale'];
type SaleItem = InsightsSchemas['SaleItem'];

/** A sale; null where there is none, or one of which a part cannot be read: half a price would be a wrong one. */
export function nftSaleOrNull(value: unknown): NftSale | null {
  if (!isObject(value)) return null;
  const transactionHash = hashOrNull(value.transaction_hash);
  const marketplace = addressOrNull(value.marketplace_address);
  const [sold, payment] = [itemsOrNull(value.items_sold), itemsOrNull(value.payment)];
  if (transactionHash === null || marketplace === null || sold === null || payment === null) return null;
  return {
    transaction_hash: transactionHash,
    items_sold: sold,
    payment,
    marketplace_address: marketplace,
    marketplace_name: wordsOrNull(value.marketplace_name) ?? marketplace,
  };
}

function itemsOrNull(value: unknown): SaleItem[] | null {
  const items: SaleItem[] = [];
  for (const item of listOf(value)) {
    const read = isObject(item) ? itemOrNull(item) : null;
    if (read === null) return null;
    items.push(read);
  }
  return items;
}

/** Coins have no contract and neither they nor ERC-20 tokens an id, for which upstream writes nothing or zero. */
function itemOrNull(item: Fields): SaleItem | null {
  const type = assetTypeOrNull(item.token_type);
  const isFungible = type === 'native' || type === 'erc20';
  const address = addressOrNull(item.token_address) ?? (type === 'native' ? ZERO_ADDRESS : null);
  const id = quantityOrNull(item.token_id) ?? (isFungible ? '0' : null);
  const amount = quantityOrNull(item.amount);
  if (type === null || address === null || id === null || amount === null) return null;
  return {
    token_address: address,
    token_id: id,
    amount,
    token_type: type,
    ...given('from_address', addressOrNull(item.from_address)),
    ...given('to_address', addressOrNull(item.to_address)),
  };
}
