import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { at, fieldsOf, given, pick, required } from '../../upstream-json/fields.ts';
import {
  addressHashOrNull,
  countOrNull,
  decimalOrNull,
  naturalOrNull,
  textOrNull,
} from '../../upstream-json/values.ts';
import { address } from './address.ts';
import { tokenInstance, tokenInstanceOrNull } from './token.ts';

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

/**
 * One NFT of an address, of any generation: an instance, how many of it and its standard, which the token names too.
 * @throws Unreadable without an id or a standard.
 */
export function addressNft(value: unknown): ExplorerSchemas['AddressNft'] {
  const record = fieldsOf(value);
  const instance = tokenInstance(record);
  return {
    token_type: required(textOrNull(record.token_type) ?? instance.token?.type ?? null, 'token_type'),
    value: naturalOrNull(record.value),
    ...instance,
  };
}

/**
 * A holder of the native coin. The number of its transactions has had three names, and is "" where nobody counted.
 * @throws Unreadable without a hash.
 */
export function coinHolder(value: unknown): ExplorerSchemas['CoinHolder'] {
  const record = fieldsOf(value);
  return {
    ...address(record),
    coin_balance: naturalOrNull(record.coin_balance),
    transaction_count: naturalOrNull(pick(record, 'transactions_count', 'transaction_count', 'tx_count')),
  };
}

/**
 * What a page of holders says besides its items: the price of a coin in US dollars and the supply in whole coins.
 * @throws Unreadable when the page is no object.
 */
export function coinTotals(
  page: unknown,
): Pick<ExplorerSchemas['CoinHoldersPage'], 'exchange_rate' | 'total_supply'> {
  const record = fieldsOf(page);
  return {
    exchange_rate: decimalOrNull(record.exchange_rate),
    total_supply: decimalOrNull(record.total_supply),
  };
}
