import type { Handle } from '#db/open.ts';
import { execute, rowsOf } from '#db/query.ts';
import type { Mode, Owner } from '../../model/owner.ts';

/** The links that link a chat, of which only hashes are kept, and how far the messenger's updates were read. */
export interface MessengerLinks {
  /** Takes the place of the owner's link before. `expiresAt` is UTC milliseconds. */
  put(owner: Owner, link: { tokenHash: Buffer; expiresAt: number }): Promise<void>;
  /** Ends the owner's link, if there is one. */
  end(owner: Owner): Promise<void>;
  /** Whose link it is, once; undefined for one that is unknown, used or expired. */
  take(tokenHash: Buffer, now: number): Promise<Owner | undefined>;
  /** Answers with how many there were. */
  removeExpired(now: number): Promise<number>;
  /** The number of the first update that was not read yet; 0 before the first. */
  offset(): Promise<number>;
  /** Never goes back. */
  setOffset(offset: number): Promise<void>;
}

export function messengerLinks(handle: Handle): MessengerLinks {
  return {
    async put({ organizationId, mode }, { tokenHash, expiresAt }) {
      await execute(
        handle,
        `insert into messenger_links (organization_id, mode, token_hash, expires_at) values (?, ?, ?, ?)
         on conflict (organization_id, mode) do update set
           token_hash = excluded.token_hash, expires_at = excluded.expires_at`,
        [organizationId, mode, tokenHash, expiresAt],
      );
    },

    async end({ organizationId, mode }) {
      await execute(handle, 'delete from messenger_links where organization_id = ? and mode = ?', [
        organizationId,
        mode,
      ]);
    },

    async take(tokenHash, now) {
      const [row] = await rowsOf<{ organization_id: string; mode: Mode }>(
        handle,
        'delete from messenger_links where token_hash = ? and expires_at > ? returning organization_id, mode',
        [tokenHash, now],
      );
      return row && { organizationId: row.organization_id, mode: row.mode };
    },

    removeExpired: now => execute(handle, 'delete from messenger_links where expires_at <= ?', [now]),

    async offset() {
      const [row] = await rowsOf<{ next_update: number }>(handle, 'select next_update from messenger_state');
      return row?.next_update ?? 0;
    },

    async setOffset(offset) {
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
