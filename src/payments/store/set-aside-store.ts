import { exactInteger } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { DAY_MS } from '../../lib/clock.ts';
import { newId } from '../../lib/ids.ts';
import type { UnreadReceipt } from '../model/set-aside.ts';
import { select } from '../tables/select.ts';

/** Pause before the second attempt; it doubles with each attempt, up to a day. */
const FIRST_PAUSE_MS = 60_000;

/** Transactions of a chain that are set aside until their receipts can be read. */
export function setAsideStore(handle: Handle) {
  return {
    /** Records a failed attempt at `now` (UTC milliseconds). Returns the time of the next one. Needs a transaction. */
    async add(chainId: number, { txHash, reason }: UnreadReceipt, now: number): Promise<number> {
      const [before] = await select({ from: 'set_aside_transactions', columns: ['attempts'] }).rows(
        handle,
        'where chain_id = ? and tx_hash = ?',
        [chainId, txHash],
      );
      const attempts = (before?.attempts ?? 0) + 1;
      const nextAttemptAt = now + Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), DAY_MS);
      await execute(
        handle,
        `insert into set_aside_transactions
           (id, chain_id, tx_hash, reason, attempts, set_aside_at, attempted_at, next_attempt_at)
         values (?, ?, ?, ?, ?, ?, ?, ?)
         on conflict (chain_id, tx_hash) do update set reason = excluded.reason, attempts = excluded.attempts,
           attempted_at = excluded.attempted_at, next_attempt_at = excluded.next_attempt_at`,
        [newId('sat'), chainId, txHash, reason, attempts, now, now, nextAttemptAt],
      );
      return nextAttemptAt;
    },

    /**
     * Takes back transactions whose receipts were read. After one of them was set aside, the others are due at once: the
     * node may have refused all of them for a while.
     */
    async remove(chainId: number, txHashes: readonly string[], now: number): Promise<void> {
      if (txHashes.length === 0) return;
      const removed = await execute(
        handle,
        `delete from set_aside_transactions where chain_id = ? and tx_hash in (${placeholders(txHashes.length)})`,
        [chainId, ...txHashes],
      );
      if (removed === 0) return;
      await execute(
        handle,
        'update set_aside_transactions set next_attempt_at = ? where chain_id = ? and next_attempt_at > ?',
        [now, chainId, now],
      );
    },

    /** Times of the next attempts by hash. */
    async nextAttempts(chainId: number): Promise<ReadonlyMap<string, number>> {
      const rows = await select({
        from: 'set_aside_transactions',
        columns: ['tx_hash', 'next_attempt_at'],
      }).rows(handle, 'where chain_id = ?', [chainId]);
      return new Map(rows.map(row => [row.tx_hash, row.next_attempt_at]));
    },

    /** Removes transactions without a payment or transfer that waits for them. Returns their number. */
    removeUnused(): Promise<number> {
      return execute(
        handle,
        `delete from set_aside_transactions where not exists (
           select 1 from transactions t where t.status = 'confirming'
             and t.chain_id = set_aside_transactions.chain_id and t.tx_hash = set_aside_transactions.tx_hash
         ) and not exists (
           select 1 from unmatched_transfers u where u.confirmed_at is null
             and u.chain_id = set_aside_transactions.chain_id and u.tx_hash = set_aside_transactions.tx_hash
         )`,
      );
    },

    /** The number of transactions, and of blocks that no answer could hold and that are not read yet. */
    async count(chainId: number): Promise<number> {
      const [row] = await SET_ASIDE.rows(handle, '', [chainId, chainId]);
      return exactInteger(row?.total ?? 0);
    },
  };
}

/** Number of transactions and parts of blocks that are set aside. */
const SET_ASIDE = select({
  computed: {
    total: [
      'count',
      `(select count(*) from set_aside_transactions where chain_id = ?)
       + (select count(*) from set_aside_blocks where chain_id = ? and read_at is null)`,
    ],
  },
});
