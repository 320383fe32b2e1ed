import type { Tables } from 'knex/types/tables.js';
import type { Handle } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { select } from '../tables/select.ts';

/** Progress of scanning a chain for transfers. */
interface ChainCursor {
  readonly blockNumber: number;
  /** Start of the latest scan that reached the node's head, in UTC milliseconds. */
  readonly scannedAt: number;
  /**
   * Latest block time of a head that a scan has reached, in UTC milliseconds; undefined before the first one. Everything
   * older was read.
   */
  readonly headTime: number | undefined;
  /** The last block that was scanned for the native coin; undefined while it is the same. */
  readonly coinsBlock?: number | undefined;
}

/** Last block of a scan. Later looks compare its hash with the chain. */
export interface ScannedBlock {
  readonly number: number;
  readonly hash: string;
  /** Time at which the scan saw it for the first time, in UTC milliseconds. */
  readonly seenAt: number;
}

/** Change of the stored blocks of scans. */
export interface ScannedBlocksChange {
  readonly added: ScannedBlock;
  /** Numbers of blocks that are deleted first: other branches, and those too old to be needed. */
  readonly dropped: readonly number[];
}

/** A cursor and the block that the scan has reached; undefined when that block is stored. */
export interface ScanProgress extends ChainCursor {
  readonly blocks?: ScannedBlocksChange | undefined;
}

/** Progress on a chain. */
export interface ChainProgress extends ChainCursor {
  /** The latest head at which all settled records were still on the chain; undefined before the first check. */
  readonly settledBlock: number | undefined;
  /** Number of the first block whose coins are read from logs (Decision 374); undefined while there is none. */
  readonly coinLogsFrom: number | undefined;
  /** Undefined before the first traces were read. */
  readonly traced: TracedProgress | undefined;
  /** The block up to which transfers were read from proven blocks; undefined while none are (Decision 388). */
  readonly proven: ReachedBlock | undefined;
  /** Block up to which sweeps are recorded; undefined before the first deposit address of the chain. */
  readonly sweptBlock: number | undefined;
}

/** A block up to which a chain was read behind the scan. Without hash and time it was not read itself. */
export interface ReachedBlock {
  readonly number: number;
  readonly hash?: string | undefined;
  /** UTC milliseconds. */
  readonly time?: number | undefined;
}

/** Progress of reading traces. */
export interface TracedProgress extends ReachedBlock {
  /** The trace method in use; null when no node has one, undefined while that is not known. */
  readonly by: string | null | undefined;
}

/** Source that shows coins which contracts send: logs (Decision 374) or traces (Decision 375). */
export type ContractCoins = 'logs' | 'traces';

/** The source of the next block of a chain; null when it has none, or nothing of the chain was read. */
export function contractCoinsOf(progress: ChainProgress | undefined): ContractCoins | null {
  const { blockNumber = 0, coinLogsFrom = Number.POSITIVE_INFINITY } = progress ?? {};
  if (coinLogsFrom <= blockNumber + 1) return 'logs';
  return progress?.traced?.by == null ? null : 'traces';
}

/** Progress made by a look. Undefined parts stay unchanged. */
export interface LookProgress {
  readonly cursor?: ScanProgress;
  readonly settledBlock?: number;
  readonly traced?: TracedProgress;
  readonly proven?: ReachedBlock;
  readonly sweptBlock?: number;
  /** Time of the block up to which the balances of open deposit addresses are known; null while none are needed. */
  readonly balancesTime?: number | null;
}

/** Columns of `ChainProgress`. */
export const PROGRESS_COLUMNS = [
  'block_number',
  'scanned_at',
  'head_time',
  'coins_block',
  'coin_logs_from',
  'settled_block',
  'traced_block',
  'traced_hash',
  'traced_time',
  'traced_by',
  'proven_block',
  'proven_hash',
  'swept_block',
] as const;

export type CursorRow = Pick<Tables['chain_cursors'], (typeof PROGRESS_COLUMNS)[number]>;

export function progressOf(row: CursorRow): ChainProgress {
  return {
    blockNumber: row.block_number,
    scannedAt: row.scanned_at,
    headTime: row.head_time ?? undefined,
    coinsBlock: row.coins_block ?? undefined,
    settledBlock: row.settled_block ?? undefined,
    coinLogsFrom: row.coin_logs_from ?? undefined,
    traced:
      row.traced_block === null
        ? undefined
        : {
            number: row.traced_block,
            hash: row.traced_hash ?? undefined,
            time: row.traced_time ?? undefined,
            by: row.traced_by,
          },
    proven:
      row.proven_block === null
        ? undefined
        : { number: row.proven_block, hash: row.proven_hash ?? undefined },
    sweptBlock: row.swept_block ?? undefined,
  };
}

