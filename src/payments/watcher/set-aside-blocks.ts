import { DAY_MS } from '../../lib/clock.ts';
import type { BlockPart, SetAsideReason } from '../model/set-aside.ts';
import {
  type PiecesProgress,
  type SetAsideBlock,
  setAsideBlockStore,
} from '../store/set-aside-block-store.ts';
import type { LaneResult } from './look/lanes.ts';
import type { Look } from './look/look.ts';
import { recordAll } from './look/record.ts';
import { PIECE_READERS, type PieceReaders, type Pieces, readPieces } from './node/block-pieces.ts';
import { LookSpent } from './node/node-pool.ts';
import type { BlockOutline } from './node/node-view.ts';
import type { UnreadableBlock } from './node/scan.ts';
import { setAsideReasonOf } from './node/transfer-logs.ts';

/** Blocks that one look reads in pieces, and transactions that it reads of each. */
const BLOCKS_PER_LOOK = 2;
const PIECES_PER_LOOK = 250;
const PIECES_AT_A_TIME = 50;
/** Pause after the first attempt that brought nothing; it doubles with each further one, up to a day. */
const FIRST_PAUSE_MS = 60_000;
/** Blocks below the head that no scan reads again. Those that were read in pieces are forgotten then. */
const KEPT_BLOCKS = 2_000;

/**
 * Blocks whose logs or coins could not be read at once. The scan goes on behind them. They are read transaction by
 * transaction, some in each look, and what is left is asked for again after 1 minute to a day (Decision 299). Only the
 * parts are known that have a reader.
 */
