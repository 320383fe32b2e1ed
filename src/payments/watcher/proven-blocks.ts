import type { Clock } from '../../lib/clock.ts';
import type { BlockWithoutReceipts } from '../../node/block-contents.ts';
import { NATIVE_COIN, type PaymentChain } from '../model/payment-chain.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { Transfer } from '../model/transfer.ts';
import type { ReachedBlock } from '../store/cursor-store.ts';
import { type LaneResult, NOTHING_DONE } from './look/lanes.ts';
import type { Look } from './look/look.ts';
import { recordAll } from './look/record.ts';
import type { LinkedHeader } from './node/node-view.ts';
import type { BlockRange } from './node/transfer-logs.ts';
import type { BlockEvidence, BlockEvidences } from './proofs/block-evidence.ts';
import { transfersTo } from './proofs/proven-transfers.ts';
import { watchedBlooms } from './proofs/watched-blooms.ts';
import { blockBeforeSessions } from './starting-point.ts';
import { reachedBlocks } from './traces/reached-blocks.ts';

/** Most blocks of one run, and blocks that are read at a time. Each may be as large as an answer can be. */
const BLOCKS_PER_RUN = 40;
const AT_A_TIME = 2;
/** Pause before a block is asked for again. It doubles with each attempt. */
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 10 * 60_000;
/** Attempts that follow each other soon. */
const SOON = 3;
/** Blocks that may wait for another attempt. With more of them the oldest is given up. */
const MOST_WAITING = 100;
/** Transfers that are remembered, so that their blocks are not read again when they are completed. */
const REMEMBERED = 10_000;
/** Distance of a stored block from the head from which on blocks before all open sessions are passed over. */
const FAR_BEHIND = 2_000;
/** Least time between two warnings of blocks without a proof. */
const WARN_EVERY_MS = 60_000;

/** A block that could not be read yet. The blocks behind it are. */
interface WaitingBlock {
  readonly header: LinkedHeader;
  readonly attempts: number;
  /** Next attempt, in UTC milliseconds. */
  readonly dueAt: number;
}

/** A block as it was read. */
interface BlockAnswer {
  /** As its proof says, if there is one. */
  readonly header: LinkedHeader;
  readonly evidence: BlockEvidence;
  /** Those to watched addresses. */
  readonly transfers: readonly Transfer[];
}

/**
 * Transfers from the proven contents of every block, behind the scan and in a lane of its own (Decision 388). So it finds
 * what all nodes leave out of their logs. With `prove: findings` only the blocks are read that an index has proven.
 */
