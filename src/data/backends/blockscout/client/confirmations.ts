import { LRUCache } from 'lru-cache';
import type { Clock } from '#lib/clock.ts';
import { isObject } from '#lib/json.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { type Fields, listOf, pick } from '../../upstream-json/fields.ts';
import { hashOrNull, integerOrNull, textOrNull } from '../../upstream-json/values.ts';
import { sideRequests } from './side-requests.ts';

/**
 * Depth of records: the number of blocks on top. Few upstream bodies state it, so side requests fetch the rest and deep
 * records are remembered. A failed look-up never fails the answer; the record only counts as unsettled. Side requests
 * have their own deadline, so that a late reply still serves the next answer.
 */
export interface RecordDepths {
  /** Remembered depth of a record; at least the required confirmations. */
  knownDepth(hash: string): number | undefined;
  /** Blocks on top of a transaction; undefined while it is pending or upstream has not traced it yet. */
  ofTransaction(hash: string): Promise<number | undefined>;
  /** True when upstream has the transaction but no block for it. */
  isPending(hash: string): Promise<boolean>;
  /** Blocks on top of a block; undefined while upstream is re-reading it. */
  ofBlock(numberOrHash: string): Promise<number | undefined>;
  /** Same as `ofBlock`, using the body of a request that is already under way. */
  ofThisBlock(numberOrHash: string, block: Promise<unknown>): Promise<number | undefined>;
  /** Records the depth stated in an upstream transaction, and returns it. */
  sawTransaction(transaction: Fields): number | undefined;
  /** Number of the latest block, fetched unless the last look-up is recent. Never rejects. */
  latest(): Promise<number | undefined>;
  /** Latest block seen; undefined before the first look-up. */
  head(): number | undefined;
}

/** Maximum number of deep records remembered by hash or number. */
const REMEMBERED = 50_000;
/** Time for which a look-up of the latest block is valid, in milliseconds. */
const HEAD_MS = 15_000;
/** Values of a transaction's `result` before upstream has traced it. */
const UNTRACED = new Set(['awaiting_internal_transactions', 'pending', 'dropped/replaced']);

export function recordDepths({
  upstream,
  confirmations,
  clock,
}: {
  upstream: Upstream;
  /** Blocks after which the chain's records count as final. */
  confirmations: number;
  clock: Clock;
}): RecordDepths {
  // Only deep records are kept: a shallow one may be mined again in another block.
  const deep = new LRUCache<string, number>({ max: REMEMBERED });
  const ask = sideRequests(upstream);
  let look: { readonly head: number; readonly until: number } | undefined;

  return {
    knownDepth,

    async ofTransaction(hash) {
      const known = knownDepth(hash);
      if (known !== undefined) return known;
      const body = await ask(`/transactions/${hash}`);
      return isObject(body) && isOf(body, hash) ? sawTransaction(body) : undefined;
    },

    async isPending(hash) {
      const body = await ask(`/transactions/${hash}`);
      return isObject(body) && isOf(body, hash) && pick(body, 'block_number', 'block') === null;
    },

    async ofBlock(numberOrHash) {
      const known = knownDepth(numberOrHash);
      if (known !== undefined) {
        // A restarted chain reuses block numbers, which only the latest block reveals.
        const depth = isHash(numberOrHash) ? known : depthBelow(await latest(), Number(numberOrHash));
        if (depth !== undefined && depth >= confirmations) return depth;
      }
      return ofThisBlock(numberOrHash, ask(`/blocks/${numberOrHash}`));
    },

    ofThisBlock,
    sawTransaction,
    latest,
    head: () => look?.head,
  };

  function knownDepth(id: string): number | undefined {
    return deep.get(id.toLowerCase());
  }

  async function ofThisBlock(numberOrHash: string, block: Promise<unknown>): Promise<number | undefined> {
    const [body, head] = await Promise.all([block.catch(() => undefined), latest()]);
    if (!isObject(body)) return undefined;
    const number = integerOrNull(body.height);
    const hash = hashOrNull(body.hash);
    if (number === null || hash === null) return undefined;
    const id = numberOrHash.toLowerCase();
    if (id !== hash && id !== String(number)) return undefined;
    if (body.is_pending_update === true || (body.type ?? 'block') !== 'block') return undefined;
    const depth = depthBelow(head, number);
    remember(hash, depth);
    remember(String(number), depth);
    return depth;
  }

  function sawTransaction(transaction: Fields): number | undefined {
    const number = integerOrNull(pick(transaction, 'block_number', 'block'));
    const hash = hashOrNull(transaction.hash);
    const count = integerOrNull(transaction.confirmations);
    if (number === null || hash === null || count === null) return undefined;
    if (pick(transaction, 'status') === null || UNTRACED.has(textOrNull(transaction.result) ?? ''))
      return undefined;
    if (transaction.is_pending_update === true) return undefined;
    // Every version counts the transaction's own block. The count applies to this record only.
    const depth = Math.min(Math.max(0, count - 1), depthBelow(current(), number) ?? Number.POSITIVE_INFINITY);
    remember(hash, depth);
    return depth;
  }

  function remember(id: string, depth: number | undefined): void {
    if (depth !== undefined && depth >= confirmations) deep.set(id, depth);
    else deep.delete(id);
  }

  function current(): number | undefined {
    return look !== undefined && clock.now() < look.until ? look.head : undefined;
  }

  /** Latest block, fetched when the last look-up has expired. */
  async function latest(): Promise<number | undefined> {
    const known = current();
    if (known !== undefined) return known;
    const heights = listOf(await ask('/main-page/blocks'))
      .map(block => (isObject(block) ? integerOrNull(block.height) : null))
      .filter(height => height !== null);
    if (heights.length === 0) return undefined;
    const head = Math.max(...heights);
    // The chain was restarted, or the previous head came from another chain.
    if (look !== undefined && head + confirmations < look.head) deep.clear();
    look = { head, until: clock.now() + HEAD_MS };
    return head;
  }
}

function depthBelow(head: number | undefined, height: number): number | undefined {
  return head === undefined ? undefined : Math.max(0, head - height);
}

function isHash(numberOrHash: string): boolean {
  return numberOrHash.startsWith('0x');
}

function isOf(transaction: Fields, hash: string): boolean {
  return hashOrNull(transaction.hash) === hash.toLowerCase();
}
