import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { at, fieldsOf, given, pick, required } from '../../upstream-json/fields.ts';
import {
  addressHashOrNull,
  countOrNull,
  decimalOrNull,
  naturalOrNull,
  textOrNull,
} from '../../upstream-json/values.ts';
import { tokenInstanceOrNull } from './token-instance.ts';

/**
 * One balance of an address, of any generation.
 * @throws Unreadable without a value.
 */
export function addressToken(value: unknown): ExplorerSchemas['AddressToken'] {
  const record = fieldsOf(value);
  return {
    ...given('token_instance', at('token_instance', record.token_instance, tokenInstanceOrNull)),
    value: required(naturalOrNull(record.value), 'value'),
    token_id: naturalOrNull(record.token_id),
    token: at('token', record.token, tokenInfoOrNull),
  };
}

/** Unlike in the token record `holders` is a number here. Decision 3. */
function tokenInfoOrNull(value: unknown): ExplorerSchemas['AddressTokenInfo'] | null {
  if (value === null || value === undefined) return null;
  const record = fieldsOf(value);
  return {
    name: textOrNull(record.name),
    decimals: naturalOrNull(record.decimals),
    symbol: textOrNull(record.symbol),
    address: required(addressHashOrNull(pick(record, 'address_hash', 'address')), 'address_hash'),
    type: textOrNull(record.type),
    exchange_rate: decimalOrNull(record.exchange_rate),
    total_supply: naturalOrNull(record.total_supply),
    holders: countOrNull(pick(record, 'holders_count', 'holders')),
  };
}
