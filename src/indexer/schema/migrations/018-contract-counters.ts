const COLUMNS =
  'blocks, transactions, gas_used, filled_blocks, untraced_blocks, addresses, supply_parts, contracts';
const BACKFILL =
  'update address_counters set contracts = (select count(*) from addresses where is_contract = 1) where id = 1';

/** Contract counter on SQLite. Three triggers maintain it in the row that also counts addresses. */
export const CONTRACT_COUNTERS = [
  'alter table address_counters add column contracts integer not null default 0',
  BACKFILL,
  `create trigger contract_gained after insert on addresses when new.is_contract = 1 begin
    update address_counters set contracts = contracts + 1 where id = 1;
  end`,
  `create trigger contract_changed after update of is_contract on addresses
    when new.is_contract <> old.is_contract begin
    update address_counters set contracts = contracts + new.is_contract - old.is_contract where id = 1;
  end`,
  `create trigger contract_lost after delete on addresses when old.is_contract = 1 begin
    update address_counters set contracts = contracts - 1 where id = 1;
  end`,
  'drop view totals',
  `create view totals (${COLUMNS}) as
    select b.blocks, b.transactions, cast(b.gas_used as text), b.filled_blocks, b.untraced_blocks, a.addresses,
      (select json_group_array(cast(amount as text)) from
        (select amount from coin_supply where part >= 0 order by part desc)), a.contracts
    from block_counters b cross join address_counters a where b.id = 1 and a.id = 1`,
] as const;

/** Replaces the body of a statement-level trigger function. */
const replaced = (name: string, body: string) =>
  `create or replace function ${name}() returns trigger language plpgsql as $$ begin
    ${body}
    return null;
  end $$`;

/** Adds the rows of a statement to the counters, or subtracts them. */
const counted = (sign: '+' | '-', rows: string) =>
  `update address_counters c set addresses = c.addresses ${sign} n.addresses, coins = c.coins ${sign} n.coins,
      contracts = c.contracts ${sign} n.contracts
    from (
      select count(*) as addresses, sum(balance) as coins, coalesce(sum(is_contract), 0) as contracts from ${rows}
    ) n where c.id = 1 and n.addresses > 0;`;

/** Contract counter on PostgreSQL, maintained by the triggers that count addresses. */
export const POSTGRES_CONTRACT_COUNTERS = [
  'alter table address_counters add column contracts bigint not null default 0',
  BACKFILL,
  replaced('addresses_gained', counted('+', 'added')),
  replaced(
    'addresses_changed',
    `update address_counters c set coins = c.coins + n.coins, contracts = c.contracts + n.contracts from (
        select a.coins - r.coins as coins, a.contracts - r.contracts as contracts
        from (select coalesce(sum(balance), 0) as coins, coalesce(sum(is_contract), 0) as contracts from added) a
        cross join (select coalesce(sum(balance), 0) as coins, coalesce(sum(is_contract), 0) as contracts from removed) r
      ) n where c.id = 1 and (n.coins <> 0 or n.contracts <> 0);`,
  ),
  replaced('addresses_lost', counted('-', 'removed')),
  `create or replace view totals (${COLUMNS}) as
    select b.blocks, b.transactions, b.gas_used::text, b.filled_blocks, b.untraced_blocks, a.addresses,
      '["' || a.coins || '"]', a.contracts
    from block_counters b cross join address_counters a where b.id = 1 and a.id = 1`,
] as const;
