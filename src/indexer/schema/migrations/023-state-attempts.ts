/**
 * For each entry of `dirty`: the newest block that marked it, the number of reads that failed, and the time of the next
 * one. An entry without failed reads is due at once.
 */
const columns = (integer: string) => [
  `alter table dirty add column block ${integer} not null default 0`,
  `alter table dirty add column attempts ${integer} not null default 0`,
  `alter table dirty add column due_at ${integer} not null default 0`,
  'create index dirty_again on dirty (due_at) where attempts > 0',
];

export const STATE_ATTEMPTS = columns('integer');
export const POSTGRES_STATE_ATTEMPTS = columns('bigint');
