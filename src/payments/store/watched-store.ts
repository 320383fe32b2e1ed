import type { Tables } from 'knex/types/tables.js';
import type { Handle } from '../../db/open.ts';
import { execute, rowsOf } from '../../db/query.ts';
import type { Owner } from '../model/owner.ts';
import type { PaidAddress } from '../model/payment-chain.ts';
import { select } from '../tables/select.ts';

/** Precision of the time of a recipient's last session, in milliseconds. Within it, new sessions write nothing. */
export const WATCH_NOTE_MS = 3_600_000;

/** Recipients whose transfers the watcher looks for. Each has a session, or had one within the retention time. */
export function watchedStore(handle: Handle) {
  return {
    /** Records that a session opens now (UTC milliseconds). */
    async watch(
      { organizationId, mode }: Owner,
      { chainId, tokenAddress, recipientAddress }: PaidAddress,
      now: number,
    ): Promise<void> {
      const row = [organizationId, mode, chainId, tokenAddress, recipientAddress];
      // Read first: an upsert would lock the row of a busy recipient for every session that opens.
      const recent = await rowsOf(
        handle,
        `select 1 from watched_recipients where organization_id = ? and mode = ? and chain_id = ?
           and token_address = ? and recipient_address = ? and last_session_at > ?`,
        [...row, now - WATCH_NOTE_MS],
      );
      if (recent.length > 0) return;
      await execute(
        handle,
        `insert into watched_recipients
           (organization_id, mode, chain_id, token_address, recipient_address, last_session_at)
         values (?, ?, ?, ?, ?, ?)
         on conflict (chain_id, token_address, recipient_address, organization_id, mode)
         do update set last_session_at = excluded.last_session_at`,
        [...row, now],
      );
    },

    /** Removes recipients without an active session whose last one was opened before `before`. Returns their number. */
    removeUnused({ before, limit }: { before: number; limit: number }): Promise<number> {
      const columns = 'organization_id, mode, chain_id, token_address, recipient_address';
      return execute(
        handle,
        `delete from watched_recipients where (${columns}) in (
           select ${columns} from watched_recipients
           where last_session_at < ? and (chain_id, token_address, recipient_address) not in (
             select chain_id, token_address, recipient_address from checkout_sessions where status = 'active'
           ) order by last_session_at limit ?
         )`,
        [before, limit],
      );
    },

    /** Distinct recipients of all organizations. */
    async recipients(chainId: number): Promise<PaidAddress[]> {
      const rows = await select({
        from: 'watched_recipients',
        isDistinct: true,
        columns: ['token_address', 'recipient_address'],
      }).rows(handle, `where chain_id = ? order by token_address, recipient_address`, [chainId]);
      return rows.map(row => paidAddressFrom(chainId, row));
    },

    /** Marks recipients that a watcher has in memory from now on (UTC milliseconds). */
    async markRead(chainId: number, addresses: readonly PaidAddress[], now: number): Promise<void> {
      await execute(
        handle,
        `update watched_recipients set read_at = ?
         where chain_id = ? and read_at is null and (token_address, recipient_address) in (
           values ${addresses.map(() => '(?, ?)').join(', ')}
         )`,
        [now, chainId, ...addresses.flatMap(one => [one.tokenAddress, one.recipientAddress])],
      );
    },
  };
}

export type PaidAddressRow = Pick<Tables['watched_recipients'], 'token_address' | 'recipient_address'>;

export function paidAddressFrom(chainId: number, row: PaidAddressRow): PaidAddress {
  return { chainId, tokenAddress: row.token_address, recipientAddress: row.recipient_address };
}
