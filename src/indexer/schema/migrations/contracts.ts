/**
 * What a proxy points at. A minimal proxy (EIP-1167) says it in its code, which is read together with the coin balance;
 * one with storage (EIP-1967) says it in the event of each change, of which an index of its own finds the last.
 */
export const CONTRACTS = [
  'alter table addresses add column implementation blob',
  // keccak256('Upgraded(address)'). SQLite takes a partial index only for the very same condition.
  `create index logs_upgraded on logs (address)
    where topic0 = x'bc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b'`,
  // Only an account that is not known as a contract is asked for its code.
  `insert into dirty select 1, address, x'', '' from addresses where is_contract = 1 on conflict do nothing`,
  'update addresses set is_contract = 0 where is_contract = 1',
] as const;
