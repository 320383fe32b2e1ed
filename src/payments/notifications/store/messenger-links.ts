import type { Handle } from '#db/open.ts';
import { execute } from '#db/query.ts';
import type { Owner } from '../../model/owner.ts';
import { select } from '../../tables/select.ts';

/** Links that connect a chat, stored as hashes, and the position in the messenger's updates. */
export function messengerLinks(handle: Handle) {
  return {
    /** Stores a link in place of the owner's earlier one. `expiresAt` is UTC milliseconds. */
    async put(
      { organizationId, mode }: Owner,
      { tokenHash, expiresAt }: { tokenHash: Buffer; expiresAt: number },
    ): Promise<void> {
      await handle('messenger_links')
        .insert({ organization_id: organizationId, mode, token_hash: tokenHash, expires_at: expiresAt })
        .onConflict(['organization_id', 'mode'])
        .merge();
    },

    /** Ends the owner's link, if there is one. */
    async end({ organizationId, mode }: Owner): Promise<void> {
      await handle('messenger_links').where({ organization_id: organizationId, mode }).delete();
    },

    /** Removes the link and returns its owner. Undefined for a link that is unknown, used or expired. */
    async take(tokenHash: Buffer, now: number): Promise<Owner | undefined> {
      const [row] = await select({
        from: 'messenger_links',
        columns: ['organization_id', 'mode'],
      }).changed(handle, 'delete from messenger_links where token_hash = ? and expires_at > ?', [
        tokenHash,
        now,
      ]);
      return row && { organizationId: row.organization_id, mode: row.mode };
    },

    /** Returns the number of removed links. */
    async removeExpired(now: number): Promise<number> {
      return handle('messenger_links').where('expires_at', '<=', now).delete();
    },

    /** Number of the first update that is still unread; 0 before the first. */
    async offset(): Promise<number> {
      const [row] = await select({ from: 'messenger_state', columns: ['next_update'] }).rows(handle);
      return row?.next_update ?? 0;
    },

    /** A lower number than the stored one is ignored. */
    async setOffset(offset: number): Promise<void> {
      await execute(
        handle,
        `insert into messenger_state (name, next_update) values ('polling', ?)
         on conflict (name) do update set next_update = excluded.next_update
         where excluded.next_update > messenger_state.next_update`,
        [offset],
      );
    },
  };
}
