import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../lib/clock.ts';
import { type Fields, isFields, listOf, pick } from '../../upstream/fields.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { hashOrNull, integerOrNull, textOrNull } from '../../upstream/values.ts';

/**
 * How many blocks lie on top of a record. Few of upstream's bodies say so themselves, so this remembers what passes by
 * and asks for the rest. It never fails an answer: what it cannot find out makes a record look unsettled, no more.
 */
export interface Settlement {
  /** Blocks on top of a transaction; undefined while it is pending or upstream has not traced it yet. */
  ofTransaction(hash: string, signal: AbortSignal): Promise<number | undefined>;
  /** Whether upstream has the transaction, in no block. */
  isPending(hash: string, signal: AbortSignal): Promise<boolean>;
  /** Blocks on top of the block of a number or hash; undefined while upstream is still reading it again. */
  ofBlock(numberOrHash: string, signal: AbortSignal): Promise<number | undefined>;
  /** The same of a block that is being asked for anyway, as soon as `block` is there: only the latest block is looked up. */
  ofThisBlock(
    numberOrHash: string,
    block: Promise<unknown>,
    signal: AbortSignal,
  ): Promise<number | undefined>;
  /** Takes note of a transaction as upstream sent it, and says how many blocks lie on top of it. */
  sawTransaction(transaction: Fields): number | undefined;
  /** Takes note of blocks as upstream sent them. */
  sawBlocks(blocks: readonly unknown[]): void;
}

/** Records remembered by hash or number. */
const REMEMBERED = 50_000;
/** How long what was last seen as the latest block counts as such. */
const HEAD_MS = 15_000;
/** How long an answer that is ready waits for what is asked beside it. */
const PATIENCE_MS = 250;
/** What a transaction's `result` says while upstream has not looked inside. */
const UNTRACED = new Set(['awaiting_internal_transactions', 'pending', 'dropped/replaced']);

export function settlement({
  upstream,
  confirmations,
  clock,
}: {
  upstream: Upstream;
  /** Blocks after which the chain's records count as final. */
  confirmations: number;
  clock: Clock;
}): Settlement {
  const heights = new LRUCache<string, number>({ max: REMEMBERED });
  let head = -1;
  let headSeenAt = Number.NEGATIVE_INFINITY;

  return {
    async ofTransaction(hash, signal) {
      const known = depthOf(heights.get(hash.toLowerCase()));
      if (known !== undefined && known >= confirmations) return known;
      const body = await ask(`/transactions/${hash}`, signal);
      return isFields(body) && isOf(body, hash) ? sawTransaction(body) : known;
    },

    async isPending(hash, signal) {
      const body = await ask(`/transactions/${hash}`, signal);
      return isFields(body) && isOf(body, hash) && pick(body, 'block_number', 'block') === null;
    },

    async ofBlock(numberOrHash, signal) {
      const known = depthOf(heights.get(numberOrHash.toLowerCase()));
      if (known !== undefined && known >= confirmations) return known;
      return ofThisBlock(numberOrHash, ask(`/blocks/${numberOrHash}`, signal).then(noteBlock), signal);
    },

    ofThisBlock,

    sawTransaction,
    sawBlocks,
  };

  async function ofThisBlock(
    numberOrHash: string,
    block: Promise<unknown>,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const isDeep = head - Number(numberOrHash) >= confirmations; // a hash is no number, and never deep
    await Promise.all([block.catch(() => undefined), isDeep ? undefined : freshHead(signal)]);
    return depthOf(heights.get(numberOrHash.toLowerCase()));
  }

  function noteBlock(block: unknown): void {
    sawBlocks([block]);
  }

  function sawTransaction(transaction: Fields): number | undefined {
    const number = integerOrNull(pick(transaction, 'block_number', 'block'));
    const hash = hashOrNull(transaction.hash);
    const count = integerOrNull(transaction.confirmations);
    if (number === null || hash === null || count === null) return undefined;
    // Every version counts the transaction's own block.
    const depth = Math.max(0, count - 1);
    sawHead(number + depth);
    if (pick(transaction, 'status') === null || UNTRACED.has(textOrNull(transaction.result) ?? ''))
      return undefined;
    if (transaction.is_pending_update === true) return undefined;
    heights.set(hash, number);
    return depth;
  }

  function sawBlocks(blocks: readonly unknown[]): void {
    for (const block of blocks) {
      if (!isFields(block)) continue;
      const number = integerOrNull(block.height);
      const hash = hashOrNull(block.hash);
      if (number === null || hash === null) continue;
      sawHead(number);
      if (block.is_pending_update === true || (block.type ?? 'block') !== 'block') continue;
      heights.set(hash, number);
      heights.set(String(number), number);
    }
  }

  function sawHead(number: number): void {
    head = Math.max(head, number);
  }

  function depthOf(height: number | undefined): number | undefined {
    return height === undefined ? undefined : Math.max(0, head - height);
  }

  async function freshHead(signal: AbortSignal): Promise<void> {
    if (clock.now() - headSeenAt < HEAD_MS) return;
    const blocks = listOf(await ask('/main-page/blocks', signal));
    if (blocks.length === 0) return;
    sawBlocks(blocks);
    headSeenAt = clock.now();
  }

  async function ask(path: string, signal: AbortSignal): Promise<unknown> {
    try {
      return (await upstream.get(path, { signal })).body;
    } catch {
      return undefined; // the record then counts as unsettled, which costs a shorter life and nothing else
    }
  }
}

function isOf(transaction: Fields, hash: string): boolean {
  return hashOrNull(transaction.hash) === hash.toLowerCase();
}

/** The outcome of `side` if it is there soon after `main`, which it must not hold up. */
export async function beside<Main, Side>(
  main: Promise<Main>,
  side: Promise<Side | undefined>,
  clock: Clock,
): Promise<[Main, Side | undefined]> {
  const answer = await main;
  const pause = new AbortController();
  const waited = clock.sleep(PATIENCE_MS, pause.signal).then(
    () => undefined,
    () => undefined,
  );
  const found = await Promise.race([side, waited]);
  pause.abort();
  return [answer, found];
}
