import type { Handle } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import type { Owner } from '../model/owner.ts';
import { ownedBy } from './paging.ts';

/** Removes up to `limit` events of one owner that are older than a time (UTC ms), the oldest first; answers with how many. */
export function removeOldEvents(
  handle: Handle,
  owner: Owner,
  { before, limit }: { before: number; limit: number },
): Promise<number> {
  const { sql, bindings } = ownedBy(owner);
  return execute(
    handle,
    `delete from events where id in (
       select id from events where ${sql} and created_at < ? order by created_at, place, id limit ?
     )`,
    [...bindings, before, limit],
  );
}
