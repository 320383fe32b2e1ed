import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { isObject } from '#lib/json.ts';
import { type Fields, optionalField, pick } from '../../upstream-json/fields.ts';
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

/*
 * Converters of upstream's `next_page_params`, of any generation, to the document's keys of each list. Additional and
 * unreadable keys stay inside `cursor`, so that no page is lost (Decisions 4, 69).
 */

type Own<Cursor extends keyof ExplorerSchemas> = Omit<ExplorerSchemas[Cursor], 'chain_id' | 'cursor'>;

export function transactionKeys(params: Fields, itemCount: number): Own<'TransactionsCursor'> {
  return {
    ...optionalField('block_number', countOrNull(params.block_number)),
    ...optionalField('index', countOrNull(params.index)),
    ...optionalField('inserted_at', timestampOrNull(params.inserted_at)),
    ...optionalField('hash', hashOrNull(params.hash)),
    items_count: itemCount,
  };
}

export function blockTransactionKeys(params: Fields, itemCount: number): Own<'BlockTransactionsCursor'> {
  return {
    ...optionalField('block_number', countOrNull(params.block_number)),
    ...optionalField('index', countOrNull(params.index)),
    items_count: itemCount,
  };
}

export function blockKeys(params: Fields, itemCount: number): Own<'BlocksCursor'> {
  return {
    ...optionalField('block_number', countOrNull(params.block_number)),
    items_count: itemCount,
  };
}

export function tokenTransferKeys(params: Fields): Own<'TokenTransfersCursor'> {
  return {
    ...optionalField('block_number', countOrNull(params.block_number)),
    ...optionalField('index', countOrNull(params.index)),
    ...optionalField('batch_log_index', countOrNull(params.batch_log_index)),
    ...optionalField('batch_block_hash', hashOrNull(params.batch_block_hash)),
    ...optionalField(
      'batch_transaction_hash',
      hashOrNull(pick(params, 'batch_transaction_hash', 'batch_tx_hash')),
    ),
    ...optionalField('index_in_batch', countOrNull(params.index_in_batch)),
  };
}

export function internalTransactionKeys(
  params: Fields,
  itemCount: number,
): Own<'InternalTransactionsCursor'> {
  return {
    ...optionalField('block_number', countOrNull(params.block_number)),
    ...optionalField('transaction_index', countOrNull(params.transaction_index)),
    ...optionalField('index', countOrNull(params.index)),
    items_count: itemCount,
  };
}

export function logKeys(params: Fields, itemCount: number): Own<'LogsCursor'> {
  return {
    ...optionalField('block_number', countOrNull(params.block_number)),
    ...optionalField('index', countOrNull(params.index)),
    ...optionalField('transaction_index', countOrNull(params.transaction_index)),
    ...optionalField('transaction_hash', hashOrNull(pick(params, 'transaction_hash', 'tx_hash'))),
    items_count: itemCount,
  };
}

/** Keys of the only list whose position is the number of items so far. Version 12 renamed that key. */
export function stateChangeKeys(params: Fields): Own<'StateChangesCursor'> {
  return {
    ...optionalField('items_count', countOrNull(pick(params, 'state_changes_count', 'items_count'))),
  };
}

export function withdrawalKeys(params: Fields, itemCount: number): Own<'WithdrawalsCursor'> {
  return { ...optionalField('index', countOrNull(params.index)), items_count: itemCount };
}

export function coinHolderKeys(params: Fields, itemCount: number): Own<'CoinHoldersCursor'> {
  return {
    ...nullable('fetched_coin_balance', params, ['fetched_coin_balance'], naturalOrNull),
    ...optionalField('hash', addressHashOrNull(params.hash)),
    items_count: itemCount,
    ...nullable(
      'transaction_count',
      params,
      ['transactions_count', 'transaction_count', 'tx_count'],
      countOrNull,
    ),
  };
}

export function tokenKeys(params: Fields, itemCount: number): Own<'TokensCursor'> {
  return {
    ...optionalField('contract_address_hash', addressHashOrNull(params.contract_address_hash)),
    ...nullable('fiat_value', params, ['fiat_value'], decimalOrNull),
    ...nullable('holders_count', params, ['holders_count', 'holder_count'], countOrNull),
    ...optionalField('is_name_null', booleanOrNull(params.is_name_null)),
    ...nullable('market_cap', params, ['market_cap'], decimalOrNull),
    ...nullable('name', params, ['name'], textOrNull),
    items_count: itemCount,
  };
}

