import type { Clock } from '../../lib/clock.ts';
import { ChainMoved } from '../../node/block-ref.ts';
import type { Transfer } from '../model/transfer.ts';
import type { TracedProgress } from '../store/cursor-store.ts';
import { type LaneResult, NOTHING_DONE } from './look/lanes.ts';
import type { Look } from './look/look.ts';
import { recordAll } from './look/record.ts';
import type { PieceReader } from './node/block-pieces.ts';
import { LookSpent } from './node/node-pool.ts';
import type { BlockOutline, Header, LinkedHeader } from './node/node-view.ts';
import type { UnreadableBlock } from './node/scan.ts';
import { DEEPEST_REORGANISATION } from './node/scanned-blocks.ts';
import { setAsideReasonOf } from './node/transfer-logs.ts';
import { setAsideBlocks } from './set-aside-blocks.ts';
import { blockBeforeSessions } from './starting-point.ts';
import { innerCoins } from './traces/inner-coins.ts';
import { reachedBlocks } from './traces/reached-blocks.ts';
import { NoTraceMethod, type TraceReader } from './traces/trace-reader.ts';

/** Most blocks of one run, and blocks that are read at a time. */
const BLOCKS_PER_RUN = 40;
const AT_A_TIME = 2;
/** Runs after which one of the newest blocks that cannot be traced is set aside: a node may lag behind its head. */
const PATIENT_RUNS = 2;
const NEWEST_BLOCKS = 12;
/** Pause after a run in which a block could not be traced. While the nodes trace no other either, it doubles. */
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 60_000;
/** Other blocks that are tried before a block is set aside. */
const BLOCKS_COMPARED = 3;
/** Blocks below the head that are read after a start, or once a node begins to trace. */
const BLOCKS_LEFT = 2_000;

/**
 * Coins that contracts send, from the traces of blocks (Decision 375). They have no log before the Amsterdam fork. Blocks
 * are read behind the scan, in a lane of their own, so that no failure of the trace method delays anything else. A block
 * that cannot be traced while others can is set aside.
 */
