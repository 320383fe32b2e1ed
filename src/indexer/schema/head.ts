import type { Hash } from 'viem';
import { hexOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { execute, rowsOf } from '../../db/query.ts';
import type { ComputedIndexColumns } from './computed-columns.ts';
import type { IndexTables } from './tables.ts';

/** Highest block in the index. Times are UTC milliseconds. */
export interface Head {
  number: number;
  hash: Hash;
  timestamp: number;
  /**
   * Grows with every reorganisation deeper than the chain's confirmations, and when parts of such a deep block arrive
   * later, because answers that counted as final have changed.
   */
  epoch: number;
}

type HeadColumns = Pick<IndexTables['blocks'], 'number' | 'hash' | 'timestamp'> &
  Pick<IndexTables['index_state'], 'epoch'>;

/** Most entries of unread state that are counted. */
export const MOST_COUNTED = 1_000;

const HEAD_COLUMNS = 'number, hash, timestamp, (select epoch from index_state where id = 1) as epoch';

/**
 * Progress of an index, read by one statement, because several might see different moments. Only the epoch of an empty
 * index takes another: it never decreases.
 */
export interface Progress {
  /** Null while the index is empty. */
  readonly head: Head | null;
  /** Epoch of the head, also when a reorganisation has left no block. */
  readonly epoch: number;
  /** Lowest indexed height. */
  readonly firstNumber: number | null;
  /** True when all state that blocks up to `staleUpTo` touched has been read, or at least tried. */
  readonly isStateFresh: boolean;
  /** Number of entries of state whose last read failed. At most `MOST_COUNTED` are counted. */
  readonly unreadState: number;
  /** Number of changes without a new block: missing parts of a block that arrived, and batches of state. */
  readonly fills: number;
  /** Number of blocks with missing parts. */
  readonly unreadBlocks: number;
}

/** `staleUpTo` is the newest block whose state must have been read. */
export async function readProgress(handle: Handle, staleUpTo: number): Promise<Progress> {
  const [row] = await rowsOf<ProgressColumns>(
    handle,
    `select ${HEAD_COLUMNS},
       (select min(number) from blocks where number >= 0) as first_number,
       (select fills from index_state where id = 1) as fills,
       (select count(*) from unread_blocks) as row_count,
       (select count(*) from (select 1 from dirty where attempts > 0 limit ${MOST_COUNTED}) waiting) as unread_state,
       case when exists (select 1 from dirty where attempts = 0 and block <= ?) then 0 else 1 end as is_state_fresh
     from blocks where number >= 0 order by number desc limit 1`,
    [staleUpTo],
  );
  if (row === undefined) {
    const epoch = await readEpoch(handle);
    return {
      head: null,
      epoch,
      firstNumber: null,
      isStateFresh: true,
      unreadState: 0,
      fills: 0,
      unreadBlocks: 0,
    };
  }
  const {
    first_number,
    is_state_fresh,
    unread_state: unreadState,
    fills,
    row_count: unreadBlocks,
    ...head
  } = row;
  return {
    head: headOf(head),
    epoch: head.epoch,
    firstNumber: first_number,
    isStateFresh: is_state_fresh === 1,
    unreadState,
    fills,
    unreadBlocks,
  };
}

type ProgressColumns = HeadColumns &
  Pick<IndexTables['index_state'], 'fills'> &
  Pick<ComputedIndexColumns, 'first_number' | 'is_state_fresh' | 'unread_state' | 'row_count'>;

async function readEpoch(handle: Handle): Promise<number> {
  const [row] = await rowsOf<Pick<IndexTables['index_state'], 'epoch'>>(
    handle,
    'select epoch from index_state where id = 1',
  );
  return row?.epoch ?? 0;
}

/** Null while the index is empty. */
export async function readHead(handle: Handle): Promise<Head | null> {
  const [row] = await rowsOf<HeadColumns>(
    handle,
    `select ${HEAD_COLUMNS}
     from blocks where number >= 0 order by number desc limit 1`,
  );
  return row === undefined ? null : headOf(row);
}

function headOf(row: HeadColumns): Head {
  return { ...row, hash: hexOf(row.hash) };
}

/** Identifies this index among all others, including an earlier one of the same chain. */
export async function readIdentity(handle: Handle): Promise<string> {
  const [row] = await rowsOf<Pick<IndexTables['index_state'], 'identity'>>(
    handle,
    'select identity from index_state where id = 1',
  );
  return row?.identity ?? '';
}

/** Hash of the canonical block at this height; null when it is not indexed. */
export async function hashAt(handle: Handle, number: number): Promise<Hash | null> {
  const [row] = await rowsOf<Pick<IndexTables['blocks'], 'hash'>>(
    handle,
    'select hash from blocks where number = ?',
    [number],
  );
  return row === undefined ? null : hexOf(row.hash);
}

/** Lowest indexed height, where the search for a common ancestor ends. */
export async function firstNumber(handle: Handle): Promise<number | null> {
  const [row] = await rowsOf<Pick<IndexTables['blocks'], 'number'>>(
    handle,
    'select number from blocks where number >= 0 order by number limit 1',
  );
  return row?.number ?? null;
}

/**
 * Claims an index for a chain.
 * @throws when the database holds another chain's index
 */
export async function claimForChain(handle: Handle, chainId: number): Promise<void> {
  await execute(handle, 'insert into index_state (id, chain_id) values (1, ?) on conflict do nothing', [
    chainId,
  ]);
  const [row] = await rowsOf<Pick<IndexTables['index_state'], 'chain_id'>>(
    handle,
    'select chain_id from index_state where id = 1',
  );
  if (row?.chain_id !== chainId) {
    throw new Error(`The index holds chain ${row?.chain_id}, but chain ${chainId} is configured.`);
  }
}
