import type { Transfer } from '../../model/transfer.ts';
import type { NativeReader } from './native-transfers.ts';
import type { BlockRange, NodeView, RpcLog } from './node-view.ts';
import { isInBlock, type Places, tokenTransfer } from './token-transfers.ts';

/** Transfers to the watched recipients in a range of blocks. */
export interface Scan {
  readonly transfers: readonly Transfer[];
  /** Keys (`logKey`) of logs in the range that were settled before. */
  readonly settled: readonly string[];
  /** The first block with a log that does not match its header; undefined when all match. */
  readonly unsureFrom: number | undefined;
  /** Hash of the range's last block. */
  readonly lastHash: string;
}

/**
 * Reads a consistent state of a range. Undefined when the node lacks its last block, or when that block changed during
 * the scan, because the logs may then be of another chain. Headers are read only for logs that were not settled before;
 * settled ones need only their key.
 */
export async function scan(
  range: BlockRange,
  {
    coinsFrom,
    chainId,
    view,
    native,
    places,
    isSettled,
  }: {
    /** The first block that is read for native coins. */
    coinsFrom: number;
    chainId: number;
    view: NodeView;
    native: NativeReader;
    places: Places;
    isSettled: (key: string) => boolean;
  },
): Promise<Scan | undefined> {
  const { logs, last } = await view.logs(range, places);
  if (last === undefined) return undefined;
  const ofCoins = { from: Math.max(range.from, coinsFrom), to: range.to, last };
  const hasCoins = places.hasNative && ofCoins.from <= range.to;
  const coins = hasCoins ? await native.transfers(ofCoins, places) : [];
  if (coins === undefined) return undefined;
  const settled = logs.map(logKey).filter(isSettled);
  const open = logs.filter(log => !isSettled(logKey(log)));
  const numbers = open.flatMap(({ blockNumber }) => (blockNumber === null ? [] : [Number(blockNumber)]));
  // Without open logs no headers have to match.
  const headers =
    numbers.length === 0 ? new Map([[last.number, last]]) : await view.headers([...numbers, range.to]);
  if (headers.get(range.to)?.hash !== last.hash) return undefined;

  const transfers: Transfer[] = [];
  const unsure: number[] = [];
  for (const log of open) {
    if (log.blockNumber === null) continue;
    const number = Number(log.blockNumber);
    const header = headers.get(number);
    if (number < range.from || number > range.to) continue;
    if (header === undefined || !isInBlock(log, header)) {
      unsure.push(number);
      continue;
    }
    const transfer = tokenTransfer(log, { chainId, header, places });
    if (transfer !== undefined) transfers.push(transfer);
  }
  return {
    transfers: [...transfers, ...coins].sort(byPlace),
    settled,
    lastHash: last.hash,
    unsureFrom: unsure.length === 0 ? undefined : Math.min(...unsure),
  };
}

/** The same key as `logKey` of the transfer in `record.ts`. */
function logKey({ blockHash, transactionHash, logIndex }: RpcLog): string {
  return `${blockHash} ${transactionHash} ${Number(logIndex)}`.toLowerCase();
}

/** Order on the chain: the first of two payments for one session completes it. */
function byPlace(a: Transfer, b: Transfer): number {
  return a.blockNumber - b.blockNumber || a.logIndex - b.logIndex;
}
