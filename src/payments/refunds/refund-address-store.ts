import type { Handle } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import type { StatedAddress } from '../model/refund.ts';
import { recordForm } from '../tables/record-form.ts';
import { select } from '../tables/select.ts';

/**
 * Addresses that payers stated for refunds, one per session (Decision 351), and the links that were mailed to state them
 * (Decision 363). Times are UTC milliseconds.
 */
export function refundAddressStore(handle: Handle) {
  return {
    async find(sessionId: string): Promise<StatedAddress | undefined> {
      const [row] = await select({ from: 'refund_addresses', columns: ['*'] }).rows(
        handle,
        'where session_id = ?',
        [sessionId],
      );
      return row && statedForm.recordOf(row);
    },

    /** Replaces an earlier statement of the session. */
    async keep(stated: StatedAddress): Promise<void> {
      await handle('refund_addresses').insert(statedForm.rowOf(stated)).onConflict('session_id').merge();
    },

    async addLink(link: { sessionId: string; tokenHash: string; expiresAt: number }): Promise<void> {
      const { sessionId: session_id, tokenHash: token_hash, expiresAt: expires_at } = link;
      await handle('refund_links').insert({ token_hash, session_id, expires_at });
    },

    /** Ends of the links of a session that have not expired, used or not, the first one first. */
    async linkEnds(sessionId: string, now: number): Promise<number[]> {
      const rows = await select({ from: 'refund_links', columns: ['expires_at'] }).rows(
        handle,
        'where session_id = ? and expires_at > ? order by expires_at',
        [sessionId, now],
      );
      return rows.map(row => row.expires_at);
    },

    /** Uses a link up. False for one of another session, and for one that was used or has expired. */
    async useLink(
      { sessionId, tokenHash }: { sessionId: string; tokenHash: string },
      now: number,
    ): Promise<boolean> {
      const used = await execute(
        handle,
        `update refund_links set used_at = ?
         where token_hash = ? and session_id = ? and used_at is null and expires_at > ?`,
        [now, tokenHash, sessionId, now],
      );
      return used === 1;
    },

    /** Removes up to `limit` links that expired before a time. Returns their number. */
    removeLinks({ before, limit }: { before: number; limit: number }): Promise<number> {
      return execute(
        handle,
        `delete from refund_links where token_hash in (
           select token_hash from refund_links where expires_at < ? order by expires_at limit ?
         )`,
        [before, limit],
      );
    },
  };
}

const statedForm = recordForm<StatedAddress>({
  sessionId: 'plain',
  address: 'plain',
  isProved: 'boolean',
  isByEmail: 'boolean',
  proofs: 'plain',
  previousAddress: 'plain',
  statedAt: 'plain',
});
