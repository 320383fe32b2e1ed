import type { Clock } from '#lib/clock.ts';
import { NATIVE_COIN } from '../../model/payment-chain.ts';
import type { Transfer } from '../../model/transfer.ts';
import {
  coinReceipt,
  coinTransferOf,
  isChain,
  type MeasuredBlock,
  type Payment,
  type ReadBlock,
  readBlock,
} from './coin-blocks.ts';
import { LookSpent } from './node-pool.ts';
import type { FullBlock, Header, LinkedHeader, NodeView } from './node-view.ts';
import type { UnreadableBlock } from './scan.ts';
import type { WatchedAddresses } from './token-transfers.ts';
import { type BlockRange, setAsideReasonOf } from './transfer-logs.ts';

/** Payments in the native coin in the first blocks of a range. */
export interface CoinScan {
  readonly transfers: readonly Transfer[];
  /** The last block that was read or is unread; below the range when there is none. */
  readonly reached: number;
  /** Blocks that no answer could hold, or that the node refuses. */
  readonly unread: readonly UnreadableBlock[];
}

/** Blocks up to `head`, which is that of a look, or the last block before logs have the coins. */
interface CoinRange {
  readonly from: number;
  readonly head: Header;
  /** Blocks that are not read, because they are set aside. */
  readonly skipped: ReadonlySet<number>;
}

/**
 * Reads payments in the native coin that transactions send directly, in blocks that do not log them. Coins sent by a
 * contract leave no log and no transaction there, so they are not found.
 */
export interface NativeReader {
  /**
   * Reads a range from its beginning, as far as the bytes of one look suffice. Undefined when the node lacks a block, or
   * when the blocks do not lead to the head. A block that the node leaves unanswered several times is unread.
   */
  transfers(range: CoinRange, watched: WatchedAddresses): Promise<CoinScan | undefined>;
  /**
   * Reads the blocks of a range ahead, as long as the node answers, for looks that go on meanwhile and do not read the
   * same blocks. Returns their number.
   */
  readAhead(range: BlockRange, skipped: ReadonlySet<number>, view: NodeView): Promise<number>;
}

/** Expected bytes of the blocks that are read together, and of all that one look reads. */
const BYTES_AT_A_TIME = 8 * 2 ** 20;
const BYTES_PER_LOOK = 32 * 2 ** 20;
/** Time after which a look reads no more blocks than one request, so that payments in tokens do not wait for them. */
const TIME_PER_LOOK_MS = 500;
const MAX_AT_A_TIME = 20;
const FIRST_AT_A_TIME = 4;
/** Blocks kept in memory, because each new block causes another scan of the window before it. */
const REMEMBERED_BLOCKS = 300;
/** Looks in which a node may leave something unanswered, before the others go on without it. */
const PATIENT_LOOKS = 3;

