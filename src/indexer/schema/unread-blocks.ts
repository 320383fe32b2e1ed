import type { Handle } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import { insertTyped } from '../../db/rows.ts';
import { select } from './select.ts';
import { type IndexTables, TABLES } from './tables.ts';

/** Numbers of a block's transactions that lack a part, because the node could not give it. */
export interface UnreadParts {
  readonly receipts: number;
  readonly traces: number;
  /** Transactions whose receiver's code is not known. */
  readonly codes: number;
  /** First reason, in the words of the node or the client. */
  readonly reason: string;
}

/** A block that was indexed without a part. */
export interface UnreadBlock extends UnreadParts {
  readonly number: number;
  /** Times that its parts were asked for again. */
  readonly attempts: number;
  /** Time of the next attempt, in UTC milliseconds. */
  readonly dueAt: number;
}

/** Pauses before a block's missing parts are asked for again. They double from the shortest to the longest. */
const SHORTEST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 24 * 3_600_000;

/** Notes which of these blocks lack a part. They are asked for again a minute later. */
export async function setAside(
  handle: Handle,
  blocks: readonly { readonly number: number; readonly unread: UnreadParts | null }[],
  now: number,
): Promise<void> {
  const rows = blocks.flatMap(({ number, unread }) =>
    unread === null ? [] : [{ number, ...unread, attempts: 0, due_at: now + SHORTEST_PAUSE_MS }],
  );
  await insertTyped(handle, { table: 'unread_blocks', columns: TABLES.unread_blocks.columns }, rows);
}

/** Block whose parts are due to be asked for; null when none is. */
export async function nextUnread(handle: Handle, now: number): Promise<UnreadBlock | null> {
  const [row] = await select({ from: 'unread_blocks', columns: ['*'] }).rows(
    handle,
    'where due_at <= ? order by due_at, number limit 1',
    [now],
  );
  return row === undefined ? null : unreadBlockOf(row);
}

/** Blocks with missing parts from block `from` on, lowest first. */
export async function unreadBlocks(
  handle: Handle,
  { from, limit }: { from: number; limit: number },
): Promise<UnreadBlock[]> {
  const rows = await select({ from: 'unread_blocks', columns: ['*'] }).rows(
    handle,
    'where number >= ? order by number limit ?',
    [from, limit],
  );
  return rows.map(unreadBlockOf);
}

/** A block's missing parts; null when it has all. */
export async function unreadBlock(handle: Handle, number: number): Promise<UnreadBlock | null> {
  const [row] = await select({ from: 'unread_blocks', columns: ['*'] }).rows(handle, 'where number = ?', [
    number,
  ]);
  return row === undefined ? null : unreadBlockOf(row);
}

function unreadBlockOf({ due_at: dueAt, ...row }: IndexTables['unread_blocks']): UnreadBlock {
  return { ...row, dueAt };
}

/** Puts the next attempt off, each time twice as long. */
export async function postponeBlock(
  handle: Handle,
  { number, attempts }: Pick<UnreadBlock, 'number' | 'attempts'>,
  { now, reason }: { now: number; reason: string },
): Promise<void> {
  const pauseMs = Math.min(SHORTEST_PAUSE_MS * 2 ** (attempts + 1), LONGEST_PAUSE_MS);
  await execute(handle, 'update unread_blocks set attempts = ?, due_at = ?, reason = ? where number = ?', [
    attempts + 1,
    now + pauseMs,
    reason,
    number,
  ]);
}

/** Makes the missing parts of at most `limit` blocks due now, from block `from` on. Returns the number of blocks. */
export function askNow(
  handle: Handle,
  { now, from, limit }: { now: number; from: number; limit: number },
): Promise<number> {
  return execute(
    handle,
    `update unread_blocks set attempts = 0, due_at = ? where number in (
       select number from unread_blocks where number >= ? order by number limit ?)`,
    [now, from, limit],
  );
}
