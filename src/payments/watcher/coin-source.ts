import { isCoinLog } from '../../evm/coin-logs.ts';
import { cursorStore } from '../store/cursor-store.ts';
import type { Look } from './look/look.ts';
import { sendsCoins } from './node/coin-blocks.ts';
import { LookSpent } from './node/node-pool.ts';
import { DEEPEST_REORGANISATION } from './node/scanned-blocks.ts';
import { setAsideReasonOf } from './node/transfer-logs.ts';
import { blockBeforeSessions } from './starting-point.ts';

/** Beginning of a scan. */
export interface ScanStart {
  /** The last block that earlier scans have reached, or that the first one passes over. */
  readonly startBlock: number;
  /** The first block that is read, in the first scan of a chain. */
  readonly firstBlock?: number;
}

/** Blocks up to the head in which the first scan of a chain looks for a log of coins. Later ones look in the head only. */
const BLOCKS_AT_FIRST = 20;
/** Transactions of a block that are compared with its logs. */
const TRANSACTIONS_COMPARED = 5;

type BegunLook = Omit<Look, 'coinLogsFrom'>;

/**
 * Begins a scan at `now` (UTC milliseconds), and decides from which block on the chain's coins are read from logs. Coins
 * are read from one source in each block, so that no payment counts twice. The block is stored before any of them is
 * read, and does not change: a node may leave out the fields that show the fork (Decision 374).
 */
export async function scanStart(
  look: BegunLook,
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
    const isShown = first?.hasCoinLogs === true && (await showsCoinLogs(look, BLOCKS_AT_FIRST));
    // Nothing has been read of this chain.
    const coinLogsFrom = isShown ? await readLogsFrom(firstBlock, startBlock) : undefined;
    return { startBlock, firstBlock, coinLogsFrom };
  }
  const { blockNumber: startBlock, coinLogsFrom } = progress;
  if (coinLogsFrom !== undefined || !(await showsCoinLogs(look, 1))) return { startBlock, coinLogsFrom };
  // Earlier looks may have read transactions of every block up to here, and blocks near it may be replaced.
  const distance = Math.max(chain.confirmations, DEEPEST_REORGANISATION);
  const from = Math.max(startBlock, head.number) + distance;
  return { startBlock, coinLogsFrom: await readLogsFrom(from, startBlock) };
}

/**
 * True when the newest block up to the head in which a transaction sends coins has a log for each that does. Another
 * chain may have the fields of the fork in its headers without these logs, and its payments would never be seen.
 */
async function showsCoinLogs({ head, view }: BegunLook, blocks: number): Promise<boolean> {
  if (!head.hasCoinLogs) return false;
  try {
    for (let number = head.number; number >= 0 && number > head.number - blocks; number -= 1) {
      const block = await view.block(number);
      if (block?.hasCoinLogs !== true) return false;
      const sent = block.transactions.filter(sendsCoins).slice(0, TRANSACTIONS_COMPARED);
      const receipts = await view.receipts(sent.map(({ hash }) => hash));
      const successes = [...receipts.values()].filter(({ status }) => Number(status) === 1);
      if (successes.length > 0) return successes.every(({ logs }) => logs.some(isCoinLog));
    }
  } catch (error) {
    // The next look asks again. A block that is too large delays nothing.
    if (!(error instanceof LookSpent)) setAsideReasonOf(error);
  }
  return false;
}
