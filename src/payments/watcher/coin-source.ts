import { isCoinLog } from '../../evm/coin-logs.ts';
import type { Clock } from '../../lib/clock.ts';
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
/** Pause after a block that cannot be read, or that lacks such logs. */
const REST_MS = 10 * 60_000;
/** Blocks after which logs count while no recipient of coins is watched, so that no block was read for coins. */
const UNWATCHED_DISTANCE = 12;

type BegunLook = Omit<Look, 'coinLogsFrom'>;

/**
 * The choice of the block from which on a chain's coins are read from logs. Coins are read from one source in each block,
 * so that no payment counts twice. The block is stored before any of them is read, and does not change: a node may leave
 * out the fields that show the fork (Decision 374).
 */
export function coinSource({ clock }: { clock: Clock }) {
  let restsUntil = Number.NEGATIVE_INFINITY;

  /** A failure leaves the coins to their transactions, and delays the look once in a while. */
  async function isShown(look: BegunLook, blocks: number): Promise<boolean> {
    if (!look.head.hasCoinLogs || clock.now() < restsUntil) return false;
    try {
      const shows = await showsCoinLogs(look, blocks);
      if (shows === false) restsUntil = clock.now() + REST_MS;
      return shows === true;
    } catch (error) {
      if (!(error instanceof LookSpent)) setAsideReasonOf(error);
      restsUntil = clock.now() + REST_MS;
      return false;
    }
  }

  async function choose(
    { chain, effect, log }: BegunLook,
    from: number,
    blockNumber: number,
  ): Promise<number> {
    await effect('settled', ({ handle }) => cursorStore(handle).setCoinLogs(chain.id, { from, blockNumber }));
    const text = 'payments in the native coin are read from logs from this block on';
    log.info({ chainId: chain.id, from }, text);
    return from;
  }

  /** Nothing has been read of this chain. */
  async function firstStart(look: BegunLook): Promise<ScanStart & Pick<Look, 'coinLogsFrom'>> {
    const { view, head } = look;
    const startBlock = await blockBeforeSessions(look, clock.now());
    const firstBlock = Math.min(startBlock + 1, head.number);
    const first = firstBlock === head.number ? head : (await view.headers([firstBlock])).get(firstBlock);
    const hasLogs = first?.hasCoinLogs === true && (await isShown(look, BLOCKS_AT_FIRST));
    const coinLogsFrom = hasLogs ? await choose(look, firstBlock, startBlock) : undefined;
    return { startBlock, firstBlock, coinLogsFrom };
  }

  return {
    /** Begins a scan. */
    async start(look: BegunLook): Promise<ScanStart & Pick<Look, 'coinLogsFrom'>> {
      const { chain, head, watched, progress } = look;
      if (progress === undefined) return firstStart(look);
      const { blockNumber: startBlock, coinLogsFrom } = progress;
      if (coinLogsFrom !== undefined || !(await isShown(look, 1))) return { startBlock, coinLogsFrom };
      // Earlier looks may have read transactions of every block up to here, and blocks near it may be replaced.
      const least = watched.hasNative ? DEEPEST_REORGANISATION : UNWATCHED_DISTANCE;
      const distance = Math.max(chain.confirmations, least);
      const from = Math.max(startBlock, head.number) + distance;
      return { startBlock, coinLogsFrom: await choose(look, from, startBlock) };
    },
  };
}

/**
 * True when the newest block up to the head in which a transaction sends coins has a log for each that does, undefined
 * when there is none. Another chain may have the fields of the fork in its headers without these logs, and its payments
 * would never be seen.
 */
async function showsCoinLogs({ head, view }: BegunLook, blocks: number): Promise<boolean | undefined> {
  for (let number = head.number; number >= 0 && number > head.number - blocks; number -= 1) {
    const block = await view.block(number);
    if (block?.hasCoinLogs !== true) return undefined;
    const sent = block.transactions.filter(sendsCoins).slice(0, TRANSACTIONS_COMPARED);
    const receipts = await view.receipts(sent.map(({ hash }) => hash));
    const successes = [...receipts.values()].filter(({ status }) => Number(status) === 1);
    if (successes.length > 0) return successes.every(({ logs }) => logs.some(isCoinLog));
  }
  return undefined;
}
