import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { isObject } from '#lib/json.ts';
import {
  at,
  eachWithoutOversized,
  type Fields,
  fieldsOf,
  listOf,
  optionalField,
  pick,
  required,
  requiredNatural,
} from '../../upstream-json/fields.ts';
import {
  addressHashOrNull,
  booleanOrNull,
  countOrNull,
  dayOrNull,
  decimalOrNull,
  hashOrNull,
  naturalOrNull,
  signedOrNull,
  textOrNull,
  timestampOrNull,
} from '../../upstream-json/values.ts';
import { address, addressIn, reputationIn } from './address.ts';
import { tokenInstance, tokenInstanceOrNull, tokenOrNullIn } from './token.ts';

/**
 * Converts the details of an address of any generation. Up to 6.5 a proxy names one implementation in two separate
 * fields.
 * @throws UnreadableRecord without a hash.
 */
export function addressDetails(value: unknown): ExplorerSchemas['AddressDetails'] {
  const record = fieldsOf(value);
  return {
    ...address(record),
    coin_balance: naturalOrNull(record.coin_balance),
    exchange_rate: decimalOrNull(record.exchange_rate),
    block_number_balance_updated_at: countOrNull(record.block_number_balance_updated_at),
    creator_address_hash: addressHashOrNull(record.creator_address_hash),
    creation_transaction_hash: hashOrNull(pick(record, 'creation_transaction_hash', 'creation_tx_hash')),
    implementations: implementationsOf(record),
    token: tokenOrNullIn(record, 'token'),
    has_logs: booleanOrNull(record.has_logs),
    has_tokens: booleanOrNull(record.has_tokens),
    has_token_transfers: booleanOrNull(record.has_token_transfers),
    has_validated_blocks: booleanOrNull(record.has_validated_blocks),
    has_beacon_chain_withdrawals: booleanOrNull(record.has_beacon_chain_withdrawals),
  };
}

/** Reads implementations. One without an address is left out. */
function implementationsOf(record: Fields): ExplorerSchemas['AddressDetails']['implementations'] {
  const { implementations, implementation_address: former, implementation_name: formerName } = record;
  const named = Array.isArray(implementations)
    ? listOf(implementations)
    : [{ address: former, name: formerName }];
  return named.filter(isObject).flatMap(one => {
    const hash = addressHashOrNull(pick(one, 'address_hash', 'address'));
    return hash === null ? [] : [{ address_hash: hash, name: textOrNull(one.name) }];
  });
}

/**
 * Converts a token balance of an address, of any generation.
 * @throws UnreadableRecord without a value.
 */
export function addressToken(value: unknown): ExplorerSchemas['AddressToken'] {
  const record = fieldsOf(value);
  return {
    ...optionalField('token_instance', at('token_instance', record.token_instance, tokenInstanceOrNull)),
    value: requiredNatural(record, 'value'),
    token_id: naturalOrNull(record.token_id),
    token: at('token', record.token, tokenInfoOrNull),
  };
}

/** Converts a token in a balance. Unlike in the token record, `holders` is a number (Decision 3). */
function tokenInfoOrNull(value: unknown): ExplorerSchemas['AddressTokenInfo'] | null {
  if (value === null || value === undefined) return null;
  const record = fieldsOf(value);
  return {
    name: textOrNull(record.name),
    decimals: naturalOrNull(record.decimals),
    symbol: textOrNull(record.symbol),
    address: required(addressHashOrNull(pick(record, 'address_hash', 'address')), 'address_hash'),
    type: textOrNull(record.type),
    ...reputationIn(record),
    exchange_rate: decimalOrNull(record.exchange_rate),
    total_supply: naturalOrNull(record.total_supply),
    holders: countOrNull(pick(record, 'holders_count', 'holders')),
  };
}

/**
 * Converts an NFT of an address, of any generation: an instance, its amount and its standard. The token names the
 * standard too.
 * @throws UnreadableRecord without an id or a standard.
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
 * Converts NFTs of an address, grouped by token, of any generation. Upstream omits the token in each NFT. @throws
 * UnreadableRecord
 */
export function addressNftCollection(value: unknown): ExplorerSchemas['AddressNftCollection'] {
  const record = fieldsOf(value);
  const token = tokenOrNullIn(record, 'token');
  const nfts = at('token_instances', record.token_instances, instances =>
    eachWithoutOversized(instances, addressNft),
  );
  return {
    token,
    amount: naturalOrNull(record.amount),
    token_instances: nfts.map(nft => ({ ...nft, token: nft.token ?? token })),
  };
}

/** Converts a holder's balance of a token, of any generation. @throws UnreadableRecord without a holder. */
export function tokenHolder(value: unknown): ExplorerSchemas['TokenHolder'] {
  const record = fieldsOf(value);
  return {
    address: addressIn(record, 'address'),
    value: naturalOrNull(record.value),
    token_id: naturalOrNull(record.token_id),
  };
}

/** Converts a change of a coin balance. @throws UnreadableRecord without one of its numbers or its time. */
export function coinBalanceChange(value: unknown): ExplorerSchemas['CoinBalance'] {
  const record = fieldsOf(value);
  return {
    transaction_hash: hashOrNull(record.transaction_hash),
    block_number: required(countOrNull(record.block_number), 'block_number'),
    block_timestamp: required(timestampOrNull(record.block_timestamp), 'block_timestamp'),
    delta: required(signedOrNull(record.delta), 'delta'),
    value: requiredNatural(record, 'value'),
  };
}

/** Converts coin balances by day. Before 6.5 they are a bare list. @throws UnreadableRecord for any other form. */
export function coinBalancesByDay(value: unknown): ExplorerSchemas['CoinBalancesByDay'] {
  const { days, items } = Array.isArray(value) ? { days: null, items: value } : fieldsOf(value);
  return {
    days: countOrNull(days),
    items: at('items', items, list => eachWithoutOversized(list, coinBalanceOfDay)),
  };
}

function coinBalanceOfDay(value: unknown): ExplorerSchemas['CoinBalanceOfDay'] {
  const record = fieldsOf(value);
  return {
    date: required(dayOrNull(record.date), 'date'),
    value: requiredNatural(record, 'value'),
  };
}

/**
 * Converts a holder of the native coin. The transaction count has had three names, and is "" when not counted.
 * @throws UnreadableRecord without a hash.
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
 * Reads the totals on a page of holders: the price of a coin in US dollars and the supply in whole coins.
 * @throws UnreadableRecord when the page is no object.
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