export function setAsideBlocks(chainId: number, readers: PieceReaders = PIECE_READERS) {
  /** Undefined before they were read. Only the leader changes them, and operators make them due. */
  let known: readonly SetAsideBlock[] | undefined;
  /** Number of times that `known` became stale. The scan and the reading of pieces run at the same time. */
  let staleCount = 0;

  async function load({ db }: Pick<Look, 'db'>): Promise<readonly SetAsideBlock[]> {
    if (known !== undefined) return known;
    const before = staleCount;
    const all = await setAsideBlockStore(db).all(chainId);
    const blocks = all.filter(({ part }) => readers[part] !== undefined);
    // Blocks read during a change may be those before it. A scan must not pass over a block that was just removed.
    if (staleCount === before) known = blocks;
    return blocks;
  }

  function forget(): void {
    known = undefined;
    staleCount += 1;
  }

  async function change(
    { effect }: Look,
    work: (store: ReturnType<typeof setAsideBlockStore>, now: number) => Promise<void>,
  ): Promise<void> {
    forget();
    try {
      await effect('record', ({ handle, now }) => work(setAsideBlockStore(handle), now));
    } finally {
      forget();
    }
  }

  async function keep(
    look: Look,
    block: SetAsideBlock,
    changed: Partial<PiecesProgress>,
  ): Promise<SetAsideBlock> {
    const next = { ...block, ...changed };
    await change(look, (store, now) => store.progress(block, next, now));
    return next;
  }

  /** Puts off what is left of a block. */
  async function postpone(look: Look, block: SetAsideBlock, reason: SetAsideReason): Promise<void> {
    const attempts = block.attempts + 1;
    const nextAttemptAt = look.clock.now() + Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), DAY_MS);
    await keep(look, block, { reason, attempts, nextAttemptAt });
    const { part, number, unread } = block;
    const facts = { chainId, part, block: number, transactions: unread.length, reason };
    look.log.warn(
      { ...facts, nextAttemptAt: new Date(nextAttemptAt).toISOString() },
      'a part of a block cannot be read and is set aside',
    );
  }

  /** Reads some transactions. Returns the number of changes, at least 1 when there is more to read at once. */
  async function readBlock(look: Look, begun: SetAsideBlock): Promise<number> {
    const outline = await outlineOf(look, begun);
    if (outline === 'later') return 0;
    if (typeof outline === 'string') {
      if (outline === 'unanswered') await look.view.head();
      await postpone(look, begun, outline);
      return 0;
    }
    if (outline.hash !== begun.hash) {
      await change(look, (store, now) => store.add(chainId, [{ ...begun, ...outline }], now));
      return 1;
    }
    return readPiecesOf(look, begun, outline);
  }

  async function readPiecesOf(look: Look, begun: SetAsideBlock, outline: BlockOutline): Promise<number> {
    const { view, watched, coinLogsFrom } = look;
    const { part, number } = begun;
    const read = readers[part];
    if (read === undefined) throw new TypeError(`no reader of ${part}`);
    const again = [...begun.unread];
    let block = begun;
    let changes = 0;
    for (let count = 0; count < PIECES_PER_LOOK; count += PIECES_AT_A_TIME) {
      const isFirstPass = block.nextTransaction < outline.hashes.length;
      const indexes = isFirstPass
        ? indexesFrom(block.nextTransaction, outline)
        : again.splice(0, PIECES_AT_A_TIME);
      const pieces = await readPieces(outline, indexes, { read, view, chainId, watched, coinLogsFrom });
      const { tried, unread } = pieces;
      if (tried.length < indexes.length && tried.length === unread.length) return changes;
      const hasNothing = unread.length > 0 && unread.length === tried.length;
      // A node that answers nothing at all has failed, and nothing is wrong with the transactions.
      if (hasNothing || pieces.isNodeInDoubt) await view.head();
      const recorded = await recordAll(look, pieces.transfers);
      changes += recorded.changes;
      if (!recorded.isWhole) return Math.max(changes, 1);
      block = await keep(look, block, progressAfter(block, outline, pieces));
      if (block.isRead) {
        look.log.info({ chainId, part, block: number }, 'a block that was set aside has been read');
        return Math.max(changes, 1);
      }
      const isPassed = isFirstPass ? block.nextTransaction >= outline.hashes.length : again.length === 0;
      if (hasNothing || isPassed) {
        await postpone(look, block, block.reason);
        return changes;
      }
    }
    return Math.max(changes, 1);
  }

  return {
    /** Numbers of the blocks of which this part is read in pieces. */
    async numbers(look: Look, part: BlockPart): Promise<ReadonlySet<number>> {
      return new Set((await load(look)).filter(one => one.part === part).map(one => one.number));
    },

    /** True while this part of a block is not read completely. */
    async isUnread(look: Look, part: BlockPart, number: number): Promise<boolean> {
      const isIt = (one: SetAsideBlock) => one.part === part && one.number === number && !one.isRead;
      return (await load(look)).some(isIt);
    },

    /** Sets blocks aside. They are due at once. */
    async add(look: Look, part: BlockPart, blocks: readonly UnreadableBlock[]): Promise<void> {
      if (blocks.length === 0) return;
      const unread = blocks.map(block => ({ ...block, part }));
      await change(look, (store, now) => store.add(chainId, unread, now));
      for (const { number, reason } of blocks) {
        look.log.warn({ chainId, part, block: number, reason }, 'a block is read in pieces');
      }
    },

    /** Forgets blocks above `standing` that are no longer on the chain. Others took their place, which are scanned. */
    async dropReplaced(look: Look, standing = -1): Promise<void> {
      const { head, view } = look;
      const above = (await load(look)).filter(({ number }) => number > standing && number <= head.number);
      if (above.length === 0) return;
      const headers = await view.headers(above.map(({ number }) => number));
      const replaced = above.filter(({ number, hash }) => headers.get(number)?.hash !== hash);
      if (replaced.length > 0) await change(look, store => store.remove(replaced.map(({ id }) => id)));
    },

    /**
     * Reads some of the due blocks, during the scan of later looks. Returns the number of changes, at least 1 when there
     * is more to read at once.
     */
    async readDue(look: Look): Promise<LaneResult> {
      // Read again, because an operator may have made them due.
      if (known !== undefined && known.length > 0) known = undefined;
      const { head, clock } = look;
      const blocks = await load(look);
      const due = blocks
        .filter(one => !one.isRead && one.nextAttemptAt <= clock.now() && one.number <= head.number)
        .sort((a, b) => a.nextAttemptAt - b.nextAttemptAt);
      const old = blocks.filter(one => one.isRead && one.number < head.number - KEPT_BLOCKS);
      if (old.length > 0) await change(look, store => store.remove(old.map(({ id }) => id)));
      let changes = 0;
      for (const block of due.slice(0, BLOCKS_PER_LOOK)) changes += await readBlock(look, block);
      return { changes, isMoved: false };
    },

    /** Forgets the blocks in memory, because another process may have led. */
    forget,
  };
}

/** The block with the hashes of its transactions, the reason why it cannot be read, or `later` in a spent look. */
async function outlineOf(
  { view }: Look,
  { number }: SetAsideBlock,
): Promise<BlockOutline | SetAsideReason | 'later'> {
  try {
    return (await view.outline(number)) ?? 'missing';
  } catch (error) {
    return error instanceof LookSpent ? 'later' : setAsideReasonOf(error);
  }
}

function indexesFrom(first: number, { hashes }: BlockOutline): number[] {
  const count = Math.min(PIECES_AT_A_TIME, hashes.length - first);
  return Array.from({ length: count }, (_, index) => first + index);
}

/** Transactions that failed go behind the others, so that all have their turn. */
function progressAfter(
  { nextTransaction, unread, reason, attempts }: SetAsideBlock,
  { hashes }: BlockOutline,
  pieces: Pieces,
): Partial<PiecesProgress> {
  const next = Math.max(nextTransaction, ...pieces.tried.map(index => index + 1));
  const left = [...unread.filter(index => !pieces.tried.includes(index)), ...pieces.unread];
  return {
    nextTransaction: next,
    unread: left,
    reason: pieces.reason ?? reason,
    attempts: pieces.unread.length < pieces.tried.length ? 0 : attempts,
    isRead: left.length === 0 && next >= hashes.length,
  };
}
