import { trigger } from './postgres-functions.ts';

/** Keep the number of proven blocks on SQLite. */
export const SQLITE_PROOF_TRIGGERS = [
  `create trigger proven_block_counted after insert on blocks when new.proven = 1 begin
    update block_counters set proven_blocks = proven_blocks + 1 where id = 1;
  end`,
  `create trigger proven_block_uncounted after delete on blocks when old.proven = 1 begin
    update block_counters set proven_blocks = proven_blocks - 1 where id = 1;
  end`,
  `create trigger block_proven after update of proven on blocks begin
    update block_counters set proven_blocks = proven_blocks + new.proven - old.proven where id = 1;
  end`,
];

/** Adds the proven blocks of a statement to their number, or subtracts them. */
const countProven = (change: string, blocks: string) => `
  update block_counters c set proven_blocks = c.proven_blocks + n.change
    from (select ${change} as change from ${blocks}) n where c.id = 1 and n.change <> 0;`;

/** Keep the number of proven blocks on PostgreSQL. */
export const POSTGRES_PROOF_TRIGGERS = [
  ...trigger('proven_blocks_counted', 'insert on blocks', countProven('sum(proven)', 'added')),
  ...trigger('proven_blocks_uncounted', 'delete on blocks', countProven('-sum(proven)', 'removed')),
  ...trigger(
    'blocks_proven',
    'update on blocks',
    countProven('sum(a.proven - r.proven)', 'added a join removed r on r.number = a.number'),
  ),
];
