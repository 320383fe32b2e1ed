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

/** A transaction counts for its sender, and for its receiver or the contract it creates if that is somebody else. */
const RECEIVER = (row: string) => `coalesce(${row}to_address, ${row}created_contract)`;

/** Counters at zero are no rows. */
const uncount = (address: string) => `
  update transaction_counts set transactions = transactions - 1 where address = ${address};
  delete from transaction_counts where address = ${address} and transactions = 0;`;

/**
 * What the lists of one address need so that a page costs the same for everybody. Two triggers count transactions.
 * `holdings` numbers the balances in the order in which they came to be: a walk by that number shows each one once,
 * where a walk by the amount would lose its place whenever one changes.
 */
export const ADDRESSES = [
  `create table transaction_counts (
    address blob primary key,
    transactions integer not null
  ) strict, without rowid`,
  `insert into transaction_counts select address, count(*) from (
    select from_address as address from transactions
    union all select ${RECEIVER('')} from transactions where ${RECEIVER('')} <> from_address) group by address`,
  `create trigger transaction_gained after insert on transactions begin
    insert into transaction_counts values (new.from_address, 1)
      on conflict (address) do update set transactions = transactions + 1;
    insert into transaction_counts select ${RECEIVER('new.')}, 1
      where ${RECEIVER('new.')} <> new.from_address
      on conflict (address) do update set transactions = transactions + 1;
  end`,
  `create trigger transaction_lost after delete on transactions begin
    ${uncount('old.from_address')}
    ${uncount(`iif(${RECEIVER('old.')} <> old.from_address, ${RECEIVER('old.')}, null)`)}
  end`,
  `create table holdings (
    id integer primary key autoincrement,
    holder blob not null,
    type integer not null,
    token blob not null,
    token_id text not null,
    unique (token, holder, token_id)
  ) strict`,
  `insert into holdings (holder, type, token, token_id)
    select b.holder, t.type, b.token, b.token_id from token_balances b join tokens t on t.address = b.token`,
  'create index holdings_by_holder on holdings (holder, type)',
  `create trigger holding_gained after insert on token_balances begin
    insert into holdings (holder, type, token, token_id)
      select new.holder, type, new.token, new.token_id from tokens where address = new.token;
  end`,
  `create trigger holding_lost after delete on token_balances begin
    delete from holdings where token = old.token and holder = old.holder and token_id = old.token_id;
  end`,
  // Of ERC-1155 only: the others' balances have no id. SQLite takes these for the very same condition only.
  `create index token_balances_by_instance on token_balances (token, token_id, holder, value)
    where token_id <> ''`,
  `create index token_balances_with_id on token_balances (holder, token, token_id) where token_id <> ''`,
  'create index withdrawals_by_index on withdrawals (withdrawal_index)',
  'create index withdrawals_by_receiver on withdrawals (address, withdrawal_index)',
  `create index internal_transactions_by_created_contract on internal_transactions (created_contract)
    where created_contract is not null`,
] as const;
