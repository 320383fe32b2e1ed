import type { Clock } from '../../lib/clock.ts';
import { byChainOrder } from '../model/transfer.ts';
import type { ScanProgress } from '../store/cursor-store.ts';
import type { ScanStart } from './coin-source.ts';
import { logKey, partition, transferChoice } from './look/chosen-transfers.ts';
import { type LaneResult, NOTHING_DONE } from './look/lanes.ts';
import type { Failpoint, Look } from './look/look.ts';
import { record } from './look/record.ts';
import { repricedBy } from './look/replaced.ts';
import { type CoinScan, nativeReader } from './node/native-transfers.ts';
import { LookSpent } from './node/node-pool.ts';
import type { NodeView } from './node/node-view.ts';
import { rememberedScan } from './node/remembered-scan.ts';
import type { UnreadableBlock } from './node/scan.ts';
import { scannedBlocks } from './node/scanned-blocks.ts';
import type { LookedAt } from './node/seen-heads.ts';
import { type BlockRange, setAsideReasonOf } from './node/transfer-logs.ts';
import { setAsideBlocks } from './set-aside-blocks.ts';

/** Many nodes refuse to return logs of longer ranges. */
const BLOCKS_PER_SCAN = 500;
/** Least number of blocks that every look scans again, because lagging nodes may return incomplete logs. */
const WINDOW_BLOCKS = 12;
/** Minimum interval between stored times of scans that found nothing new. */
const NOTE_EVERY_MS = 1_000;

/** Looks in which a lagging node may refuse the logs of a new block, before they are read in pieces. */
const PATIENT_LOOKS = 3;

/**
 * A scanner of transfers that continues where the last look ended. It remembers the settled transfers of the window;
 * without that memory it only checks them again. In blocks that do not log them, coins are read after the tokens, and may
 * be behind them: full blocks are long, so one look reads a limited number.
 */
