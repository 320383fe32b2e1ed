import type { Handle } from '#db/open.ts';

/**
 * What stands at the end of a `select` so that its rows stay as they are until the transaction ends: for whoever
 * changes them, or `for key share` for whoever inserts rows that refer to them. SQLite has but one writer.
 */
export function rowLock(
  { dialect }: Handle,
  lock: 'for update' | 'for no key update' | `for key share of ${string}`,
): string {
  return dialect.name === 'postgres' ? ` ${lock}` : '';
}
