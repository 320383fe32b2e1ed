import { setImmediate } from 'node:timers/promises';
import type { SetAsideReason } from '../../model/set-aside.ts';
import type { Transfer } from '../../model/transfer.ts';
import type { Header, NodeReads, RpcLog } from './node-view.ts';
import { hasReached, isInBlock, loggedTransferOf, type WatchedAddresses } from './token-transfers.ts';
import type { BlockRange } from './transfer-logs.ts';

/** A block of which a part could not be read. */
export interface UnreadableBlock extends Header {
  readonly reason: SetAsideReason;
}

/** Logged transfers to the watched recipients in a range of blocks. */
export interface Scan {
  readonly transfers: readonly Transfer[];
  /** Keys (`logKey`) of logs in the range that were settled before. */
  readonly settled: readonly string[];
  /** The first block with a log that does not match its header; undefined when all match. */
  readonly unsureFrom: number | undefined;
  /** Blocks with logs that could not be read. */
  readonly unread: readonly UnreadableBlock[];
  /** Hash of the range's last block. */
  readonly lastHash: string;
}

/** Logs that are sorted in one turn of the event loop. */
const LOGS_PER_TURN = 500;

/**
 * Reads a consistent state of a range. Undefined when the node lacks its last block, or when that block changed during
 * the scan, because the logs may then be of another chain. Headers are read only for logs that were not settled before;
 * settled ones need only their key.
 */
export async function scan(
  range: BlockRange,
  {
    chainId,
    view,
    watched,
    skipped,
    isSettled,
    coinLogsFrom,
  }: {
    chainId: number;
    view: Pick<NodeReads, 'logs' | 'headers'>;
    watched: WatchedAddresses;
    /** Blocks that are passed over, because their logs are read in pieces. */
    skipped: ReadonlySet<number>;
    isSettled: (key: string) => boolean;
    /** See `loggedTransferOf`. */
    coinLogsFrom: number | undefined;
  },
): Promise<Scan | undefined> {
  const { logs, unread, last } = await view.logs(
    range,
    hasReached(range.to, coinLogsFrom) ? watched.withCoins : watched,
    skipped,
  );
  if (last === undefined) return undefined;
  const settled: string[] = [];
  const open: RpcLog[] = [];
  const numbers = new Set(unread.keys());
  for (const [index, log] of logs.entries()) {
    if (index > 0 && index % LOGS_PER_TURN === 0) await setImmediate();
    const key = logKey(log);
    if (isSettled(key)) {
      settled.push(key);
      continue;
    }
    open.push(log);
    if (log.blockNumber !== null) numbers.add(Number(log.blockNumber));
  }
  // Without open logs no headers have to match.
  const headers =
    numbers.size === 0 ? new Map([[last.number, last]]) : await view.headers([...numbers, range.to]);
  if (headers.get(range.to)?.hash !== last.hash) return undefined;

  const transfers: Transfer[] = [];
  let unsureFrom: number | undefined;
  for (const [index, log] of open.entries()) {
    if (index > 0 && index % LOGS_PER_TURN === 0) await setImmediate();
    if (log.blockNumber === null) continue;
    const number = Number(log.blockNumber);
    const header = headers.get(number);
    if (number < range.from || number > range.to) continue;
    if (header === undefined || !isInBlock(log, header)) {
      unsureFrom = Math.min(unsureFrom ?? number, number);
      continue;
    }
    const transfer = loggedTransferOf(log, { chainId, header, watched, coinLogsFrom });
    if (transfer !== undefined) transfers.push(transfer);
  }
  const unreadBlocks: UnreadableBlock[] = [];
  for (const [number, reason] of unread) {
    const header = headers.get(number);
    if (header === undefined) return undefined;
    unreadBlocks.push({ ...header, reason });
  }
  return { transfers, settled, lastHash: last.hash, unsureFrom, unread: unreadBlocks };
}

/** The same key as `logKey` of the transfer in `record.ts`. */
function logKey({ blockHash, transactionHash, logIndex }: RpcLog): string {
  return `${blockHash} ${transactionHash} ${Number(logIndex)}`.toLowerCase();
}