export function tracedCoins({
  chainId,
  traces,
  clock,
}: {
  chainId: number;
  traces: TraceReader;
  clock: Clock;
}) {
  const blocks = reachedBlocks();
  const aside = setAsideBlocks(chainId, { traces: pieceReader(traces) });
  const failures = new Map<number, number>();
  let atATime = AT_A_TIME;
  let restsUntil = 0;
  /** True when a block is to be tried again soon. */
  let isWaiting = false;
  let pauseMs = FIRST_PAUSE_MS;
  /** Progress that was noted last. */
  let noted: TracedProgress | undefined;

  async function run(look: Look): Promise<LaneResult> {
    const { head, progress, watched } = look;
    if (progress === undefined) forget();
    const isResting = clock.now() < restsUntil;
    isWaiting &&= isResting;
    if (!watched.hasNative) {
      if (head.number > (blocks.last()?.number ?? -1)) blocks.goTo(head);
      note(look);
      return NOTHING_DONE;
    }
    if (isResting || isOver(look)) return NOTHING_DONE;
    const start = blocks.last() ?? progress?.traced ?? (await firstBlock(look));
    const { number } = await blocks.standing(start, look);
    await aside.dropReplaced(look, number);
    const changes = await readFrom(look, number + 1);
    note(look);
    return { changes, isMoved: false };
  }

  /** True when the coins of all blocks that a reorganisation may replace are read from logs. */
  function isOver({ coinLogsFrom = Number.POSITIVE_INFINITY, head }: Look): boolean {
    const last = blocks.last()?.number ?? -1;
    return last >= coinLogsFrom - 1 && head.number >= coinLogsFrom + DEEPEST_REORGANISATION;
  }

  async function firstBlock(look: Look) {
    const before = await blockBeforeSessions(look, clock.now());
    return { number: Math.max(before, look.head.number - BLOCKS_LEFT) };
  }

  /** Returns the number of changes, at least 1 when there is more to read at once. */
  async function readFrom(look: Look, from: number): Promise<number> {
    const { head, coinLogsFrom = Number.POSITIVE_INFINITY } = look;
    const skipped = await aside.numbers(look, 'traces');
    const last = Math.min(head.number, coinLogsFrom - 1);
    const end = Math.min(last, from + BLOCKS_PER_RUN - 1);
    let changes = 0;
    for (let next = from; next <= end; ) {
      const numbers = Array.from({ length: Math.min(atATime, end - next + 1) }, (_, index) => next + index);
      const results = await Promise.all(numbers.map(one => readBlock(look, one, skipped.has(one))));
      const read = followingOnly(results);
      const transfers = read.flatMap(one => one.transfers);
      const recorded = await recordAll(look, transfers);
      // Another look follows for transfers that match no session.
      changes += Math.max(recorded.changes, Math.min(transfers.length, 1));
      if (!recorded.isWhole) return Math.max(changes, 1);
      await aside.add(
        look,
        'traces',
        read.flatMap(({ unread }) => unread ?? []),
      );
      for (const { header } of read) blocks.add(header);
      next += read.length;
      if (read.length < numbers.length) return changes;
    }
    return end < last ? Math.max(changes, 1) : changes;
  }

  /** Blocks that follow each other, up to the first one that was not read. */
  function followingOnly(results: readonly (TracedCoins | undefined)[]): TracedCoins[] {
    const read: TracedCoins[] = [];
    for (const result of results) {
      if (result === undefined) break;
      const before = read.at(-1)?.header.hash;
      const { parentHash } = result.header;
      if (before === undefined ? !blocks.isNext(result.header) : parentHash !== before) break;
      read.push(result);
    }
    return read;
  }

  /** Undefined when the block is left to a later run. */
  async function readBlock(look: Look, number: number, isSkipped: boolean): Promise<TracedCoins | undefined> {
    const { view } = look;
    let outline: BlockOutline | undefined;
    try {
      outline = await view.outline(number);
      if (outline === undefined) return undefined;
      const header = outline;
      if (isSkipped || outline.hashes.length === 0) return { header, transfers: [], unread: undefined };
      const found = await traces.ofBlock(outline, view);
      failures.delete(number);
      atATime = AT_A_TIME;
      pauseMs = FIRST_PAUSE_MS;
      const { hashes } = outline;
      const transfers = found.flatMap((movements, position) => {
        const txHash = hashes[position];
        if (movements === null || txHash === undefined) return [];
        return innerCoins(movements, { chainId, txHash, header, watched: look.watched });
      });
      const isWhole = !found.includes(null);
      return { header, transfers, unread: isWhole ? undefined : { ...header, reason: 'refused' } };
    } catch (error) {
      return afterFailure(look, { number, outline, error });
    }
  }

  async function afterFailure(
    look: Look,
    { number, outline, error }: { number: number; outline: BlockOutline | undefined; error: unknown },
  ): Promise<TracedCoins | undefined> {
    if (error instanceof LookSpent || error instanceof ChainMoved) return undefined;
    if (error instanceof NoTraceMethod) {
      restsUntil = error.until;
      leaveOld(look);
      return undefined;
    }
    const reason = setAsideReasonOf(error);
    if (outline === undefined) return undefined;
    atATime = 1;
    const count = (failures.get(number) ?? 0) + 1;
    failures.set(number, count);
    const isNew = number > look.head.number - NEWEST_BLOCKS;
    const isPatient = isNew && reason !== 'too_large' && count < PATIENT_RUNS;
    if (reason === 'too_large' || (!isPatient && (await hasOthers(look, number)))) {
      failures.delete(number);
      pauseMs = FIRST_PAUSE_MS;
      return { header: outline, transfers: [], unread: { ...outline, reason } };
    }
    look.log.info({ chainId, block: number, err: error }, 'the traces of a block cannot be read yet');
    isWaiting = true;
    restsUntil = clock.now() + pauseMs;
    if (isPatient) return undefined;
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    leaveOld(look);
    return undefined;
  }

  /** True when the nodes trace another of the newest blocks, so that only this one cannot be traced. */
  async function hasOthers({ head, view }: Look, number: number): Promise<boolean> {
    const newest = Array.from({ length: BLOCKS_COMPARED + 1 }, (_, index) => head.number - index);
    for (const other of newest.filter(one => one >= 0 && one !== number).slice(0, BLOCKS_COMPARED)) {
      try {
        const outline = await view.outline(other);
        if (outline === undefined) continue;
        await traces.ofBlock(outline, view);
        return true;
      } catch (error) {
        if (error instanceof LookSpent || error instanceof ChainMoved) return false;
        if (setAsideReasonOf(error) === 'unanswered') return false;
      }
    }
    return false;
  }

  /** Gives up old blocks while no node traces, so that a node that begins to does not have to trace months. */
  function leaveOld({ head }: Look): void {
    const oldest = head.number - BLOCKS_LEFT;
    if ((blocks.last()?.number ?? oldest) < oldest) blocks.goTo({ number: oldest });
  }

  function note(look: Look): void {
    const last = blocks.last();
    if (last === undefined) return;
    const traced = { ...last, by: traces.method() };
    if (noted?.number === traced.number && noted.hash === traced.hash && noted.by === traced.by) return;
    noted = traced;
    look.note({ traced });
  }

  function forget(): void {
    blocks.forget();
    aside.forget();
    noted = undefined;
  }

  return {
    /** Reads some blocks up to the head. */
    run,
    /** Reads some transactions of blocks that are set aside. */
    readSetAside: aside.readDue,
    /** True when the coins that contracts sent in a block are recorded, or no node can show them. */
    async hasRead(look: Look, block: Pick<Header, 'number' | 'hash'>): Promise<boolean> {
      const { coinLogsFrom = Number.POSITIVE_INFINITY, watched } = look;
      if (!watched.hasNative || block.number >= coinLogsFrom || traces.method() === null) return true;
      return blocks.has(block) && !(await aside.isUnread(look, 'traces', block.number));
    },
    /** True when the next look has to run again, because a block could not be read. */
    isWaiting: (): boolean => isWaiting,
    /** Forgets what was read, because another process may have led. */
    forget,
  };
}

/** A block and the coins that contracts sent in it. */
interface TracedCoins {
  readonly header: LinkedHeader;
  readonly transfers: readonly Transfer[];
  /** Given when it has to be set aside. */
  readonly unread: UnreadableBlock | undefined;
}

function pieceReader(traces: TraceReader): PieceReader {
  return async (header, txHash, { view, chainId, watched }) => {
    try {
      const movements = await traces.ofTransaction(txHash, header, view);
      return innerCoins(movements, { chainId, txHash, header, watched });
    } catch (error) {
      if (error instanceof ChainMoved) return undefined;
      throw error;
    }
  };
}