export function provenBlocks({
  chain,
  evidence,
  clock,
}: {
  readonly chain: Pick<PaymentChain, 'id' | 'prove'>;
  readonly evidence: BlockEvidences;
  readonly clock: Clock;
}) {
  const blocks = reachedBlocks();
  const blooms = watchedBlooms();
  const waiting = new Map<number, WaitingBlock>();
  /** Keys (`factOf`) of transfers to watched addresses in proven blocks. */
  const remembered = new Set<string>();
  /** A block whose transfers are more than one run records. */
  let unrecorded: BlockAnswer | undefined;
  let noted: ReachedBlock | undefined;
  let warnedAt = Number.NEGATIVE_INFINITY;

  async function run(look: Look): Promise<LaneResult> {
    const { head, progress, watched } = look;
    if (chain.prove === 'off' || !(chain.prove === 'always' || evidence.hasIndex)) return NOTHING_DONE;
    if (progress === undefined) forget();
    if (watched.recipients.length === 0 && !watched.hasNative) {
      if (head.number > (blocks.last()?.number ?? -1)) blocks.goTo(head);
      // No payment can arrive in them any more.
      waiting.clear();
      note(look);
      return NOTHING_DONE;
    }
    const start = blocks.last() ?? (await firstBlock(look));
    const { number } = await blocks.standing(start, look);
    for (const above of waiting.keys()) if (above > number) waiting.delete(above);
    const changes = (await readFrom(look, number + 1)) + (await readWaiting(look));
    giveUp(look);
    note(look);
    return { changes, isMoved: false };
  }

  /** The block that was read last before this start, or the one before all sessions that may still be paid. */
  async function firstBlock(look: Look): Promise<ReachedBlock> {
    const stored = look.progress?.proven;
    if (stored !== undefined && look.head.number - stored.number <= FAR_BEHIND) return stored;
    const number = await blockBeforeSessions(look, clock.now());
    return stored !== undefined && stored.number >= number ? stored : { number };
  }

  /** Returns the number of changes, at least 1 when there is more to read at once. */
  async function readFrom(look: Look, from: number): Promise<number> {
    const { head } = look;
    const end = Math.min(head.number, from + BLOCKS_PER_RUN - 1);
    let changes = 0;
    for (let next = from; next <= end; next += AT_A_TIME) {
      const headers = await headersOf(look, { from: next, to: Math.min(end, next + AT_A_TIME - 1) });
      const answers = await Promise.all(headers.map(header => readBlock(look, header, 0)));
      for (const answer of answers) {
        // The next run compares with the chain again.
        if (answer === undefined || !blocks.isNext(answer.header)) return changes;
        const recorded = await take(look, answer, 0);
        if (recorded === undefined) return Math.max(changes, 1);
        changes += recorded;
        blocks.add(answer.header);
      }
      if (headers.length < Math.min(AT_A_TIME, end - next + 1)) return changes;
    }
    return end < head.number ? Math.max(changes, 1) : changes;
  }

  async function readWaiting(look: Look): Promise<number> {
    const due = [...waiting.values()].filter(one => one.dueAt <= clock.now()).slice(0, AT_A_TIME);
    const answers = await Promise.all(
      due.map(async ({ header, attempts }) => ({
        attempts,
        answer: await readBlock(look, header, attempts),
      })),
    );
    let changes = 0;
    for (const { answer, attempts } of answers) {
      if (answer !== undefined) changes += (await take(look, answer, attempts)) ?? 1;
    }
    return changes;
  }

  /** Undefined when the index is to be asked again. */
  async function readBlock(
    look: Look,
    header: LinkedHeader,
    attempts: number,
  ): Promise<BlockAnswer | undefined> {
    if (unrecorded?.header.hash === header.hash) return unrecorded;
    const found = await evidenceOf(look, header, attempts);
    if (found?.kind !== 'proven') return found && { header, evidence: found, transfers: [] };
    const { transactions, parentHash, time } = found;
    const proven = { ...header, parentHash, time };
    const { watched, coinLogsFrom } = look;
    const transfers = transfersTo(watched, transactions, { chainId: chain.id, header: proven, coinLogsFrom });
    return { header: proven, evidence: found, transfers };
  }

  async function evidenceOf(
    look: Look,
    { number, hash }: LinkedHeader,
    attempts: number,
  ): Promise<BlockEvidence | undefined> {
    const indexed = await evidence.ofIndex({ number, hash });
    if (indexed.kind === 'proven') return indexed;
    const isBehind = indexed.kind === 'behind';
    if (chain.prove !== 'always')
      return isBehind ? undefined : { kind: 'unproven', cause: 'limits', reason: 'the index has no proof' };
    // In a moment the index has it, and no node need be asked.
    if (isBehind && indexed.isJustBehind && attempts === 0) return { kind: 'later' };
    if (!evidence.mayProve())
      return { kind: 'unproven', cause: 'limits', reason: 'the blocks of the chain cannot be recomputed' };
    const needsReceipts = (body: BlockWithoutReceipts) => blooms.mayConcern(body, look);
    const isReceiver = (address: string) => look.watched.has(NATIVE_COIN, address);
    return evidence.ofNodes(look.view, { number, hash, needsReceipts, isReceiver });
  }

  /** Records the transfers of a block, or lets it wait. Undefined when there are more than one run records. */
  async function take(look: Look, answer: BlockAnswer, attempts: number): Promise<number | undefined> {
    const { header, evidence: found, transfers } = answer;
    const recorded = await recordAll(look, transfers);
    unrecorded = recorded.isWhole ? undefined : answer;
    if (!recorded.isWhole) return undefined;
    if (found.kind === 'proven') remember(transfers);
    const isWaiting = found.kind !== 'proven' && !(found.kind === 'unproven' && found.cause === 'limits');
    if (isWaiting) wait(header, attempts + 1);
    else waiting.delete(header.number);
    if ('reason' in found) warn(look, header.number, found.reason);
    return recorded.changes;
  }

  function wait(header: LinkedHeader, attempts: number): void {
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), LONGEST_PAUSE_MS);
    waiting.set(header.number, { header, attempts, dueAt: clock.now() + pauseMs });
  }

  /** Gives up the oldest blocks when too many wait. */
  function giveUp(look: Look): void {
    const numbers = [...waiting.keys()].sort((a, b) => a - b);
    for (const number of numbers.slice(0, -MOST_WAITING)) {
      waiting.delete(number);
      warn(look, number, 'it was asked for in vain, and is given up');
    }
  }

  function warn({ log }: Look, block: number, reason: string): void {
    if (chain.prove !== 'always' || Math.abs(clock.now() - warnedAt) < WARN_EVERY_MS) return;
    warnedAt = clock.now();
    log.warn(
      { chainId: chain.id, block, reason },
      'a block is not proven, and its logs are those that nodes show',
    );
  }

  function remember(transfers: readonly Transfer[]): void {
    for (const one of transfers) remembered.add(factOf(one));
    for (const oldest of remembered) {
      if (remembered.size <= REMEMBERED) break;
      remembered.delete(oldest);
    }
  }

  /** Headers of some blocks, up to the first one that the node lacks. */
  async function headersOf({ head, view }: Look, { from, to }: BlockRange): Promise<LinkedHeader[]> {
    const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
    const older = numbers.filter(number => number < head.number);
    const shown = older.length === 0 ? new Map<number, LinkedHeader>() : await view.headers(older);
    const headers: LinkedHeader[] = [];
    for (const number of numbers) {
      const header = number === head.number ? head : shown.get(number);
      if (header === undefined) break;
      headers.push(header);
    }
    return headers;
  }

  /** Stores the block before the first one that waits. After a restart, reading goes on there. */
  function note(look: Look): void {
    const last = blocks.last();
    const first = Math.min(...waiting.keys());
    const proven = last !== undefined && first <= last.number ? blocks.before(first) : last;
    if (proven === undefined || (noted?.number === proven.number && noted.hash === proven.hash)) return;
    noted = proven;
    look.note({ proven });
  }

  function forget(): void {
    blocks.forget();
    waiting.clear();
    remembered.clear();
    unrecorded = undefined;
    noted = undefined;
  }

  return {
    /** Reads some blocks up to the head. */
    run,
    /** True for a payment that its block contained when it was proven. */
    hasProven: (row: PaymentTransaction): boolean => remembered.has(factOf(row)),
    /** True while a block is to be asked for again soon. */
    isWaiting: (): boolean => waiting.values().some(({ attempts }) => attempts <= SOON),
    /** Forgets what was read, because another process may have led. */
    forget,
  };
}

/** All that a transfer is judged by, as a key. */
function factOf(one: Transfer | PaymentTransaction): string {
  const { blockHash, txHash, logIndex, tokenAddress, sender, recipient, amount } = one;
  return [blockHash, txHash, logIndex, tokenAddress, sender, recipient, amount].join(' ');
}
