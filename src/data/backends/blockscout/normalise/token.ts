import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { at, type Fields, fieldsOf, pick, required } from '../../upstream-json/fields.ts';
import { addressHashOrNull, decimalOrNull, naturalOrNull, textOrNull } from '../../upstream-json/values.ts';

type Token = ExplorerSchemas['Token'];

/**
 * A token of any generation: `address` and `holders` were renamed in 9.0, and 8.x has both names.
 * @throws Unreadable without an address.
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
    exchange_rate: decimalOrNull(record.exchange_rate),
    total_supply: naturalOrNull(record.total_supply),
  };
}

/** The token in one field of a record, null where upstream does not know it. @throws Unreadable */
export function tokenOrNullIn(record: Fields, name: string): Token | null {
  const value = record[name];
  return value === null || value === undefined ? null : at(name, value, token);
}
