import type { ExplorerSchemas } from '../../../../contract/explorer.ts';
import { type Fields, fieldsOf, isFields, pick, required } from '../../../upstream/fields.ts';
import {
  addressHashOrNull,
  booleanOrNull,
  decimalOrNull,
  hashOrNull,
  integerOrNull,
  naturalOrNull,
  textOrNull,
  timestampOrNull,
} from '../../../upstream/values.ts';

type SearchResult = ExplorerSchemas['SearchResult'];
type SearchBlock = ExplorerSchemas['SearchBlock'];

const NOBODY = `0x${'0'.repeat(40)}`;
const BLOCK_TYPES: readonly SearchBlock['block_type'][] = ['block', 'uncle', 'reorg'];

/**
 * A search result of any generation; null for one without a place among the four kinds, so that whoever reads the page
 * can leave it out and count it by `kindOf`. Labels, names and tags are the address that they lead to. Decision 32.
 * @throws Unreadable when a result of the four kinds names nothing.
 */
export function searchResultOrNull(value: unknown): SearchResult | null {
  const record = fieldsOf(value);
  switch (record.type) {
    case 'token':
      return searchToken(record);
    case 'address':
    case 'contract':
    case 'label':
    case 'metadata_tag':
      return searchAddress(record, addressOf(record));
    case 'ens_domain':
      return searchNameOrNull(record);
    case 'block':
      return searchBlockOrNull(record);
    case 'transaction':
      return searchTransaction(record);
    default:
      return null;
  }
}

/** What upstream calls this kind of result, `unknown` if it does not say. For counting what was left out. */
export function kindOf(value: unknown): string {
  const kind = isFields(value) ? textOrNull(value.type) : null;
  return kind ?? 'unknown';
}

function searchToken(record: Fields): ExplorerSchemas['SearchToken'] {
  const hash = addressOf(record);
  return {
    type: 'token',
    name: textOrNull(record.name),
    symbol: textOrNull(record.symbol),
    address_hash: hash,
    token_type: textOrNull(record.token_type),
    token_url: textOrNull(record.token_url) ?? `/token/${hash}`,
    address_url: textOrNull(record.address_url) ?? `/address/${hash}`,
    icon_url: textOrNull(record.icon_url),
    is_smart_contract_verified: booleanOrNull(record.is_smart_contract_verified),
    is_verified_via_admin_panel: booleanOrNull(record.is_verified_via_admin_panel),
    exchange_rate: decimalOrNull(record.exchange_rate),
    total_supply: naturalOrNull(record.total_supply),
    circulating_market_cap: decimalOrNull(record.circulating_market_cap),
    priority: priorityOf(record),
  };
}

function searchAddress(record: Fields, hash: string): ExplorerSchemas['SearchAddress'] {
  const isVerified = booleanOrNull(record.is_smart_contract_verified);
  const hasCode = record.type === 'contract' || isVerified || record.is_smart_contract_address === true;
  return {
    type: hasCode ? 'contract' : 'address',
    name: textOrNull(record.name),
    address_hash: hash,
    url: textOrNull(record.url) ?? `/address/${hash}`,
    is_smart_contract_verified: isVerified,
    ens_info: ensInfoOrNull(record.ens_info, hash),
    priority: priorityOf(record),
  };
}

/** A name may be registered and lead nowhere; some versions write that as the zero address. */
function searchNameOrNull(record: Fields): SearchResult | null {
  const target = addressOrNullOf(record);
  return target === null || target === NOBODY ? null : searchAddress(record, target);
}

/** Up to 5.2 a block came without its time, and a result without a time is none of the contract's. */
function searchBlockOrNull(record: Fields): SearchBlock | null {
  const hash = required(hashOrNull(record.block_hash), 'block_hash');
  const number = required(integerOrNull(record.block_number), 'block_number');
  const timestamp = timestampOrNull(record.timestamp);
  const type = BLOCK_TYPES.find(known => known === record.block_type);
  if (timestamp === null || type === undefined) return null;
  return {
    type: 'block',
    block_number: number,
    block_hash: hash,
    block_type: type,
    url: textOrNull(record.url) ?? `/block/${hash}`,
    timestamp,
    priority: priorityOf(record),
  };
}

function searchTransaction(record: Fields): ExplorerSchemas['SearchTransaction'] {
  const hash = required(hashOrNull(pick(record, 'transaction_hash', 'tx_hash')), 'transaction_hash');
  return {
    type: 'transaction',
    transaction_hash: hash,
    url: textOrNull(record.url) ?? `/tx/${hash}`,
    timestamp: timestampOrNull(record.timestamp),
    priority: priorityOf(record),
  };
}

/** Without an address of its own a name is that of the address it was found with. */
function ensInfoOrNull(value: unknown, found: string): ExplorerSchemas['EnsInfo'] | null {
  if (!isFields(value)) return null;
  const [name, count] = [textOrNull(value.name), integerOrNull(value.names_count)];
  if (name === null || count === null || count < 0) return null;
  return {
    address_hash: addressHashOrNull(pick(value, 'address_hash', 'address')) ?? found,
    expiry_date: textOrNull(value.expiry_date),
    name,
    names_count: count,
  };
}

function addressOf(record: Fields): string {
  return required(addressOrNullOf(record), 'address_hash');
}

function addressOrNullOf(record: Fields): string | null {
  return addressHashOrNull(pick(record, 'address_hash', 'address'));
}

/** Versions up to 6.x have no weights. */
function priorityOf(record: Fields): number {
  return integerOrNull(record.priority) ?? 0;
}
