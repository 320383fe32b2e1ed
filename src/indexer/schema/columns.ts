import type { Columns, RowOf } from '../../db/columns.ts';

/*
 * Tables of the index. An `id` is a position key (`positionKey`), and `transaction_id` is the key of the transaction.
 * Times are UTC milliseconds. A token id is `uint256`, not `numeric`, because it is a name and not an amount.
 */

export const BLOCK_COLUMNS = {
  number: 'count',
  hash: 'bytes',
  parent_hash: 'bytes',
  timestamp: 'time',
  miner: 'bytes',
  gas_limit: 'numeric',
  gas_used: 'count',
  base_fee_per_gas: 'numeric?',
  difficulty: 'numeric',
  total_difficulty: 'numeric?',
  nonce: 'bytes?',
  extra_data: 'bytes',
  state_root: 'bytes',
  size: 'count?',
  uncles: 'json',
  transaction_count: 'count',
  withdrawals_count: 'count?',
  internal_transaction_count: 'count?',
  transaction_fees: 'numeric?',
  burnt_fees: 'numeric?',
  priority_fees: 'numeric?',
  blob_gas_used: 'count?',
  excess_blob_gas: 'numeric?',
} as const satisfies Columns;

export const BLOCK_DETAILS_COLUMNS = {
  number: 'count',
  sha3_uncles: 'bytes?',
  mix_hash: 'bytes?',
  transactions_root: 'bytes?',
  receipts_root: 'bytes?',
  withdrawals_root: 'bytes?',
  logs_bloom: 'bytes?',
} as const satisfies Columns;

export const TRANSACTION_COLUMNS = {
  id: 'count',
  hash: 'bytes',
  timestamp: 'time',
  from_address: 'bytes',
  to_address: 'bytes?',
  value: 'numeric',
  nonce: 'numeric',
  gas_limit: 'numeric',
  gas_used: 'count?',
  gas_price: 'numeric',
  max_fee_per_gas: 'numeric?',
  max_priority_fee_per_gas: 'numeric?',
  max_fee_per_blob_gas: 'numeric?',
  blob_gas_used: 'count?',
  blob_gas_price: 'numeric?',
  blob_hashes: 'json?',
  authorization_list: 'json?',
  type: 'count',
  status: 'count?',
  fee: 'numeric?',
  input: 'bytes',
  selector: 'bytes?',
  created_contract: 'bytes?',
  error: 'text?',
  output: 'bytes?',
  has_internal_error: 'count?',
  facts: 'count',
  token_transfer_count: 'count?',
} as const satisfies Columns;

export const TRANSACTION_DETAILS_COLUMNS = {
  id: 'count',
  r: 'numeric',
  s: 'numeric',
  v: 'numeric',
  cumulative_gas_used: 'count?',
  access_list: 'json?',
  logs_bloom: 'bytes?',
} as const satisfies Columns;

export const LOG_COLUMNS = {
  id: 'count',
  transaction_id: 'count',
  timestamp: 'time',
  address: 'bytes',
  topic0: 'bytes?',
  topic1: 'bytes?',
  topic2: 'bytes?',
  topic3: 'bytes?',
  data: 'bytes',
} as const satisfies Columns;

export const TOKEN_TRANSFER_COLUMNS = {
  id: 'count',
  transaction_id: 'count',
  log_index: 'count',
  batch_index: 'count',
  token: 'bytes',
  token_type: 'count',
  from_address: 'bytes',
  to_address: 'bytes',
  token_id: 'uint256?',
  amount: 'numeric?',
} as const satisfies Columns;

export const INTERNAL_TRANSACTION_COLUMNS = {
  id: 'count',
  transaction_id: 'count',
  trace_index: 'count',
  type: 'text',
  from_address: 'bytes',
  to_address: 'bytes?',
  created_contract: 'bytes?',
  value: 'numeric',
  gas_limit: 'numeric',
  gas_used: 'numeric',
  error: 'text?',
} as const satisfies Columns;

export const WITHDRAWAL_COLUMNS = {
  id: 'count',
  withdrawal_index: 'count',
  validator_index: 'count',
  address: 'bytes',
  amount: 'numeric',
} as const satisfies Columns;

export const CONTRACT_COLUMNS = {
  address: 'bytes',
  transaction_id: 'count',
  creator: 'bytes',
} as const satisfies Columns;

/** Columns known from a transfer. The others are read from the chain. */
export const MOVED_TOKEN_COLUMNS = {
  address: 'bytes',
  type: 'count',
  first_block: 'count',
} as const satisfies Columns;

export const TOKEN_COLUMNS = {
  ...MOVED_TOKEN_COLUMNS,
  name: 'text?',
  symbol: 'text?',
  decimals: 'count?',
  total_supply: 'numeric?',
  holder_count: 'count',
  is_read: 'count',
} as const satisfies Columns;

export const TOKEN_TERM_COLUMNS = { term: 'text', token: 'bytes' } as const satisfies Columns;

export const ADDRESS_COLUMNS = {
  address: 'bytes',
  balance: 'numeric',
  is_contract: 'count',
  implementation: 'bytes?',
} as const satisfies Columns;

/** `token_id` is empty when the balance is of the whole token. */
export const TOKEN_BALANCE_COLUMNS = {
  token: 'bytes',
  holder: 'bytes',
  token_id: 'uint256',
  value: 'numeric',
} as const satisfies Columns;

