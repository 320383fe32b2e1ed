import { type Hash, isHex } from 'viem';
import type { Column } from '../../db/columns.ts';

/**
 * Columns of the tables that a block is written to, in the order in which their values are bound.
 * Keys called `id` are places (`indexer/place.ts`); `transaction_id` is the place of the transaction.
 */
export const BLOCK_COLUMNS = [
  'number',
  'hash',
  'parent_hash',
  'timestamp',
  'miner',
  'gas_limit',
  'gas_used',
  'base_fee_per_gas',
  'difficulty',
  'total_difficulty',
  'nonce',
  'extra_data',
  'state_root',
  'size',
  'uncles',
  'transaction_count',
  'withdrawals_count',
  'internal_transaction_count',
  'transaction_fees',
  'burnt_fees',
  'priority_fees',
  'blob_gas_used',
  'excess_blob_gas',
] as const;

export const BLOCK_DETAILS_COLUMNS = [
  'number',
  'sha3_uncles',
  'mix_hash',
  'transactions_root',
  'receipts_root',
  'withdrawals_root',
  'logs_bloom',
] as const;

export const TRANSACTION_COLUMNS = [
  'id',
  'hash',
  'timestamp',
  'from_address',
  'to_address',
  'value',
  'nonce',
  'gas_limit',
  'gas_used',
  'gas_price',
  'max_fee_per_gas',
  'max_priority_fee_per_gas',
  'max_fee_per_blob_gas',
  'blob_gas_used',
  'blob_gas_price',
  'blob_hashes',
  'authorization_list',
  'type',
  'status',
  'fee',
  'input',
  'selector',
  'created_contract',
  'error',
  'output',
  'has_internal_error',
  'facts',
  'token_transfer_count',
] as const;

export const TRANSACTION_DETAILS_COLUMNS = [
  'id',
  'r',
  's',
  'v',
  'cumulative_gas_used',
  'access_list',
  'logs_bloom',
] as const;

export const LOG_COLUMNS = [
  'id',
  'transaction_id',
  'timestamp',
  'address',
  'topic0',
  'topic1',
  'topic2',
  'topic3',
  'data',
] as const;

export const TOKEN_TRANSFER_COLUMNS = [
  'id',
  'transaction_id',
  'log_index',
  'batch_index',
  'token',
  'token_type',
  'from_address',
  'to_address',
  'token_id',
  'amount',
] as const;

export const INTERNAL_TRANSACTION_COLUMNS = [
  'id',
  'transaction_id',
  'trace_index',
  'type',
  'from_address',
  'to_address',
  'created_contract',
  'value',
  'gas_limit',
  'gas_used',
  'error',
] as const;

export const WITHDRAWAL_COLUMNS = ['id', 'withdrawal_index', 'validator_index', 'address', 'amount'] as const;

export const CONTRACT_COLUMNS = ['address', 'transaction_id', 'creator'] as const;

/** What a transfer tells of a token; the rest is read from the chain. */
export const MOVED_TOKEN_COLUMNS = ['address', 'type', 'first_block'] as const;

export const DIRTY_COLUMNS = ['kind', 'address', 'holder', 'token_id'] as const;

/** A row to be written, by the names of its columns. */
export type RowOf<Columns extends readonly string[]> = Readonly<Record<Columns[number], Column>>;

/** Returns a row's values in the order of the columns, as `insertRows` takes them. */
export function valuesOf<Name extends string>(
  columns: readonly Name[],
  row: Readonly<Record<Name, Column>>,
): Column[] {
  return columns.map(name => row[name]);
}

/** A JSON list as it was written; empty when there is none. */
export function unknownList(column: string | null): unknown[] {
  const parsed: unknown = column === null ? [] : JSON.parse(column);
  return Array.isArray(parsed) ? parsed : [];
}

/** The same, of hashes. */
export function hashList(column: string | null): Hash[] {
  return unknownList(column).filter(entry => isHex(entry));
}
