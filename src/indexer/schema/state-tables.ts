import { describe, PROVEN_COUNTER } from './table-description.ts';

/** Kinds of state to read again. The number is stored in the column. */
export const DIRTY_KINDS = { coin: 1, token: 2, balance: 3, instance: 4 } as const;

/** Tables with state read from the chain, and with counters and rows that triggers derive from other tables. */
export const STATE_TABLES = {
  index_state: describe({
    columns: {
      id: 'count',
      chain_id: 'count',
      epoch: 'count',
      identity: 'text',
      high_water: 'count',
      /** Number of changes without a new block. */
      fills: 'count',
    },
    key: ['id'],
    unwinding: 'none',
    check: 'id = 1',
    defaults: { epoch: '0', identity: ({ randomHex }) => randomHex(16), high_water: '-1', fills: '0' },
  }),
  /**
   * State to read again, the newest block that marked it, the number of reads that failed, and the time of the next one.
   * An entry without failed reads is due at once.
   */
  dirty: describe({
    columns: {
      kind: 'count',
      address: 'bytes',
      holder: 'bytes',
      token_id: 'uint256',
      block: 'count',
      attempts: 'count',
      due_at: 'time',
    },
    key: ['kind', 'address', 'holder', 'token_id'],
    unwinding: { token: 'address', only: `kind <> ${DIRTY_KINDS.coin}` },
    defaults: { attempts: '0', due_at: '0' },
    indexes: { again: { columns: ['due_at'], where: 'attempts > 0' } },
  }),
  /** `implementation` is what a minimal proxy (EIP-1167) names in its code. */
  addresses: describe({
    columns: { address: 'bytes', balance: 'numeric', is_contract: 'count', implementation: 'bytes?' },
    key: ['address'],
    unwinding: 'state',
    indexes: { by_balance: ['balance', 'address'] },
  }),
  /**
   * Zero balances are not stored, so a token's holder count is its number of distinct holders. `token_id` is empty when
   * the balance is of the whole token; only ERC-1155 balances have an id.
   */
  token_balances: describe({
    columns: { token: 'bytes', holder: 'bytes', token_id: 'uint256', value: 'numeric' },
    key: ['token', 'holder', 'token_id'],
    unwinding: { token: 'token' },
    indexes: {
      by_holder: ['holder', 'token', 'token_id'],
      by_value: ['token', 'value', 'holder', 'token_id'],
      by_instance: { columns: ['token', 'token_id', 'holder', 'value'], where: `token_id <> ''` },
      by_instance_value: { columns: ['token', 'token_id', 'value', 'holder'], where: `token_id <> ''` },
      with_id: { columns: ['holder', 'token', 'token_id'], where: `token_id <> ''` },
    },
  }),
  token_instances: describe({
    columns: { token: 'bytes', token_id: 'uint256', owner: 'bytes' },
    key: ['token', 'token_id'],
    unwinding: { token: 'token' },
    indexes: { by_owner: ['owner', 'token', 'token_id'] },
  }),
  /** Names and symbols of tokens as `searchTerms`. A search for the start of a word is a range of this table. */
  token_terms: describe({
    columns: { term: 'text', token: 'bytes' },
    key: ['term', 'token'],
    unwinding: 'triggers',
    indexes: { by_token: ['token', 'term'] },
  }),
  /**
   * Balances, numbered in order of creation. Paging by that number shows each balance once; paging by amount would lose
   * its position whenever an amount changes.
   */
  holdings: describe({
    columns: { id: 'count', holder: 'bytes', type: 'count', token: 'bytes', token_id: 'uint256' },
    key: ['id'],
    isNumbered: true,
    unwinding: 'triggers',
    unique: [['token', 'holder', 'token_id']],
    indexes: { by_holder: ['holder', 'type', 'id'] },
  }),
  /** Number of an address's transactions, and the gas of those it sent and received. */
  transaction_counts: describe({
    columns: { address: 'bytes', transactions: 'count', gas_sent: 'count', gas_received: 'count' },
    key: ['address'],
    unwinding: 'triggers',
    defaults: { gas_sent: '0', gas_received: '0' },
  }),
  /** `token_transfers` counts transfers from or to the address, `transfers_of_token` those of the token at it. */
  address_counts: describe({
    columns: {
      address: 'bytes',
      token_transfers: 'count',
      transfers_of_token: 'count',
      validated_blocks: 'count',
    },
    key: ['address'],
    unwinding: 'triggers',
    defaults: { token_transfers: '0', transfers_of_token: '0', validated_blocks: '0' },
  }),
  block_counters: describe({
    columns: {
      id: 'count',
      blocks: 'count',
      transactions: 'count',
      gas_used: 'count',
      filled_blocks: 'count',
      untraced_blocks: 'count',
      ...PROVEN_COUNTER,
    },
    key: ['id'],
    unwinding: 'triggers',
    check: 'id = 1',
  }),
  days: describe({
    columns: { day: 'count', blocks: 'count', transactions: 'count', gas_used: 'count' },
    key: ['day'],
    unwinding: 'triggers',
  }),
  /** Pairs that any exchange contract of the form of Uniswap V2 created. The reader decides which contracts count. */
  pairs: describe({
    columns: { id: 'count', factory: 'bytes', address: 'bytes', first_token: 'bytes', second_token: 'bytes' },
    key: ['id'],
    unwinding: 'triggers',
    indexes: { by_tokens: ['factory', 'first_token', 'second_token'] },
  }),
} as const;
