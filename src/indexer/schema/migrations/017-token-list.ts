import { NAMELESS_RANK, RANKED_CHARACTERS } from '../token-ranks.ts';

const HOLDER_RANK = '-holder_count';
const NAME_RANK = `coalesce(substr(name, 1, ${RANKED_CHARACTERS}), '${NAMELESS_RANK}')`;

/** Tokens of a type by descending number of holders. All columns ascend. */
const BY_RANK = 'create index tokens_by_rank on tokens (type, holder_rank, name_rank, address)';

/** Sort columns of the token list. */
export const TOKEN_LIST = [
  `alter table tokens add column holder_rank integer generated always as (${HOLDER_RANK}) virtual`,
  `alter table tokens add column name_rank text generated always as (${NAME_RANK}) virtual`,
  BY_RANK,
];

/** Same columns on PostgreSQL, which only has stored generated columns. */
export const POSTGRES_TOKEN_LIST = [
  `alter table tokens
    add column holder_rank bigint generated always as (${HOLDER_RANK}) stored,
    add column name_rank text collate "C" generated always as (${NAME_RANK}) stored`,
  BY_RANK,
];