/** Keeps the latest blocks in memory, linked by their parent hashes, so a new head costs one block. */
export function nativeReader({
  chainId,
  view,
  clock,
}: {
  chainId: number;
  view: NodeView;
  clock: Clock;
}): NativeReader {
  const remembered = new Map<number, ReadBlock>();
  /** Blocks that are being read ahead. */
  const ahead = new Set<number>();
  const failures = new Map<number | string, number>();
  let atATime = FIRST_AT_A_TIME;
  let hasReadAny = false;
  /** True when the node left something unanswered. */
  let isInDoubt = false;

  async function read(
    range: CoinRange,
  ): Promise<{ blocks: ReadBlock[]; unread: UnreadableBlock[] } | undefined> {
    const blocks: ReadBlock[] = [];
    const unread: UnreadableBlock[] = [];
    let bytes = 0;
    const until = clock.now() + TIME_PER_LOOK_MS;
    const isSpent = () => bytes >= BYTES_PER_LOOK || (bytes > 0 && clock.now() >= until);
    for (let next = range.from; next <= range.head.number && !isSpent(); ) {
      const known = remembered.get(next);
      if (known !== undefined) {
        blocks.push(known);
        next += 1;
        continue;
      }
      const numbers = numbersToRead(next, range.head.number);
      if (numbers.length === 0) return { blocks, unread };
      const results = await readSome(numbers, range.skipped);
      for (const result of results) {
        if (result === 'missing') return undefined;
        if (result === 'later') return { blocks, unread };
        bytes += result.bytes;
        // One that is not set aside yet is not remembered: this look may fail before it is.
        if (result.unread === undefined) remembered.set(result.block.number, result.block);
        else unread.push(result.unread);
        blocks.push(result.block);
        next += 1;
      }
    }
    return { blocks, unread };
  }

  /** The next blocks that are neither known nor being read. */
  function numbersToRead(from: number, to: number): number[] {
    const numbers: number[] = [];
    for (let number = from; number <= to && numbers.length < atATime; number++) {
      if (remembered.has(number) || ahead.has(number)) break;
      numbers.push(number);
    }
    return numbers;
  }

  /** Remembers blocks that the node shows. False when it does not show all of them. */
  async function remember(numbers: readonly number[], ofNode: NodeView): Promise<boolean> {
    for (const number of numbers) ahead.add(number);
    try {
      const asked = await Promise.allSettled(numbers.map(number => ofNode.block(number)));
      const shown = asked.flatMap(one => (one.status === 'fulfilled' && one.value ? [one.value] : []));
      for (const block of shown) remembered.set(block.number, (await readBlock(block)).block);
      return shown.length === numbers.length;
    } finally {
      for (const number of numbers) ahead.delete(number);
    }
  }

  /** Reads each block alone. A failure leaves the blocks before it. */
  async function readSome(numbers: readonly number[], skipped: ReadonlySet<number>) {
    const asked = await Promise.allSettled(
      numbers.map(number => (skipped.has(number) ? undefined : view.block(number))),
    );
    const isShown = (value: FullBlock | undefined) => value !== undefined;
    hasReadAny ||= asked.some(one => one.status === 'fulfilled' && isShown(one.value));
    const results: (BlockAnswer | 'missing' | 'later')[] = [];
    for (const [index, number] of numbers.entries()) {
      const answer = asked[index];
      const result =
        answer?.status === 'fulfilled' && !skipped.has(number)
          ? await blockAnswer(answer.value)
          : await withoutTransactions(number, answer?.status === 'rejected' ? answer.reason : undefined);
      results.push(result);
      if (typeof result === 'string') break;
    }
    const hasFailed = asked.some(({ status }) => status === 'rejected');
    const largest = Math.max(...results.map(one => (typeof one === 'string' ? 0 : one.bytes)), 1);
    // Small blocks that came one by one do not promise that the next many are small.
    const most = Math.min(MAX_AT_A_TIME, Math.max(FIRST_AT_A_TIME, 2 * numbers.length));
    atATime = hasFailed ? 1 : Math.min(most, Math.max(1, Math.floor(BYTES_AT_A_TIME / largest)));
    return results;
  }

  async function blockAnswer(block: FullBlock | undefined): Promise<BlockAnswer | 'missing'> {
    if (block === undefined) return 'missing';
    failures.delete(block.number);
    return readBlock(block);
  }

  /** The header of a block that is set aside, or is to be; `later` when it is to be read in the next look. */
  async function withoutTransactions(
    number: number,
    error: unknown,
  ): Promise<BlockAnswer | 'missing' | 'later'> {
    if (error instanceof LookSpent) return 'later';
    const reason = error === undefined ? undefined : setAsideReasonOf(error);
    // A node that refuses every block does not refuse this one.
    if (reason === 'refused' && !hasReadAny) throw error;
    if (reason === 'unanswered') isInDoubt = true;
    if (reason === 'unanswered' && !isGivenUp(number)) return 'later';
    const header = await linkedHeader(number);
    if (typeof header === 'string') return header;
    const block = { ...header, payments: [] };
    return reason === undefined
      ? { block, bytes: 0 }
      : { block, bytes: BYTES_AT_A_TIME, unread: { ...header, reason } };
  }

  async function linkedHeader(number: number): Promise<LinkedHeader | 'missing' | 'later'> {
    try {
      const outline = await view.outline(number);
      if (outline === undefined) return 'missing';
      const { hashes: _, ...header } = outline;
      return header;
    } catch (error) {
      if (error instanceof LookSpent) return 'later';
      throw error;
    }
  }

  function isGivenUp(key: number | string): boolean {
    const count = (failures.get(key) ?? 0) + 1;
    failures.set(key, count);
    if (count < PATIENT_LOOKS) return false;
    failures.delete(key);
    return true;
  }

  async function chainOf(range: CoinRange) {
    const isRemembered = remembered.has(range.from);
    const found = await read(range);
    if (found === undefined || isChain(found.blocks, range.head)) return found;
    // Some blocks were replaced since they were read, or during this reading.
    remembered.clear();
    const again = isRemembered ? await read(range) : undefined;
    return again !== undefined && isChain(again.blocks, range.head) ? again : undefined;
  }

  /** Reads whether payments succeeded. Returns the first block with one for which the node has no answer yet. */
  async function judge(payments: readonly Payment[]): Promise<number | undefined> {
    const open = payments.filter(({ succeeded }) => succeeded === undefined);
    const answers = await Promise.allSettled(
      open.map(({ transaction }) => coinReceipt(view, transaction.hash)),
    );
    let unsure: number | undefined;
    for (const [index, payment] of open.entries()) {
      const answer = answers[index];
      const { hash } = payment.transaction;
      if (answer?.status === 'rejected') {
        const isSpent = answer.reason instanceof LookSpent;
        const isUnanswered = !isSpent && setAsideReasonOf(answer.reason) === 'unanswered';
        isInDoubt ||= isUnanswered;
        // Before the payment is completed, its receipt is asked for again.
        if (!isSpent && (!isUnanswered || isGivenUp(hash))) payment.succeeded = true;
        else unsure = Math.min(unsure ?? payment.header.number, payment.header.number);
      } else if (answer?.value?.blockHash.toLowerCase() === payment.header.hash) {
        payment.succeeded = Number(answer.value.status) === 1;
      } else if (isGivenUp(hash)) {
        payment.succeeded = true;
      } else {
        unsure = Math.min(unsure ?? payment.header.number, payment.header.number);
      }
    }
    return unsure;
  }

  return {
    async readAhead({ from, to }, skipped, ofNode) {
      let count = 0;
      for (let next = from; next <= to; next += 1) {
        const numbers = numbersToRead(next, to).filter(number => !skipped.has(number));
        if (numbers.length === 0) continue;
        if (!(await remember(numbers, ofNode))) break;
        count += numbers.length;
      }
      return count;
    },

    async transfers(range, watched) {
      for (const number of remembered.keys()) {
        if (number < range.from && number <= range.head.number - REMEMBERED_BLOCKS) remembered.delete(number);
      }
      const found = await chainOf(range);
      if (found === undefined) return undefined;
      const payments = found.blocks
        .flatMap(block => block.payments)
        .filter(({ transaction: { to } }) => watched.has(NATIVE_COIN, `${to}`.toLowerCase()));
      const unsure = await judge(payments);
      // A node that answers nothing else either has failed. Otherwise it proves its chain again.
      if (isInDoubt) await view.head();
      isInDoubt = false;
      const last = range.from + found.blocks.length - 1;
      const reached = unsure === undefined ? last : unsure - 1;
      const transfers = payments
        .filter(({ succeeded, header }) => succeeded === true && header.number <= reached)
        .map(({ transaction, header }) => coinTransferOf(transaction, { chainId, header }));
      return { transfers, reached, unread: found.unread };
    },
  };
}

/** A block, or what a block that has to be set aside is known by. */
interface BlockAnswer extends MeasuredBlock {
  /** Given when it has to be set aside. */
  readonly unread?: UnreadableBlock | undefined;
}
