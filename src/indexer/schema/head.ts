import type { Hash } from 'viem';
import { hexOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import type { RowIn } from '../../db/select/select.ts';
import { select } from './select.ts';

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

/** Most entries of unread state that are counted. */
const MAX_COUNTED = 1_000;

const HEAD_COLUMNS = ['number', 'hash', 'timestamp'] as const;
const EPOCH = ['count', '(select epoch from index_state where id = 1)'] as const;
const HEAD = select({ from: 'blocks', columns: HEAD_COLUMNS, computed: { epoch: EPOCH } });
const PROGRESS = select({
  from: 'blocks',
  columns: HEAD_COLUMNS,
  computed: {
    epoch: EPOCH,
    first_number: ['count?', '(select min(number) from blocks where number >= 0)'],
    fills: ['count', '(select fills from index_state where id = 1)'],
    unread_blocks: ['count', '(select count(*) from unread_blocks)'],
    blocks: ['count', '(select blocks from block_counters where id = 1)'],
    proven_blocks: ['count', '(select proven_blocks from block_counters where id = 1)'],
    unread_state: [
      'count',
      `(select count(*) from (select 1 from dirty where attempts > 0 limit ${MAX_COUNTED}) waiting)`,
    ],
    is_state_fresh: [
      'count',
      'case when exists (select 1 from dirty where attempts = 0 and block <= ?) then 0 else 1 end',
    ],
  },
});
const NEWEST = 'where number >= 0 order by number desc limit 1';

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
  /** Number of entries of state whose last read failed. At most `MAX_COUNTED` are counted. */
  readonly unreadState: number;
  /** Number of changes without a new block: missing parts of a block that arrived, and batches of state. */
  readonly fills: number;
  /** Number of blocks with missing parts. */
  readonly unreadBlocks: number;
  /** Number of indexed blocks. */
  readonly blocks: number;
  /** Number of those that were recomputed up to their hash. */
  readonly provenBlocks: number;
}

/** `staleUpTo` is the newest block whose state must have been read. */
export async function readProgress(handle: Handle, staleUpTo: number): Promise<Progress> {
  const [row] = await PROGRESS.rows(handle, NEWEST, [staleUpTo]);
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
      blocks: 0,
      provenBlocks: 0,
    };
  }
  const {
    first_number,
    is_state_fresh,
    unread_state: unreadState,
    fills,
    unread_blocks: unreadBlocks,
    blocks,
    proven_blocks: provenBlocks,
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
    blocks,
    provenBlocks,
  };
}

async function readEpoch(handle: Handle): Promise<number> {
  const [row] = await select({ from: 'index_state', columns: ['epoch'] }).rows(handle, 'where id = 1');
  return row?.epoch ?? 0;
}

/** Null while the index is empty. */
export async function readHead(handle: Handle): Promise<Head | null> {
  const [row] = await HEAD.rows(handle, NEWEST);
  return row === undefined ? null : headOf(row);
}

function headOf(row: RowIn<typeof HEAD>): Head {
  return { ...row, hash: hexOf(row.hash) };
}

/** Identifies this index among all others, including an earlier one of the same chain. */
export async function readIdentity(handle: Handle): Promise<string> {
  const [row] = await select({ from: 'index_state', columns: ['identity'] }).rows(handle, 'where id = 1');
  return row?.identity ?? '';
}

/** Hash of the canonical block at this height; null when it is not indexed. */
export async function hashAt(handle: Handle, number: number): Promise<Hash | null> {
  const [row] = await select({ from: 'blocks', columns: ['hash'] }).rows(handle, 'where number = ?', [
    number,
  ]);
  return row === undefined ? null : hexOf(row.hash);
}

/** Lowest indexed height, where the search for a common ancestor ends. */
export async function firstNumber(handle: Handle): Promise<number | null> {
  const [row] = await select({ from: 'blocks', columns: ['number'] }).rows(
    handle,
    'where number >= 0 order by number limit 1',
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
  const [row] = await select({ from: 'index_state', columns: ['chain_id'] }).rows(handle, 'where id = 1');
  if (row?.chain_id !== chainId) {
    throw new Error(`The index holds chain ${row?.chain_id}, but chain ${chainId} is configured.`);
  }
}
