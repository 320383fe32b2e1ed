import { DIRTY_KINDS } from '../stale-state.ts';

/**
 * The names and symbols under which tokens are found, in the form of `searchKey`: a prefix of one is a range of
 * this table. Their form is not SQL's to make, so tokens of an index from before are read from the chain again.
 */
export const SEARCH = [
  `create table token_terms (
    term text not null,
    token blob not null,
    primary key (term, token)
  ) strict, without rowid`,
  'create index token_terms_by_token on token_terms (token, term)',
  `create trigger token_terms_lost after delete on tokens
    begin delete from token_terms where token = old.address; end`,
  `insert into dirty select ${DIRTY_KINDS.token}, address, x'', '' from tokens where is_read = 1
    on conflict do nothing`,
  'update tokens set is_read = 0',
] as const;
