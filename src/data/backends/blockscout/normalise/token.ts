import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { isObject } from '#lib/json.ts';
import {
  at,
  type Fields,
  fieldsOf,
  optionalField,
  pick,
  required,
  requiredNatural,
} from '../../upstream-json/fields.ts';
import {
  addressHashOrNull,
  booleanOrNull,
  decimalOrNull,
  naturalOrNull,
  textOrNull,
} from '../../upstream-json/values.ts';
import { addressOrNullIn, reputationIn } from './address.ts';

type Token = ExplorerSchemas['Token'];

/**
 * Converts a token of any generation. `address` and `holders` were renamed in 9.0, and 8.x has both names.
 * @throws UnreadableRecord without an address.
 */
export function token(value: unknown): Token {
  const record = fieldsOf(value);
  return {
    circulating_market_cap: decimalOrNull(record.circulating_market_cap),
    icon_url: textOrNull(record.icon_url),
    name: textOrNull(record.name),
    decimals: naturalOrNull(record.decimals),
    symbol: textOrNull(record.symbol),
    address: required(addressHashOrNull(pick(record, 'address_hash', 'address')), 'address_hash'),
    type: textOrNull(record.type),
    holders: naturalOrNull(pick(record, 'holders_count', 'holders')),
    ...reputationIn(record),
    exchange_rate: decimalOrNull(record.exchange_rate),
    total_supply: naturalOrNull(record.total_supply),
  };
}

/** Reads the token in a field of a record; null when upstream does not know it. @throws UnreadableRecord */
export function tokenOrNullIn(record: Fields, name: string): Token | null {
  const value = record[name];
  return value === null || value === undefined ? null : at(name, value, token);
}

type TokenInstance = ExplorerSchemas['TokenInstance'];

/** Accepted schemes of links. Upstream passes on the publisher's text unchecked (Decision 43). */
const MEDIA = /^(?:https?|ipfs|ar|data):/i;
const PAGE = /^(?:https?|ipfs|ar):/i;

/**
 * Converts an NFT of any generation. Since 12.0 `token` is missing within the lists of one token.
 * @throws UnreadableRecord without an id.
 */
export function tokenInstance(value: unknown): TokenInstance {
  const record = fieldsOf(value);
  return {
    ...instanceFields(record),
    token: tokenOrNullIn(record, 'token'),
  };
}

/** Converts an optional instance, such as in an ERC-20 balance. @throws UnreadableRecord */
export function tokenInstanceOrNull(value: unknown): TokenInstance | null {
  return value === null || value === undefined ? null : tokenInstance(value);
}

/**
 * Reads an instance without its token. No version names the only holder, but the owner of a unique id is the holder.
 */
function instanceFields(record: Fields): Omit<TokenInstance, 'token'> {
  const owner = addressOrNullIn(record, 'owner');
  return {
    is_unique: booleanOrNull(record.is_unique),
    id: requiredNatural(record, 'id'),
    ...optionalField(
      'holder_address_hash',
      addressHashOrNull(record.holder_address_hash) ?? owner?.hash ?? null,
    ),
    ...optionalField('image_url', linkOrNull(record.image_url, MEDIA)),
    ...optionalField('animation_url', linkOrNull(record.animation_url, MEDIA)),
    ...optionalField('external_app_url', linkOrNull(record.external_app_url, PAGE)),
    ...optionalField('metadata', isObject(record.metadata) ? { ...record.metadata } : null),
    owner,
  };
}

function linkOrNull(value: unknown, scheme: RegExp): string | null {
  return typeof value === 'string' && scheme.test(value) ? value : null;
}
