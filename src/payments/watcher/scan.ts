import type { Transfer } from '../model/transfer.ts';
import type { NativeReader } from './native-transfers.ts';
import type { BlockRange, NodeView } from './node-view.ts';
import type { Places } from './places.ts';
import { isInBlock, tokenTransfer } from './token-transfers.ts';

/** What a range of blocks holds for the watched places. */
export interface Scan {
  readonly transfers: readonly Transfer[];
  /** The first block of which a log did not fit the chain that the node shows; undefined when all did. */
  readonly unsureFrom: number | undefined;
}

/**
 * Reads a range as the chain has it at one moment: undefined when the node lacks its last block, or when that was
 * another one afterwards than before, because then nothing of what was read in between can be relied on.
 */
export async function scan(
  range: BlockRange,
  {
    chainId,
    view,
    native,
    places,
  }: { chainId: number; view: NodeView; native: NativeReader; places: Places },
): Promise<Scan | undefined> {
  const { logs, last } = await view.logs(range, places);
  if (last === undefined) return undefined;
  const coins = places.hasNative ? await native.transfers(range, places) : [];
  if (coins === undefined) return undefined;
  const numbers = logs.flatMap(({ blockNumber }) => (blockNumber === null ? [] : [Number(blockNumber)]));
  const headers = await view.headers([...numbers, range.to]);
  if (headers.get(range.to)?.hash !== last.hash) return undefined;

  const transfers: Transfer[] = [];
  const unsure: number[] = [];
  for (const log of logs) {
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
    unsureFrom: unsure.length === 0 ? undefined : Math.min(...unsure),
  };
}

/** As the chain has them: the first of two payments for one session completes it. */
function byPlace(a: Transfer, b: Transfer): number {
  return a.blockNumber - b.blockNumber || a.logIndex - b.logIndex;
}
