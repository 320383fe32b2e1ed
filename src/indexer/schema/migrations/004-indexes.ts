/**
 * Every one of these ends in the row's key, which is its place in the chain: an equality on the indexed
 * columns is already sorted newest first.
 */
export const INDEXES = [
  'create index blocks_by_miner on blocks (miner)',
  'create index blocks_by_timestamp on blocks (timestamp)',
  'create index stale_blocks_by_kind on stale_blocks (kind, number, hash)',
  'create index transactions_by_from on transactions (from_address)',
  'create index transactions_by_to on transactions (to_address)',
  'create index transactions_by_facts on transactions (facts)',
  'create index transactions_by_selector on transactions (selector, facts) where selector is not null',
  `create index transactions_by_created_contract on transactions (created_contract)
    where created_contract is not null`,
  'create index logs_by_transaction on logs (transaction_id)',
  'create index logs_by_address on logs (address)',
  'create index logs_by_topic on logs (topic0)',
  'create index token_transfers_by_transaction on token_transfers (transaction_id)',
  'create index token_transfers_by_type on token_transfers (token_type)',
  'create index token_transfers_by_token on token_transfers (token)',
  'create index token_transfers_by_from on token_transfers (from_address)',
  'create index token_transfers_by_to on token_transfers (to_address)',
  'create index internal_transactions_by_transaction on internal_transactions (transaction_id)',
  'create index internal_transactions_by_from on internal_transactions (from_address)',
  'create index internal_transactions_by_to on internal_transactions (to_address)',
  'create index withdrawals_by_address on withdrawals (address)',
  'create index contracts_by_transaction on contracts (transaction_id)',
  'create index addresses_by_balance on addresses (balance, address)',
  'create index tokens_by_first_block on tokens (first_block)',
  'create index token_balances_by_holder on token_balances (holder, token, token_id)',
  'create index token_balances_by_value on token_balances (token, value, holder)',
  'create index token_instances_by_owner on token_instances (owner, token, token_id)',
] as const;