export function smartContractKeys(params: Fields, itemCount: number): Own<'SmartContractsCursor'> {
  return {
    // Version 8 has the address of the last item instead of its number.
    ...optionalField('hash', addressHashOrNull(params.hash)),
    ...optionalField('smart_contract_id', countOrNull(params.smart_contract_id)),
    items_count: itemCount,
  };
}

export function tokenInstanceKeys(params: Fields, itemCount: number): Own<'TokenInstancesCursor'> {
  return { ...optionalField('unique_token', naturalOrNull(params.unique_token)), items_count: itemCount };
}

export function tokenHolderKeys(params: Fields, itemCount: number): Own<'TokenHoldersCursor'> {
  return {
    ...optionalField('address_hash', addressHashOrNull(params.address_hash)),
    ...nullable('value', params, ['value'], naturalOrNull),
    ...optionalField('token_id', naturalOrNull(params.token_id)),
    items_count: itemCount,
  };
}

export function addressTokenKeys(params: Fields, itemCount: number): Own<'AddressTokensCursor'> {
  return {
    ...nullable('fiat_value', params, ['fiat_value'], decimalOrNull),
    ...optionalField('id', countOrNull(params.id)),
    items_count: itemCount,
    ...optionalField('token_name', textOrNull(params.token_name)),
    ...optionalField('token_type', textOrNull(params.token_type)),
    ...nullable('value', params, ['value'], naturalOrNull),
  };
}

export function addressNftKeys(params: Fields, itemCount: number): Own<'AddressNftsCursor'> {
  const contract = pick(params, 'token_contract_address_hash', 'token_contract_address');
  return {
    ...optionalField('token_contract_address_hash', addressHashOrNull(contract)),
    ...nullable('token_id', params, ['token_id'], naturalOrNull),
    ...optionalField('token_type', textOrNull(params.token_type)),
    items_count: itemCount,
  };
}

export function addressNftCollectionKeys(
  params: Fields,
  itemCount: number,
): Own<'AddressNftCollectionsCursor'> {
  const { token_contract_address_hash, token_type, items_count } = addressNftKeys(params, itemCount);
  return {
    ...optionalField('token_contract_address_hash', token_contract_address_hash ?? null),
    ...optionalField('token_type', token_type ?? null),
    items_count,
  };
}

export function searchKeys(params: Fields, itemCount: number, q: string): Own<'SearchCursor'> {
  return {
    ...optionalField('address_hash', addressHashOrNull(params.address_hash)),
    ...optionalField('block_hash', hashOrNull(params.block_hash)),
    ...optionalField('holder_count', countOrNull(pick(params, 'holder_count', 'holders_count'))),
    ...optionalField('inserted_at', timestampOrNull(params.inserted_at)),
    ...optionalField('item_type', textOrNull(params.item_type)),
    items_count: itemCount,
    ...optionalField('name', textOrNull(params.name)),
    q,
    ...optionalField('transaction_hash', hashOrNull(pick(params, 'transaction_hash', 'tx_hash'))),
  };
}

/** Reads a key whose `null` is part of the position. Absent when upstream has none of its names. */
function nullable<Name extends string, Value>(
  name: Name,
  params: Fields,
  upstreams: readonly string[],
  read: (value: unknown) => Value | null,
): { [Key in Name]?: Value | null } | undefined {
  if (upstreams.every(one => params[one] === undefined)) return undefined;
  const given = pick(params, ...upstreams);
  const value = read(given);
  if (value === null && given !== null) return undefined;
  const field: { [Key in Name]?: Value | null } = {};
  field[name] = value;
  return field;
}

/*
 * Key sets and tracing status shared by lists of the same record type.
 */

/** Sets of the document's keys; each set is a complete position. */
export const TOKEN_TRANSFER_SETS = [
  ['block_number', 'index'],
  ['batch_log_index', 'batch_block_hash', 'batch_transaction_hash', 'index_in_batch'],
] as const;
export const INTERNAL_TRANSACTION_SETS = [['block_number', 'transaction_index', 'index']] as const;
export const LOG_SETS = [['block_number', 'index']] as const;
export const WITHDRAWAL_SETS = [['index']] as const;
export const BLOCK_SETS = [['block_number']] as const;

/** Value of `meta.status` since version 12 while internal transactions are still being indexed. */
const STILL_TRACED = 2;

/** True when upstream reports the progress of internal transactions. Versions before 12 do not. */
export function reportsTraceProgress({ meta }: Fields): boolean {
  return isObject(meta) && integerOrNull(meta.status) !== null;
}

/** True when upstream reports that more internal transactions may follow. */
export function isStillTraced({ meta }: Fields): boolean {
  return isObject(meta) && integerOrNull(meta.status) === STILL_TRACED;
}