export const TOKEN_INSTANCE_COLUMNS = {
  token: 'bytes',
  token_id: 'uint256',
  owner: 'bytes',
} as const satisfies Columns;

const STATE_KEY = { kind: 'count', address: 'bytes', holder: 'bytes', token_id: 'uint256' } as const;
/** Columns that a block writes; the others have defaults. */
export const DIRTY_MARK_COLUMNS = { ...STATE_KEY, block: 'count' } as const satisfies Columns;

/** `receipts`, `traces` and `codes` are numbers of transactions that lack the part. */
export const UNREAD_BLOCK_COLUMNS = {
  number: 'count',
  receipts: 'count',
  traces: 'count',
  codes: 'count',
  reason: 'text',
  attempts: 'count',
  due_at: 'time',
} as const satisfies Columns;

const STATE_COLUMNS = {
  id: 'count',
  chain_id: 'count',
  epoch: 'count',
  identity: 'text',
  high_water: 'count',
  fills: 'count',
} as const satisfies Columns;
const RETYPING_COLUMNS = { id: 'count', next_block: 'count', end_block: 'count' } as const satisfies Columns;
const DAY_COLUMNS = {
  day: 'count',
  blocks: 'count',
  transactions: 'count',
  gas_used: 'count',
} as const satisfies Columns;
/** Number of an address's transactions, and the gas of those it sent and received. */
const TRANSACTION_COUNT_COLUMNS = {
  address: 'bytes',
  transactions: 'count',
  gas_sent: 'count',
  gas_received: 'count',
} as const satisfies Columns;
/** `token_transfers` counts transfers from or to the address, `transfers_of_token` those of the token at it. */
const ADDRESS_COUNT_COLUMNS = {
  address: 'bytes',
  token_transfers: 'count',
  transfers_of_token: 'count',
  validated_blocks: 'count',
} as const satisfies Columns;
/** Number and fees of all transactions up to and including a block. Parts as in `totals`. */
const BLOCK_SUM_COLUMNS = {
  number: 'count',
  transactions: 'count',
  fee_parts: 'json',
} as const satisfies Columns;
const HOLDING_COLUMNS = {
  id: 'count',
  holder: 'bytes',
  type: 'count',
  token: 'bytes',
  token_id: 'uint256',
} as const satisfies Columns;
const PAIR_COLUMNS = {
  id: 'count',
  factory: 'bytes',
  address: 'bytes',
  first_token: 'bytes',
  second_token: 'bytes',
} as const satisfies Columns;
/**
 * Sums of all trades of a pair up to this one. JSON lists of parts, highest first, of 32 bits each except the highest.
 */
const PAIR_VOLUME_COLUMNS = {
  id: 'count',
  pair: 'bytes',
  timestamp: 'time',
  first_parts: 'json',
  second_parts: 'json',
} as const satisfies Columns;
/** `supply_parts` is a JSON list of texts, highest part first, of ten digits each except the highest. */
const TOTALS_COLUMNS = {
  blocks: 'count',
  transactions: 'count',
  gas_used: 'text',
  filled_blocks: 'count',
  untraced_blocks: 'count',
  addresses: 'count',
  supply_parts: 'json',
  contracts: 'count',
} as const satisfies Columns;

/** Readable tables and views, with their computed columns. Rows of SQL queries pick their columns from here. */
export const INDEX_TABLES = {
  blocks: BLOCK_COLUMNS,
  stale_blocks: { id: 'count', kind: 'text', ...BLOCK_COLUMNS },
  block_details: BLOCK_DETAILS_COLUMNS,
  transactions: { ...TRANSACTION_COLUMNS, block_number: 'count', position: 'count' },
  transaction_details: TRANSACTION_DETAILS_COLUMNS,
  logs: { ...LOG_COLUMNS, block_number: 'count', log_index: 'count' },
  token_transfers: { ...TOKEN_TRANSFER_COLUMNS, block_number: 'count' },
  internal_transactions: { ...INTERNAL_TRANSACTION_COLUMNS, block_number: 'count' },
  withdrawals: { ...WITHDRAWAL_COLUMNS, block_number: 'count' },
  contracts: CONTRACT_COLUMNS,
  addresses: ADDRESS_COLUMNS,
  tokens: { ...TOKEN_COLUMNS, holder_rank: 'count', name_rank: 'text' },
  token_terms: TOKEN_TERM_COLUMNS,
  token_balances: TOKEN_BALANCE_COLUMNS,
  token_instances: TOKEN_INSTANCE_COLUMNS,
  holdings: HOLDING_COLUMNS,
  transaction_counts: TRANSACTION_COUNT_COLUMNS,
  address_counts: ADDRESS_COUNT_COLUMNS,
  pairs: PAIR_COLUMNS,
  pair_volumes: PAIR_VOLUME_COLUMNS,
  days: DAY_COLUMNS,
  totals: TOTALS_COLUMNS,
  block_sums: BLOCK_SUM_COLUMNS,
  dirty: { ...DIRTY_MARK_COLUMNS, attempts: 'count', due_at: 'time' },
  unread_blocks: UNREAD_BLOCK_COLUMNS,
  index_state: STATE_COLUMNS,
  retyping: RETYPING_COLUMNS,
} as const satisfies Readonly<Record<string, Columns>>;

/** A row of each table of the index. */
export type IndexTables = { [Table in keyof typeof INDEX_TABLES]: RowOf<(typeof INDEX_TABLES)[Table]> };
