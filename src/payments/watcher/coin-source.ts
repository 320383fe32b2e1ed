import { cursorStore } from '../store/cursor-store.ts';
import type { Look } from './look/look.ts';
import { DEEPEST_REORGANISATION } from './node/scanned-blocks.ts';
import { blockBeforeSessions } from './starting-point.ts';

/** Beginning of a scan. */
export interface ScanStart {
  /** The last block that earlier scans have reached, or that the first one passes over. */
  readonly startBlock: number;
  /** The first block that is read, in the first scan of a chain. */
  readonly firstBlock?: number;
}

/**
 * Begins a scan at `now` (UTC milliseconds), and decides from which block on the chain's coins are read from logs. Coins
 * are read from one source in each block, so that no payment counts twice. The block is stored before any of them is
 * read, and does not change: a node may leave out the fields that show the fork (Decision 374).
 */
export async function scanStart(
  look: Omit<Look, 'coinLogsFrom'>,
  now: number,
): Promise<ScanStart & Pick<Look, 'coinLogsFrom'>> {
  const { chain, view, head, progress, effect, log } = look;

  async function readLogsFrom(from: number, blockNumber: number): Promise<number> {
    await effect('settled', ({ handle }) => cursorStore(handle).setCoinLogs(chain.id, { from, blockNumber }));
    log.info(
      { chainId: chain.id, from },
      'payments in the native coin are read from logs from this block on',
    );
    return from;
  }

  if (progress === undefined) {
    const startBlock = await blockBeforeSessions(look, now);
    const firstBlock = Math.min(startBlock + 1, head.number);
    const first = firstBlock === head.number ? head : (await view.headers([firstBlock])).get(firstBlock);
    // Nothing has been read of this chain.
    const coinLogsFrom = first?.hasCoinLogs === true ? await readLogsFrom(firstBlock, startBlock) : undefined;
    return { startBlock, firstBlock, coinLogsFrom };
  }
  const { blockNumber: startBlock, coinLogsFrom } = progress;
  if (coinLogsFrom !== undefined || !head.hasCoinLogs) return { startBlock, coinLogsFrom };
  // Earlier looks may have read transactions of every block up to here, and blocks near it may be replaced.
  const distance = Math.max(chain.confirmations, DEEPEST_REORGANISATION);
  const from = Math.max(startBlock, head.number) + distance;
  return { startBlock, coinLogsFrom: await readLogsFrom(from, startBlock) };
}
