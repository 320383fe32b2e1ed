/** Views that return sums as lists of parts, because SQLite has no integers beyond 64 bits. */
export const VIEWS = [
  `create view totals (blocks, transactions, gas_used, filled_blocks, untraced_blocks, addresses, supply_parts) as
    select b.blocks, b.transactions, cast(b.gas_used as text), b.filled_blocks, b.untraced_blocks, a.addresses,
      (select json_group_array(cast(amount as text)) from
        (select amount from coin_supply where part >= 0 order by part desc))
    from block_counters b cross join address_counters a where b.id = 1 and a.id = 1`,
  `create view pair_volumes (id, pair, timestamp, first_parts, second_parts) as
    select id, pair, timestamp, json_array(first_3, first_2, first_1, first_0),
      json_array(second_3, second_2, second_1, second_0)
    from trades`,
] as const;
