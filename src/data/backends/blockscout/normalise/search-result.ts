import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { ZERO_ADDRESS } from '#evm/address.ts';
import { isObject } from '#lib/json.ts';
import { type Fields, fieldsOf, pick, required } from '../../upstream-json/fields.ts';
import {
  addressHashOrNull,
  booleanOrNull,
  countOrNull,
  decimalOrNull,
  hashOrNull,
  integerOrNull,
  naturalOrNull,
  textOrNull,
  timestampOrNull,
} from '../../upstream-json/values.ts';
import { reputationIn } from './address.ts';

type SearchResult = ExplorerSchemas['SearchItem'];
type SearchBlock = ExplorerSchemas['SearchBlock'];

const BLOCK_TYPES: readonly SearchBlock['block_type'][] = ['block', 'uncle', 'reorg'];

/**
 * Converts a search result of any generation. Null for a kind outside of the contract's four or for a result without
 * its target; the caller leaves it out and counts it by `kindOf`. Labels, names and tags become the address they point
 * to (Decision 32).
 * @throws UnreadableRecord when it is no object.
 */
export function searchResultOrNull(value: unknown): SearchResult | null {
  const record = fieldsOf(value);
  switch (record.type) {
    case 'token':
      return searchTokenOrNull(record);
    case 'address':
    case 'contract':
    case 'label':
    case 'metadata_tag':
      return searchAddressOrNull(record);
    case 'ens_domain':
      return searchNameOrNull(record);
    case 'block':
      return searchBlockOrNull(record);
    case 'transaction':
      return searchTransactionOrNull(record);
    default:
      return null;
  }
}

/** Result kinds of versions up to 12. */
const KINDS = [
  ...['token', 'address', 'contract', 'label', 'metadata_tag', 'ens_domain', 'block', 'transaction'],
  ...['user_operation', 'blob', 'tac_operation'],
];

/** Upstream's name of a result kind, or `other` for one that no version has. Used to count omitted results. */
export function kindOf(value: unknown): string {
  // A closed list, because the kind becomes a metric label and every new label would stay in memory.
  return KINDS.find(kind => isObject(value) && value.type === kind) ?? 'other';
}

function searchTokenOrNull(record: Fields): ExplorerSchemas['SearchToken'] | null {
  const hash = addressOrNullOf(record);
  if (hash === null) return null;
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
    ...reputationIn(record),
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
    ...reputationIn(record),
    priority: priorityOf(record),
  };
}

function searchAddressOrNull(record: Fields): SearchResult | null {
  const hash = addressOrNullOf(record);
  return hash === null ? null : searchAddress(record, hash);
}

/** Converts a name to its address. A name may have no address; some versions write the zero address for that. */
function searchNameOrNull(record: Fields): SearchResult | null {
  const target = addressOrNullOf(record);
  return target === null || target === ZERO_ADDRESS ? null : searchAddress(record, target);
}

/**
 * Converts a block. Null without a time, which versions up to 5.2 omit and the contract requires. Versions without a
 * block type find only blocks of the main chain.
 */
function searchBlockOrNull(record: Fields): SearchBlock | null {
  const hash = hashOrNull(record.block_hash);
  const number = countOrNull(record.block_number);
  const timestamp = timestampOrNull(record.timestamp);
  const type = BLOCK_TYPES.find(known => known === (record.block_type ?? 'block'));
  if (hash === null || number === null || timestamp === null || type === undefined) return null;
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

function searchTransactionOrNull(record: Fields): ExplorerSchemas['SearchTransaction'] | null {
  const hash = hashOrNull(pick(record, 'transaction_hash', 'tx_hash'));
  if (hash === null) return null;
  return {
    type: 'transaction',
    transaction_hash: hash,
    url: textOrNull(record.url) ?? `/tx/${hash}`,
    timestamp: timestampOrNull(record.timestamp),
    priority: priorityOf(record),
  };
}

/** Reads a name. Without an address it belongs to the address of the result. */
function ensInfoOrNull(value: unknown, found: string): ExplorerSchemas['EnsInfo'] | null {
  if (!isObject(value)) return null;
  const [name, count] = [textOrNull(value.name), countOrNull(value.names_count)];
  if (name === null || count === null) return null;
  return {
    address_hash: addressHashOrNull(pick(value, 'address_hash', 'address')) ?? found,
    expiry_date: textOrNull(value.expiry_date),
    name,
    names_count: count,
  };
}

function addressOrNullOf(record: Fields): string | null {
  return addressHashOrNull(pick(record, 'address_hash', 'address'));
}

/** Weight of a result. Versions up to 6.x have none. */
function priorityOf(record: Fields): number {
  return integerOrNull(record.priority) ?? 0;
}

type SearchRedirect = ExplorerSchemas['SearchRedirect'];

const NOWHERE = { redirect: false, type: null, parameter: null } as const;

/**
 * Converts a redirect of any generation. Targets other than the three kinds, such as blobs, become no redirect
 * (Decision 30).
 * @throws UnreadableRecord when an address, block or transaction is not named.
 */
export function searchRedirect(value: unknown): SearchRedirect {
  const record = fieldsOf(value);
  if (record.redirect !== true) return { ...NOWHERE };
  switch (record.type) {
    case 'address':
      return redirectTo('address', addressHashOrNull(record.parameter));
    case 'block':
    case 'transaction':
      return redirectTo(record.type, hashOrNull(record.parameter));
    default:
      return { ...NOWHERE };
  }
}

function redirectTo(type: SearchRedirect['type'], parameter: string | null): SearchRedirect {
  return { redirect: true, type, parameter: required(parameter, 'parameter') };
}
