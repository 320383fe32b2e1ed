import { exactInteger, jsonColumn, jsonOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { newId } from '../../lib/ids.ts';
import type { BlockPart, SetAsideReason } from '../model/set-aside.ts';
import { select } from '../tables/select.ts';

/** A block of which a part is set aside. */
export interface UnreadPart {
  readonly part: BlockPart;
  readonly number: number;
  readonly hash: string;
  /** UTC milliseconds. */
  readonly time: number;
  readonly reason: SetAsideReason;
}

/** Progress of reading a block transaction by transaction. */
export interface PiecesProgress {
  /** Transactions before this one were tried. */
  readonly nextTransaction: number;
  /** Positions in the block of those that could not be read. */
  readonly unread: readonly number[];
  readonly reason: SetAsideReason;
  /** Attempts in a row that brought nothing. */
  readonly attempts: number;
  /** UTC milliseconds. */
  readonly nextAttemptAt: number;
  /** True when no transaction is left. */
  readonly isRead: boolean;
}

/** A block with the progress of reading it. */
export interface SetAsideBlock extends UnreadPart, PiecesProgress {
  readonly id: string;
}

/** Blocks that are set aside, because their logs or coins could not be read at once. */
export function setAsideBlockStore(handle: Handle) {
  return {
    /** The blocks of a chain, the oldest first. Those that were read since are among them until they are old. */
    async all(chainId: number): Promise<SetAsideBlock[]> {
      const rows = await select({ from: 'set_aside_blocks', columns: ['*'] }).rows(
        handle,
        'where chain_id = ? order by block_number',
        [chainId],
      );
      return rows.map(row => ({
        id: row.id,
        part: row.part,
        number: row.block_number,
        hash: row.block_hash,
        time: row.block_time,
        nextTransaction: row.next_transaction,
        unread: jsonOf<readonly number[]>(row.unread),
        reason: row.reason,
        attempts: row.attempts,
        nextAttemptAt: row.next_attempt_at,
        isRead: row.read_at !== null,
      }));
    },

    /** Numbers of blocks that are not read completely, by chain. */
    async counts(): Promise<ReadonlyMap<number, number>> {
      const rows = await select({
        computed: { chain_id: ['count', 'chain_id'], total: ['count', 'count(*)'] },
      }).rows(
        handle,
        `from (
           select distinct chain_id, block_number from set_aside_blocks where read_at is null
         ) as blocks group by chain_id`,
      );
      return new Map(rows.map(row => [row.chain_id, exactInteger(row.total)]));
    },

    /** Sets blocks aside, due at once. Another block with the same number is replaced. */
    async add(chainId: number, blocks: readonly UnreadPart[], now: number): Promise<void> {
      for (const { part, number, hash, time, reason } of blocks) {
        await execute(
          handle,
          `insert into set_aside_blocks (id, chain_id, part, block_number, block_hash, block_time, next_transaction,
             unread, reason, attempts, set_aside_at, attempted_at, next_attempt_at)
           values (?, ?, ?, ?, ?, ?, 0, '[]', ?, 0, ?, ?, ?)
           on conflict (chain_id, part, block_number) do update set block_hash = excluded.block_hash,
             block_time = excluded.block_time, next_transaction = 0, unread = '[]', reason = excluded.reason,
             attempts = 0, next_attempt_at = excluded.next_attempt_at, read_at = null`,
          [newId('sab'), chainId, part, number, hash, time, reason, now, now, now],
        );
      }
    },

    /** Has no effect when another block took the place of this one. */
    async progress(
      { id, hash }: Pick<SetAsideBlock, 'id' | 'hash'>,
      { nextTransaction, unread, reason, attempts, nextAttemptAt, isRead }: PiecesProgress,
      now: number,
    ): Promise<void> {
      await execute(
        handle,
        `update set_aside_blocks set next_transaction = ?, unread = ?, reason = ?, attempts = ?, attempted_at = ?,
           next_attempt_at = ?, read_at = ? where id = ? and block_hash = ?`,
        [
          nextTransaction,
          jsonColumn(unread),
          reason,
          attempts,
          now,
          nextAttemptAt,
          isRead ? now : null,
          id,
          hash,
        ],
      );
    },

    async remove(ids: readonly string[]): Promise<void> {
      if (ids.length === 0) return;
      await execute(handle, `delete from set_aside_blocks where id in (${placeholders(ids.length)})`, ids);
    },
  };
}
