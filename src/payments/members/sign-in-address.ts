import { createHash, randomBytes } from 'node:crypto';
import type { Handle } from '#db/open.ts';
import { execute } from '#db/query.ts';
import { select } from '../tables/select.ts';

const TOKEN_BYTES = 32;
/** Lifetime of a one-time address, in milliseconds. */
export const ADDRESS_LIFETIME_MS = 15 * 60_000;

/** New unguessable token of 256 random bits. */
export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** SHA-256 of a token. A slow hash would add nothing, because the token has 256 random bits. */
export function hashOfToken(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}

/** Address of the dashboard that signs in with a token. The fragment appears in no server log. */
export function signInUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/dashboard#token=${token}`;
}

/** One-time addresses that sign a member in. Only the hashes of their tokens are stored (Decision 414). */
export function signInAddressStore(handle: Handle) {
  return {
    /** Stores an address of a member and returns its token. `until` is UTC milliseconds. */
    async issue(memberId: string, until: number): Promise<string> {
      const token = newToken();
      await handle('sign_in_addresses').insert({
        token_hash: hashOfToken(token),
        member_id: memberId,
        expires_at: until,
      });
      return token;
    },

    /** Uses a valid token up and returns the id of its member. Of concurrent calls, one gets it. */
    async take(token: string, now: number): Promise<string | undefined> {
      const [row] = await select({ from: 'sign_in_addresses', columns: ['member_id'] }).changed(
        handle,
        'delete from sign_in_addresses where token_hash = ? and expires_at > ?',
        [hashOfToken(token), now],
      );
      return row?.member_id;
    },

    /** Number of addresses of a member that are valid `now`, but no longer than `until`. Both are UTC milliseconds. */
    async valid(memberId: string, { now, until }: { now: number; until: number }): Promise<number> {
      const rows = await select({ from: 'sign_in_addresses', columns: ['expires_at'] }).rows(
        handle,
        'where member_id = ? and expires_at > ? and expires_at <= ?',
        [memberId, now, until],
      );
      return rows.length;
    },

    async removeOfMember(memberId: string): Promise<void> {
      await execute(handle, 'delete from sign_in_addresses where member_id = ?', [memberId]);
    },

    /** Removes addresses that expired at `now` or earlier. Resolves to their number. */
    removeExpired: (now: number): Promise<number> =>
      execute(handle, 'delete from sign_in_addresses where expires_at <= ?', [now]),
  };
}
