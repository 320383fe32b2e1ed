import type { ExplorerSchemas } from '../../../contract/explorer.ts';
import { type Fields, given, pick, required } from '../../upstream/fields.ts';
import {
  addressHashOrNull,
  decimalOrNull,
  hashOrNull,
  integerOrNull,
  naturalOrNull,
  textOrNull,
  timestampOrNull,
} from '../../upstream/values.ts';

/*
 * The document's keys of each list's `next_page_params`, from upstream's of any generation. What upstream has beside
 * them is inside `cursor`. Decision 4.
 */

type Own<Cursor> = Omit<Cursor, 'chain_id' | 'cursor'>;

export function transactionKeys(
  params: Fields,
  itemCount: number,
): Own<ExplorerSchemas['TransactionsCursor']> {
  return {
    ...given('block_number', integerOrNull(params.block_number)),
    ...given('index', integerOrNull(params.index)),
    ...given('inserted_at', timestampOrNull(params.inserted_at)),
    ...given('hash', hashOrNull(params.hash)),
    items_count: itemCount,
  };
}

export function blockTransactionKeys(
  params: Fields,
  itemCount: number,
): Own<ExplorerSchemas['BlockTransactionsCursor']> {
  return {
    block_number: required(integerOrNull(params.block_number), 'block_number'),
    index: required(integerOrNull(params.index), 'index'),
    items_count: itemCount,
  };
}

export function blockKeys(params: Fields, itemCount: number): Own<ExplorerSchemas['BlocksCursor']> {
  return {
    block_number: required(integerOrNull(params.block_number), 'block_number'),
    items_count: itemCount,
  };
}

export function tokenTransferKeys(params: Fields): Own<ExplorerSchemas['TokenTransfersCursor']> {
  return {
    ...given('block_number', integerOrNull(params.block_number)),
    ...given('index', integerOrNull(params.index)),
    ...given('batch_log_index', integerOrNull(params.batch_log_index)),
    ...given('batch_block_hash', hashOrNull(params.batch_block_hash)),
    ...given('batch_transaction_hash', hashOrNull(pick(params, 'batch_transaction_hash', 'batch_tx_hash'))),
    ...given('index_in_batch', integerOrNull(params.index_in_batch)),
  };
}

export function internalTransactionKeys(
  params: Fields,
  itemCount: number,
): Own<ExplorerSchemas['InternalTransactionsCursor']> {
  return {
    ...given('block_number', integerOrNull(params.block_number)),
    ...given('transaction_index', integerOrNull(params.transaction_index)),
    ...given('index', integerOrNull(params.index)),
    items_count: itemCount,
  };
}

export function logKeys(params: Fields, itemCount: number): Own<ExplorerSchemas['LogsCursor']> {
  return {
    ...given('block_number', integerOrNull(params.block_number)),
    ...given('index', integerOrNull(params.index)),
    ...given('transaction_index', integerOrNull(params.transaction_index)),
    ...given('transaction_hash', hashOrNull(pick(params, 'transaction_hash', 'tx_hash'))),
    items_count: itemCount,
  };
}

/** The one list whose position is the number of items so far; version 12 has a name of its own for it. */
export function stateChangeKeys(params: Fields): Own<ExplorerSchemas['StateChangesCursor']> {
  return {
    items_count: required(integerOrNull(pick(params, 'state_changes_count', 'items_count')), 'items_count'),
  };
}

export function withdrawalKeys(params: Fields, itemCount: number): Own<ExplorerSchemas['WithdrawalsCursor']> {
  return { index: required(integerOrNull(params.index), 'index'), items_count: itemCount };
}

export function coinHolderKeys(params: Fields, itemCount: number): Own<ExplorerSchemas['CoinHoldersCursor']> {
  return {
    fetched_coin_balance: naturalOrNull(params.fetched_coin_balance),
    hash: required(addressHashOrNull(params.hash), 'hash'),
    items_count: itemCount,
    transaction_count: integerOrNull(pick(params, 'transactions_count', 'transaction_count', 'tx_count')),
  };
}

export function addressTokenKeys(
  params: Fields,
  itemCount: number,
): Own<ExplorerSchemas['AddressTokensCursor']> {
  const fiatValue = 'fiat_value' in params ? { fiat_value: decimalOrNull(params.fiat_value) } : undefined;
  const value = 'value' in params ? { value: naturalOrNull(params.value) } : undefined;
  return {
    ...fiatValue,
    ...given('id', integerOrNull(params.id)),
    items_count: itemCount,
    ...given('token_name', textOrNull(params.token_name)),
    ...given('token_type', textOrNull(params.token_type)),
    ...value,
  };
}

export function addressNftKeys(params: Fields, itemCount: number): Own<ExplorerSchemas['AddressNftsCursor']> {
  const contract = pick(params, 'token_contract_address_hash', 'token_contract_address');
  return {
    token_contract_address_hash: required(addressHashOrNull(contract), 'token_contract_address_hash'),
    token_id: naturalOrNull(params.token_id),
    token_type: required(textOrNull(params.token_type), 'token_type'),
    items_count: itemCount,
  };
}

export function searchKeys(
  params: Fields,
  itemCount: number,
  q: string,
): Own<ExplorerSchemas['SearchCursor']> {
  return {
    ...given('address_hash', addressHashOrNull(params.address_hash)),
    ...given('block_hash', hashOrNull(params.block_hash)),
    ...given('holder_count', integerOrNull(pick(params, 'holder_count', 'holders_count'))),
    ...given('inserted_at', timestampOrNull(params.inserted_at)),
    ...given('item_type', textOrNull(params.item_type)),
    items_count: itemCount,
    ...given('name', textOrNull(params.name)),
    q,
    ...given('transaction_hash', hashOrNull(pick(params, 'transaction_hash', 'tx_hash'))),
  };
}
