import type { Handle } from '#db/open.ts';
import { readHead } from '../../schema/head.ts';

/** A moment of the chain. */
export interface BlockAtTime {
  /** The time asked for, but never after the newest block. UTC milliseconds. */
  time: number;
  /** The last block at or before it. */
  blockNumber: number;
  /** Whether that is the newest block, so that what the index keeps as of now is of this moment. */
  isHead: boolean;
}

/** The moment of this time (UTC milliseconds), of the newest block without; null before the first block. */
export async function blockAtTime(
  handle: Handle,
  time: number = Number.MAX_SAFE_INTEGER,
): Promise<BlockAtTime | null> {
  const head = await readHead(handle);
  if (head === null) return null;
  if (head.timestamp <= time) return { time: head.timestamp, blockNumber: head.number, isHead: true };
  const [block] = await handle.raw<{ number: number }[]>(
    'select number from blocks where timestamp <= ? order by timestamp desc, number desc limit 1',
    [time],
  );
  return block === undefined ? null : { time, blockNumber: block.number, isHead: false };
}
