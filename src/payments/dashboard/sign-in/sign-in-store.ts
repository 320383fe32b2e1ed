import { createHash } from 'node:crypto';
import type { Handle } from '#db/open.ts';
import { execute } from '#db/query.ts';
import { select } from '../../tables/select.ts';

/** Sign-in of the dashboard as stored. Times are UTC milliseconds. */
interface StoredSignIn {
  readonly keyId: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Store of the dashboard's sign-ins. Only the hash of a token is stored (Decision 245). */
export function signInStore(handle: Handle) {
  return {
    async insert(token: string, { keyId, createdAt, expiresAt }: StoredSignIn): Promise<void> {
      await handle('dashboard_sessions').insert({
        token_hash: hashOfToken(token),
        key_id: keyId,
        created_at: createdAt,
        expires_at: expiresAt,
      });
    },

    /** Sign-in of a token, unless it has expired. */
    async find(token: string, now: number): Promise<StoredSignIn | undefined> {
      const [row] = await select({ from: 'dashboard_sessions', columns: ['*'] }).rows(
        handle,
        'where token_hash = ? and expires_at > ?',
        [hashOfToken(token), now],
      );
      return row && { keyId: row.key_id, createdAt: row.created_at, expiresAt: row.expires_at };
    },

    /** Removes all sign-ins of a key except the newest `kept`. */
    async removeOldest(keyId: string, kept: number): Promise<void> {
      await execute(
        handle,
        `delete from dashboard_sessions where key_id = ? and token_hash not in (
           select token_hash from dashboard_sessions where key_id = ?
           order by created_at desc, token_hash limit ?
         )`,
        [keyId, keyId, kept],
      );
    },

    async remove(token: string): Promise<void> {
      await execute(handle, 'delete from dashboard_sessions where token_hash = ?', [hashOfToken(token)]);
    },

    async removeOfKey(keyId: string): Promise<void> {
      await execute(handle, 'delete from dashboard_sessions where key_id = ?', [keyId]);
    },

    /** Removes at most `limit` sign-ins that expired at `before` or earlier. Resolves to their number. */
    removeExpired: ({ before, limit }: { before: number; limit: number }): Promise<number> =>
      execute(
        handle,
        `delete from dashboard_sessions where token_hash in (
           select token_hash from dashboard_sessions where expires_at <= ? order by expires_at limit ?
         )`,
        [before, limit],
      ),
  };
}

/** SHA-256 of a token. A slow hash would add nothing, because the token has 256 random bits. */
export function hashOfToken(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}
