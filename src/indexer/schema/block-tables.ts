import { describe, LATER_HEADER } from './table-description.ts';

/** First topic of the event in which a pair of an exchange tells its reserves. */
const SYNC = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1';

/** Leading characters of a name that tokens are sorted by. */
export const RANKED_CHARACTERS = 64;

/** Sort key of a token without a name. Sorts after every name. */
export const NAMELESS_RANK = '\u{10FFFF}';

const HEADER = {
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
  ...LATER_HEADER,
} as const;

/**
 * Tables with the contents of blocks, parents first. An `id` is a position key (`positionKey`), and `transaction_id` the
 * key of the transaction. Times are UTC milliseconds. A token id is `uint256`, not `numeric`, because it is a name and
 * not an amount.
 */
export const BLOCK_TABLES = {
  /** Only the canonical chain, so no query has to exclude other blocks. */
  blocks: describe({
    columns: HEADER,
    key: ['number'],
    unwinding: { number: 'number' },
    unique: [['hash']],
    indexes: { by_miner: ['miner', 'number'], by_timestamp: ['timestamp', 'number'] },
  }),
  /** Headers of orphaned blocks, whose contents are deleted. */
  stale_blocks: describe({
    columns: { id: 'count', kind: 'text', ...HEADER },
    key: ['id'],
    isNumbered: true,
    unwinding: 'none',
    unique: [['hash']],
    indexes: { by_kind: ['kind', 'number', 'hash'] },
  }),
  /** Fields that only document 2 shows and nothing searches by: scans take longer over wide rows. */
  block_details: describe({
    columns: {
      number: 'count',
      sha3_uncles: 'bytes?',
      mix_hash: 'bytes?',
      transactions_root: 'bytes?',
      receipts_root: 'bytes?',
      withdrawals_root: 'bytes?',
      logs_bloom: 'bytes?',
    },
    key: ['number'],
    unwinding: { number: 'number' },
  }),
  /**
   * Blocks that lack a part which the node could not give: numbers of transactions without receipt, trace or code of the
   * receiver. They are asked for again at `due_at`.
   */
  unread_blocks: describe({
    columns: {
      number: 'count',
      receipts: 'count',
      traces: 'count',
      codes: 'count',
      reason: 'text',
      attempts: 'count',
      due_at: 'time',
    },
    key: ['number'],
    unwinding: { number: 'number' },
    indexes: { due: ['due_at', 'number'] },
  }),
  /** The transfers of a transaction have consecutive keys, from position `first_transfer` of the block on. */
  transactions: describe({
    columns: {
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
      has_internal_error: 'small?',
      facts: 'small',
      token_transfer_count: 'int?',
      first_transfer: 'int?',
    },
    key: ['id'],
    unwinding: { position: 'id' },
    unique: [['hash']],
    indexes: {
      by_from: ['from_address', 'id'],
      by_to: ['to_address', 'id'],
      by_facts: ['facts', 'id'],
      by_selector: { columns: ['selector', 'facts', 'id'], where: 'selector is not null' },
      // In the index above, rows of one selector are not in chain order.
      by_function: { columns: ['selector', 'id'], where: 'selector is not null' },
      by_created_contract: { columns: ['created_contract', 'id'], where: 'created_contract is not null' },
    },
  }),
  /** `r` and `s` are words of 32 bytes. A `logs_bloom` is a `bloomColumn`, as in `block_details`. */
  transaction_details: describe({
    columns: {
      id: 'count',
      r: 'bytes',
      s: 'bytes',
      v: 'numeric',
      cumulative_gas_used: 'count?',
      access_list: 'json?',
      logs_bloom: 'bytes?',
    },
    key: ['id'],
    unwinding: { position: 'id' },
  }),
  /** First topics of each contract's logs. Their numbers halve indexes over logs. Rows stay when logs are removed. */
  event_kinds: describe({
    columns: { id: 'count', address: 'bytes', topic0: 'bytes' },
    key: ['id'],
    unwinding: 'none',
    unique: [['address', 'topic0']],
  }),
  /** `kind` is the key in `event_kinds`; null without topics. */
  logs: describe({
    columns: {
      id: 'count',
      transaction_id: 'count',
      timestamp: 'time',
      kind: 'int?',
      address: 'bytes',
      topic0: 'bytes?',
      topic1: 'bytes?',
      topic2: 'bytes?',
      topic3: 'bytes?',
      data: 'bytes',
    },
    key: ['id'],
    unwinding: { position: 'id' },
    indexes: {
      by_transaction: ['transaction_id', 'id'],
      by_address: ['address', 'id'],
      by_topic: ['topic0', 'id'],
      by_event: ['kind', 'id'],
      by_topic1: { columns: ['kind', 'topic1', 'id'], where: 'topic1 is not null' },
      by_topic2: { columns: ['kind', 'topic2', 'id'], where: 'topic2 is not null' },
      by_topic3: { columns: ['kind', 'topic3', 'id'], where: 'topic3 is not null' },
      // Databases use a partial index only for an identical condition.
      sync: {
        columns: ['address', 'timestamp', 'id'],
        where: ({ bytesLiteral }) => `topic0 = ${bytesLiteral(SYNC)}`,
      },
    },
  }),
  /** Addresses of tokens, senders and receivers. Their short numbers make indexes over transfers half as large. */
  transfer_parties: describe({
    columns: { id: 'count', address: 'bytes' },
    key: ['id'],
    unwinding: 'none',
    unique: [['address']],
  }),
  /** A batch transfer has one row per token id. Numbers are keys in `transfer_parties`. */
  token_transfers: describe({
    columns: {
      id: 'count',
      transaction_id: 'count',
      log_index: 'int',
      batch_index: 'int',
      token: 'bytes',
      token_type: 'small',
      from_address: 'bytes',
      to_address: 'bytes',
      token_id: 'uint256?',
      amount: 'numeric?',
      token_number: 'int',
      from_number: 'int',
      to_number: 'int',
    },
    key: ['id'],
    unwinding: { position: 'id' },
    indexes: {
      by_type: ['token_type', 'id'],
      by_token: ['token_number', 'id'],
      by_instance: { columns: ['token_number', 'token_id', 'id'], where: 'token_id is not null' },
      // Each filter of an address's list is an equality on an index.
      by_sender: ['from_number', 'token_type', 'id'],
      by_receiver: ['to_number', 'token_type', 'id'],
      by_sender_and_token: ['from_number', 'token_number', 'token_type', 'id'],
      by_receiver_and_token: ['to_number', 'token_number', 'token_type', 'id'],
    },
  }),
  internal_transactions: describe({
    columns: {
      id: 'count',
      transaction_id: 'count',
      trace_index: 'int',
      type: 'text',
      from_address: 'bytes',
      to_address: 'bytes?',
      created_contract: 'bytes?',
      value: 'numeric',
      gas_limit: 'numeric',
      gas_used: 'numeric',
      error: 'text?',
    },
    key: ['id'],
    unwinding: { position: 'id' },
    indexes: {
      by_transaction: ['transaction_id', 'id'],
      by_from: ['from_address', 'id'],
      by_to: ['to_address', 'id'],
      by_created_contract: { columns: ['created_contract', 'id'], where: 'created_contract is not null' },
    },
  }),
  withdrawals: describe({
    columns: {
      id: 'count',
      withdrawal_index: 'count',
      validator_index: 'count',
      address: 'bytes',
      amount: 'numeric',
    },
    key: ['id'],
    unwinding: { position: 'id' },
    indexes: {
      by_address: ['address', 'id'],
      by_index: ['withdrawal_index'],
      by_receiver: ['address', 'withdrawal_index'],
    },
  }),
  /** An address can be created again after its code was destroyed, even within one transaction. */
  contracts: describe({
    columns: { address: 'bytes', transaction_id: 'count', creator: 'bytes' },
    key: ['address', 'transaction_id'],
    unwinding: { position: 'transaction_id' },
    indexes: { by_transaction: ['transaction_id'] },
  }),
  /** A token is known from its first transfer. `is_read` is 1 once the other columns are read from the chain. */
  tokens: describe({
    columns: {
      address: 'bytes',
      type: 'count',
      name: 'text?',
      symbol: 'text?',
      decimals: 'count?',
      total_supply: 'numeric?',
      holder_count: 'count',
      first_block: 'count',
      is_read: 'count',
    },
    key: ['address'],
    unwinding: { number: 'first_block' },
    defaults: { holder_count: '0', is_read: '0' },
    // Sort columns of the token list, which all ascend.
    computed: { holder_rank: 'count?', name_rank: 'text?' },
    expressions: {
      holder_rank: '-holder_count',
      name_rank: `coalesce(substr(name, 1, ${RANKED_CHARACTERS}), '${NAMELESS_RANK}')`,
    },
    indexes: { by_first_block: ['first_block'], by_rank: ['type', 'holder_rank', 'name_rank', 'address'] },
  }),
} as const;