/** Cursors of the payment chains. */
export function cursorStore(handle: Handle) {
  async function set(
    chainId: number,
    { blockNumber, scannedAt, headTime, coinsBlock, blocks }: ScanProgress,
  ): Promise<void> {
    await execute(
      handle,
      `insert into chain_cursors (chain_id, block_number, scanned_at, head_time, coins_block)
         values (?, ?, ?, ?, ?)
       on conflict (chain_id) do update set block_number = excluded.block_number,
         scanned_at = excluded.scanned_at, head_time = excluded.head_time, coins_block = excluded.coins_block`,
      [chainId, blockNumber, scannedAt, headTime ?? null, coinsBlock ?? null],
    );
    if (blocks !== undefined) await change(chainId, blocks);
  }

  async function change(chainId: number, { added, dropped }: ScannedBlocksChange): Promise<void> {
    if (dropped.length > 0) {
      const numbers = placeholders(dropped.length);
      await execute(
        handle,
        `delete from scanned_blocks where chain_id = ? and block_number in (${numbers})`,
        [chainId, ...dropped],
      );
    }
    await execute(
      handle,
      `insert into scanned_blocks (chain_id, block_number, block_hash, seen_at) values (?, ?, ?, ?)
       on conflict (chain_id, block_number)
         do update set block_hash = excluded.block_hash, seen_at = excluded.seen_at`,
      [chainId, added.number, added.hash, added.seenAt],
    );
  }

  async function setTraced(chainId: number, { number, hash, time, by }: TracedProgress): Promise<void> {
    await handle('chain_cursors')
      .where({ chain_id: chainId })
      .update({
        traced_block: number,
        traced_hash: hash ?? null,
        traced_time: time ?? null,
        ...(by === undefined ? {} : { traced_by: by }),
      });
  }

  async function setProven(chainId: number, { number, hash }: ReachedBlock): Promise<void> {
    await handle('chain_cursors')
      .where({ chain_id: chainId })
      .update({ proven_block: number, proven_hash: hash ?? null });
  }

  return {
    async find(chainId: number): Promise<ChainProgress | undefined> {
      const progress = select({ from: 'chain_cursors', columns: PROGRESS_COLUMNS });
      const [row] = await progress.rows(handle, 'where chain_id = ?', [chainId]);
      return row && progressOf(row);
    },

    set,

    /** The stored blocks of a chain's scans, the newest first. */
    async scannedBlocks(chainId: number): Promise<ScannedBlock[]> {
      const rows = await select({
        from: 'scanned_blocks',
        columns: ['block_number', 'block_hash', 'seen_at'],
      }).rows(
        handle,
        `where chain_id = ?
         order by block_number desc`,
        [chainId],
      );
      return rows.map(row => ({ number: row.block_number, hash: row.block_hash, seenAt: row.seen_at }));
    },

    /** Stores the progress of a look. A settled block never decreases. All but the cursor need one. */
    async keep(
      chainId: number,
      { cursor, settledBlock, traced, proven, sweptBlock, balancesTime }: LookProgress,
    ): Promise<void> {
      if (cursor !== undefined) await set(chainId, cursor);
      if (traced !== undefined) await setTraced(chainId, traced);
      if (proven !== undefined) await setProven(chainId, proven);
      if (sweptBlock !== undefined)
        await handle('chain_cursors').where({ chain_id: chainId }).update({ swept_block: sweptBlock });
      if (balancesTime !== undefined)
        await handle('chain_cursors').where({ chain_id: chainId }).update({ balances_time: balancesTime });
      if (settledBlock === undefined) return;
      await execute(
        handle,
        `update chain_cursors set settled_block = ?
         where chain_id = ? and (settled_block is null or settled_block < ?)`,
        [settledBlock, chainId, settledBlock],
      );
    },

    /**
     * Stores the first block whose coins are read from logs, and for a chain that was never scanned the block before its
     * first one. It never changes again.
     */
    async setCoinLogs(
      chainId: number,
      { from, blockNumber }: { from: number; blockNumber: number },
    ): Promise<void> {
      await execute(
        handle,
        `insert into chain_cursors (chain_id, block_number, scanned_at, coin_logs_from) values (?, ?, 0, ?)
         on conflict (chain_id) do update set coin_logs_from = excluded.coin_logs_from
           where chain_cursors.coin_logs_from is null`,
        [chainId, blockNumber, from],
      );
    },

    /** Has no effect for a chain without a cursor. */
    async setSettledBlock(chainId: number, settledBlock: number): Promise<void> {
      await handle('chain_cursors').where({ chain_id: chainId }).update({ settled_block: settledBlock });
    },

    /**
     * Stores the hash of a chain's first block. True when it was another one before, which means another chain with the
     * same id; its progress is then deleted. Needs a transaction.
     */
    async isNewChain(chainId: number, firstBlock: string): Promise<boolean> {
      const [before] = await select({ from: 'first_blocks', columns: ['block_hash'] }).rows(
        handle,
        'where chain_id = ?',
        [chainId],
      );
      if (before?.block_hash === firstBlock) return false;
      await handle('first_blocks')
        .insert({ chain_id: chainId, block_hash: firstBlock })
        .onConflict('chain_id')
        .merge();
      if (before === undefined) return false;
      await handle('chain_cursors').where({ chain_id: chainId }).delete();
      await handle('scanned_blocks').where({ chain_id: chainId }).delete();
      await handle('set_aside_blocks').where({ chain_id: chainId }).delete();
      await handle('sweeps').where({ chain_id: chainId }).delete();
      await handle('deposit_addresses').where({ chain_id: chainId }).update({ looked_block: null });
      return true;
    },
  };
}
