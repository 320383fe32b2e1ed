import type { Handle, Transaction } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { announce } from '../../db/woken-worker.ts';
import { type PaidAddress, watcherName } from '../model/payment-chain.ts';
import type { CheckoutSession } from '../model/session.ts';
import { HASH_SEARCH_MS, type HashStatus } from '../model/transfer.ts';
import { select } from '../tables/select.ts';

/** Time in which a hash is looked up once, whichever session names it, in milliseconds. */
const ASK_AGAIN_MS = 60_000;
/** Most hashes that one session can have looked up. */
export const MAX_HASHES = 10;

/** A hash to look up, with the paid address of sessions that named it, and the time of their payments. */
export interface ReportedHash extends PaidAddress {
  readonly txHash: string;
  /** Times in UTC milliseconds: the first creation and the last end of these sessions. */
  readonly createdAt: number;
  readonly endedAt: number;
}

/** Transaction hashes that payers reported and no record has (Decision 362). */
export function reportedHashStore(handle: Handle) {
  return {
    /** Hashes of a chain that are to be looked up, at most `limit`. Sessions take turns. */
    async due(chainId: number, { now, limit }: { now: number; limit: number }): Promise<ReportedHash[]> {
      const hashes = await select({ computed: { tx_hash: ['text', 'tx_hash'] } }).rows(
        handle,
        `from (
           select tx_hash, asked_at, row_number() over (partition by session_id order by asked_at, tx_hash) as turn
           from reported_hashes where status = 'searching' and chain_id = ? and asked_at > ?
         ) asked group by tx_hash order by min(turn), min(asked_at), tx_hash limit ${limit}`,
        [chainId, now - HASH_SEARCH_MS],
      );
      if (hashes.length === 0) return [];
      const rows = await select({
        computed: {
          tx_hash: ['text', 'r.tx_hash'],
          token_address: ['text', 's.token_address'],
          recipient_address: ['text', 'coalesce(s.deposit_address, s.recipient_address)'],
          created_at: ['time', 'min(s.created_at)'],
          ended_at: ['time', 'max(coalesce(s.ended_at, s.expires_at))'],
        },
      }).rows(
        handle,
        `from reported_hashes r join checkout_sessions s on s.id = r.session_id
         where r.chain_id = ? and r.tx_hash in (${placeholders(hashes.length)})
         group by r.tx_hash, s.token_address, coalesce(s.deposit_address, s.recipient_address)`,
        [chainId, ...hashes.map(row => row.tx_hash)],
      );
      return rows.map(row => ({
        txHash: row.tx_hash,
        chainId,
        tokenAddress: row.token_address,
        recipientAddress: row.recipient_address,
        createdAt: row.created_at,
        endedAt: row.ended_at,
      }));
    },

    /** Stores what the nodes say about hashes. */
    async settle(chainId: number, found: readonly (readonly [txHash: string, HashStatus])[]): Promise<void> {
      for (const [status, alike] of Map.groupBy(found, ([, status]) => status)) {
        await execute(
          handle,
          `update reported_hashes set status = ?
           where chain_id = ? and status = 'searching' and tx_hash in (${placeholders(alike.length)})`,
          [status, chainId, ...alike.map(([txHash]) => txHash)],
        );
      }
    },
  };
}

/**
 * Has a hash looked up for a session, unless it was within the last minute, and returns what is known of it. Undefined
 * for a session that has no more hashes. `now` is UTC milliseconds.
 */
export async function lookUpHash(
  handle: Transaction,
  { id, chainId }: Pick<CheckoutSession, 'id' | 'chainId'>,
  txHash: string,
  now: number,
): Promise<HashStatus | undefined> {
  const named = await select({ from: 'reported_hashes', columns: ['tx_hash'] }).rows(
    handle,
    'where session_id = ?',
    [id],
  );
  if (named.length >= MAX_HASHES && !named.some(row => row.tx_hash === txHash)) return undefined;
  const [latest] = await select({ from: 'reported_hashes', columns: ['status', 'asked_at'] }).rows(
    handle,
    'where chain_id = ? and tx_hash = ? and asked_at > ? order by asked_at desc limit 1',
    [chainId, txHash, now - ASK_AGAIN_MS],
  );
  const { status, asked_at: askedAt } = latest ?? { status: 'searching', asked_at: now };
  await execute(
    handle,
    `insert into reported_hashes (session_id, chain_id, tx_hash, status, asked_at) values (?, ?, ?, ?, ?)
     on conflict (session_id, tx_hash) do update set status = excluded.status, asked_at = excluded.asked_at`,
    [id, chainId, txHash, status, askedAt],
  );
  if (latest === undefined) announce(handle, watcherName(chainId));
  return status;
}
