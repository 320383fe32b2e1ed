/**
 * Blocks of an index from before, whose transactions do not know yet that a receiver had code: from `next_block` to just
 * below `end_block`. No row when there are none.
 */
export const RECEIVER_CODE = [
  `create table retyping (
    id integer primary key check (id = 1),
    next_block integer not null,
    end_block integer not null
  ) strict`,
  `insert into retyping
    select 1, min(number), max(number) + 1 from blocks where number >= 0 having count(*) > 0`,
] as const;