export function advance({
  chainId,
  view,
  unverify,
  clock,
  fault,
}: {
  chainId: number;
  view: NodeView;
  unverify: () => void;
  clock: Clock;
  fault: Failpoint;
}) {
  const native = nativeReader({ chainId, view, clock });
  const tokens = rememberedScan({ chainId, view, clock });
  const choice = transferChoice();
  const scanned = scannedBlocks(chainId, unverify);
  const aside = setAsideBlocks(chainId);
  let settled = new Set<string>();
  let isComplete = false;
  let hasReachedHead = false;
  let hasReadAll = false;
  let standingBlock: number | undefined;
  /** The first block that is read, if this process began the scan of the chain. */
  let floor = 0;
  /** Blocks whose coins the last run left to be read. */
  let coinsLeft: BlockRange | undefined;
  /** Blocks of one scan; fewer after a look that its bytes did not suffice for. */
  let blocksPerScan = BLOCKS_PER_SCAN;
  /** Looks in which the logs of a new block were refused, by its number. */
  const refusals = new Map<number, number>();

  async function run(look: Look, start: LookedAt & ScanStart, signal: AbortSignal): Promise<number> {
    const { chain, head, watched, db, log } = look;
    let cursor: ScanProgress | undefined = look.progress;
    if (cursor === undefined) forgetBlocks();
    const { startBlock, seenAt, isLinked } = start;
    const window = Math.max(chain.confirmations, WINDOW_BLOCKS);
    standingBlock = await scanned.standing({ view, db, log, head, isLinked });
    let standing = standingBlock;
    await aside.dropReplaced(look, standing);
    // Blocks above the standing one are of another branch, or were scanned by an older version.
    const first = Math.max((standing ?? startBlock) + 1, startBlock + 1 - 2 * BLOCKS_PER_SCAN);
    const again = Math.min(startBlock + 1 - window, scanned.firstRecent(startBlock, seenAt), first);
    // Older blocks have no payments, and a node may not have them.
    if (start.firstBlock !== undefined) floor = start.firstBlock;
    const startCoins = cursor?.coinsBlock ?? startBlock;
    let coinsBlock = Math.min(startCoins, first - 1);
    const coinsFrom = Math.max(floor, coinsBlock + 1 - window);
    const seen = new Set<string>();
    let isAllSettled = true;
    let hasMoreCoins = false;
    let changes = 0;
    isComplete = false;
    hasReachedHead = false;
    hasReadAll = false;
    for (let from = Math.max(floor, again); from <= head.number && !signal.aborted; ) {
      const to = Math.min(from + blocksPerScan - 1, head.number);
      const found = await scanSome(look, { from, to });
      await fault('scan');
      const isHead = to === head.number;
      if (found === undefined || (isHead && found.lastHash !== head.hash)) {
        log.debug({ chainId: chain.id, from, to }, 'the chain changed during the scan');
        return changes;
      }
      const coins = isHead && watched.hasNative ? await readCoins(look, coinsFrom) : NO_COINS;
      const [lasting, passing] = sortUnread(found.unread, head.number - window);
      await aside.add(look, 'tokens', lasting);
      await aside.add(look, 'coins', coins?.unread ?? []);

      // A log that does not match its block is scanned again. Before the window, the cursor has to stop there for it.
      const isSure = found.unsureFrom === undefined || found.unsureFrom > head.number - window;
      const reached = isSure ? to : (found.unsureFrom ?? to) - 1;
      const isRead = found.unsureFrom === undefined && passing.length === 0;
      const isWholeScan = isHead && isRead && head.number >= startBlock;
      const hasAllCoins = !watched.hasNative || coins?.reached === head.number;
      const isWhole = isWholeScan && hasAllCoins;
      if (hasAllCoins) coinsBlock = Math.max(startCoins, head.number);
      hasMoreCoins = isHead && !hasAllCoins && (coins?.reached ?? 0) > coinsBlock;
      coinsBlock = Math.max(coinsBlock, coins?.reached ?? 0);
      coinsLeft = isHead && !hasAllCoins ? { from: coinsBlock + 1, to: lastWithoutLogs(look) } : undefined;
      // A node that fell behind does not move the cursor back.
      const blockNumber = Math.max(cursor?.blockNumber ?? startBlock, reached);
      const next = {
        blockNumber,
        scannedAt: isWhole ? seenAt : (cursor?.scannedAt ?? 0),
        headTime: isWhole ? Math.max(head.time, cursor?.headTime ?? 0) : cursor?.headTime,
        coinsBlock: coinsBlock < blockNumber ? coinsBlock : undefined,
        blocks:
          reached < to ? undefined : scanned.add({ number: to, hash: found.lastHash, seenAt }, standing),
      };
      if (reached === to) standing = Math.max(to, standing ?? to);
      const all = [...found.transfers, ...(coins?.transfers ?? [])].sort(byChainOrder);
      const [, transfers] = await partition(all, one => settled.has(logKey(one)));
      const isNews =
        transfers.length > 0 ||
        cursor?.blockNumber !== next.blockNumber ||
        cursor.coinsBlock !== next.coinsBlock ||
        next.blocks !== undefined ||
        next.scannedAt - cursor.scannedAt >= NOTE_EVERY_MS;
      if (isNews && isHead && transfers.length === 0) {
        look.note({ cursor: next });
        cursor = next;
      } else if (isNews) {
        const repriced = await repricedBy(look, transfers);
        const recorded = await record(look, {
          transfers,
          chosen: await choice.of(transfers),
          repriced,
          cursor: next,
        });
        changes += recorded.changes;
        for (const key of recorded.done) settled.add(key);
        choice.add(recorded.unmatched);
        if (!recorded.isWhole) {
          // The next look goes on at once. Until then these blocks do not count as scanned.
          scanned.forget();
          return Math.max(changes, 1);
        }
        isAllSettled &&= transfers.every(one => settled.has(logKey(one)));
        cursor = next;
      }
      hasReachedHead = isWholeScan && coins !== undefined;
      hasReadAll = isWhole;
      isComplete = isWhole && isAllSettled;
      for (const key of found.settled) seen.add(key);
      for (const one of all) if (settled.has(logKey(one))) seen.add(logKey(one));
      if (reached < to) {
        log.warn({ chainId: chain.id, block: reached + 1 }, 'a log does not match its block, scanning again');
        return changes;
      }
      from = to + 1;
    }
    settled = seen;
    blocksPerScan = Math.min(BLOCKS_PER_SCAN, 2 * blocksPerScan);
    return hasMoreCoins ? Math.max(changes, 1) : changes;
  }

  async function scanSome(look: Look, range: { from: number; to: number }) {
    const skipped = await aside.numbers(look, 'tokens');
    try {
      return await tokens.read(range, {
        watched: look.watched,
        skipped,
        isSettled: key => settled.has(key),
        coinLogsFrom: look.coinLogsFrom,
      });
    } catch (error) {
      if (error instanceof LookSpent) blocksPerScan = Math.max(1, Math.floor(blocksPerScan / 8));
      throw error;
    }
  }

  /** Blocks to be read in pieces, and newer ones than `oldest`, which the next look asks for again. */
  function sortUnread(
    unread: readonly UnreadableBlock[],
    oldest: number,
  ): [UnreadableBlock[], UnreadableBlock[]] {
    for (const number of refusals.keys()) if (number <= oldest) refusals.delete(number);
    const isPassing = ({ number, reason }: UnreadableBlock) => {
      if (reason !== 'refused' || number <= oldest) return false;
      const count = (refusals.get(number) ?? 0) + 1;
      refusals.set(number, count % PATIENT_LOOKS);
      return count < PATIENT_LOOKS;
    };
    const passing = unread.filter(isPassing);
    return [unread.filter(one => !passing.includes(one)), passing];
  }

  /**
   * Reads coins of blocks that do not log them. Undefined when the chain changed. A failure leaves all coins to the next
   * look, and delays no tokens.
   */
  async function readCoins(look: Look, from: number): Promise<CoinScan | undefined> {
    const { head, watched, log } = look;
    const to = lastWithoutLogs(look);
    if (from > to) return { ...NO_COINS, reached: head.number };
    const skipped = await aside.numbers(look, 'coins');
    try {
      const last = to === head.number ? head : (await view.headers([to])).get(to);
      const found = last && (await native.transfers({ from, head: last, skipped }, watched));
      return found?.reached === to ? { ...found, reached: head.number } : found;
    } catch (error) {
      if (!(error instanceof LookSpent)) setAsideReasonOf(error);
      log.warn({ chainId, err: error }, 'payments in the native coin cannot be read');
      return NO_COINS;
    }
  }

  async function readCoinsAhead(look: Look): Promise<LaneResult> {
    if (coinsLeft === undefined) return NOTHING_DONE;
    const skipped = await aside.numbers(look, 'coins');
    return { changes: await native.readAhead(coinsLeft, skipped, look.view), isMoved: false };
  }

  function note({ progress, note }: Look, seenAt: number): void {
    if (progress === undefined || seenAt - progress.scannedAt < NOTE_EVERY_MS) return;
    const { blockNumber, headTime, coinsBlock } = progress;
    note({ cursor: { blockNumber, scannedAt: seenAt, headTime, coinsBlock } });
  }

  function forgetBlocks(): void {
    scanned.forget();
    aside.forget();
    tokens.forget();
  }

  return {
    /** Returns the number of recorded changes. */
    run,
    /** Reads some of the blocks that are set aside. */
    readSetAside: aside.readDue,
    /** Reads blocks with coins that the last run left, during the scan of later looks. */
    readCoinsAhead,
    /** Stores that the chain was scanned at `seenAt` (UTC ms), when the head is the one of the last scan. */
    note,
    /** True when the last run read the chain up to its head, which proves that the node has that block. */
    hasReachedHead: (): boolean => hasReachedHead,
    /** True when the last run read the transfers of all blocks up to its head, and recorded them. */
    hasReadAll: (): boolean => hasReadAll,
    /** Number of the highest block of earlier runs that the last run still found on the chain. */
    standing: (): number | undefined => standingBlock,
    /** True when the last run reached its head and left no transfer that may still match a session. */
    isComplete: (): boolean => isComplete,
    /** Forgets what was read, so that the whole window is checked again, as after a start. */
    forget(): void {
      forgetBlocks();
      settled = new Set();
      choice.forget();
      isComplete = false;
    },
  };
}

/** Number of the last block up to the head whose coins are read from its transactions. */
function lastWithoutLogs({ head, coinLogsFrom = head.number + 1 }: Look): number {
  return Math.min(head.number, coinLogsFrom - 1);
}

const NO_COINS: CoinScan = { transfers: [], reached: -1, unread: [] };
