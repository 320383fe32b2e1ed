import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { ZERO_ADDRESS } from '#evm/address.ts';
import { isObject } from '#lib/json.ts';
import { type Fields, fieldsOf, listOf, optionalField, pick, required } from '../../upstream-json/fields.ts';
import { hashOrNull, integerOrNull } from '../../upstream-json/values.ts';
import {
  addressOrNull,
  assetTypeOrNull,
  chainIdOf,
  hexCountOrNull,
  momentOrNull,
  nftTypeOrNull,
  quantityOrNull,
  type RecordContext,
  wordsOrNull,
} from './forms.ts';

type NftTransfer = InsightsSchemas['NftTransfer'];

/** Converts an NFT transfer of any generation. @throws UnreadableRecord without its token, position or sides. */
export function nftTransfer(value: unknown, context: Pick<RecordContext, 'chainIds'>): NftTransfer {
  const record = fieldsOf(value);
  const address = (name: string) => required(addressOrNull(record[name]), name);
  const quantity = (name: string) => required(quantityOrNull(record[name]), name);
  const from = address('from_address');
  return {
    token_id: quantity('token_id'),
    chain_id: chainIdOf(record, context),
    block_number: quantity('block_number'),
    ...optionalField('block_hash', hashOrNull(record.block_hash)),
    block_timestamp: required(momentOrNull(record.block_timestamp), 'block_timestamp'),
    transaction_hash: required(hashOrNull(record.transaction_hash), 'transaction_hash'),
    from_address: from,
    to_address: address('to_address'),
    log_index: required(hexCountOrNull(record.log_index), 'log_index'),
    contract_address: required(
      addressOrNull(pick(record, 'contract_address', 'token_address')),
      'contract_address',
    ),
    transfer_type: kindOf(record.transfer_type, from),
    token_type: required(nftTypeOrNull(record.token_type), 'token_type'),
    amount: quantity('amount'),
    ...optionalField('nft_metadata', nftMetadataOrNull(record.nft_metadata)),
    ...optionalField('nft_sale', nftSaleOrNull(record.nft_sale)),
  };
}

/** Type of a transfer. Burning counts as a transfer (Decision 90). */
function kindOf(value: unknown, from: string): NftTransfer['transfer_type'] {
  if (value === 'sale' || value === 'mint') return value;
  return from === ZERO_ADDRESS ? 'mint' : 'transfer';
}

type NftSale = InsightsSchemas['NftSale'];
type SaleItem = InsightsSchemas['SaleItem'];

/** Converts a sale. Null without one, or when any part is unreadable, because an incomplete price would be wrong. */
function nftSaleOrNull(value: unknown): NftSale | null {
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

/**
 * Converts an item of a sale. Coins have no contract, and fungible items have no id; upstream writes nothing or zero
 * for those.
 */
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
    ...optionalField('from_address', addressOrNull(item.from_address)),
    ...optionalField('to_address', addressOrNull(item.to_address)),
  };
}

type Nft = InsightsSchemas['Nft'];

/** Converts an NFT with its metadata. @throws UnreadableRecord without its chain, contract, id and standard. */
export function nft(value: unknown, context: Pick<RecordContext, 'chainIds'>): Nft {
  const record = fieldsOf(value);
  const metadata = nftMetadataOrNull(record);
  return {
    chain_id: chainIdOf(record, context),
    contract_address: required(
      addressOrNull(pick(record, 'contract_address', 'token_address')) ?? metadata?.contract?.address ?? null,
      'contract_address',
    ),
    token_id: required(quantityOrNull(record.token_id), 'token_id'),
    token_type: required(nftTypeOrNull(record.token_type) ?? metadata?.contract?.type ?? null, 'token_type'),
    balance: quantityOrNull(record.balance),
    ...metadata,
  };
}

type NftMetadata = InsightsSchemas['NftMetadata'];

/** Accepted schemes of links. Upstream passes on the publisher's text unchecked. */
const LINK = /^(?:https?|ipfs|ar|data):/i;

/** Converts the metadata of a token. Fields that are empty, unknown to the contract or of another type are left out. */
function nftMetadataOrNull(value: unknown): NftMetadata | null {
  if (!isObject(value)) return null;
  return {
    ...optionalField('name', wordsOrNull(value.name)),
    ...optionalField('description', wordsOrNull(value.description)),
    ...optionalField('image_url', linkOrNull(value.image_url)),
    ...optionalField('video_url', linkOrNull(value.video_url)),
    ...optionalField('animation_url', linkOrNull(value.animation_url)),
    ...optionalField('background_color', wordsOrNull(value.background_color)),
    ...optionalField('external_url', linkOrNull(value.external_url)),
    ...optionalField('status', wordsOrNull(value.status)),
    ...optionalField('metadata_url', linkOrNull(value.metadata_url)),
    ...optionalField('owner_addresses', ownersOrNull(value.owner_addresses)),
    ...optionalField('extra_metadata', extraOrNull(value.extra_metadata)),
    ...optionalField('collection', collectionOrNull(value.collection)),
    ...optionalField('contract', contractOrNull(value.contract)),
  };
}

function ownersOrNull(value: unknown): string[] | null {
  if (!Array.isArray(value)) return null;
  return listOf(value)
    .map(addressOrNull)
    .filter(owner => owner !== null);
}

/** Converts extra metadata. Publishers write attributes in any form: objects, and the objects of a list, are kept. */
function extraOrNull(value: unknown): NonNullable<NftMetadata['extra_metadata']> | null {
  if (!isObject(value)) return null;
  const { attributes, properties } = value;
  const listed = Array.isArray(attributes) ? listOf(attributes).filter(isObject).map(copyOf) : null;
  const kept = {
    ...optionalField('attributes', listed ?? (isObject(attributes) ? copyOf(attributes) : null)),
    ...optionalField('properties', isObject(properties) ? copyOf(properties) : null),
  };
  return Object.keys(kept).length === 0 ? null : kept;
}

function collectionOrNull(value: unknown): NonNullable<NftMetadata['collection']> | null {
  if (!isObject(value)) return null;
  const kept = {
    ...optionalField('name', wordsOrNull(value.name)),
    ...optionalField('description', wordsOrNull(value.description)),
    ...optionalField('image_url', linkOrNull(value.image_url)),
    ...optionalField('banner_image_url', linkOrNull(value.banner_image_url)),
    ...optionalField('featured_image_url', linkOrNull(value.featured_image_url)),
    ...optionalField('external_link', linkOrNull(value.external_link)),
  };
  return Object.keys(kept).length === 0 ? null : kept;
}

function contractOrNull(value: unknown): NonNullable<NftMetadata['contract']> | null {
  if (!isObject(value)) return null;
  const [chainId, address] = [integerOrNull(value.chain_id), addressOrNull(value.address)];
  if (chainId === null || address === null) return null;
  return {
    chain_id: chainId,
    address,
    ...optionalField('name', wordsOrNull(value.name)),
    ...optionalField('symbol', wordsOrNull(value.symbol)),
    ...optionalField('type', nftTypeOrNull(value.type)),
  };
}

function linkOrNull(value: unknown): string | null {
  return typeof value === 'string' && LINK.test(value) ? value : null;
}

function copyOf(fields: Fields): Record<string, unknown> {
  return { ...fields };
}
