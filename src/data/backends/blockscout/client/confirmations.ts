import { LRUCache } from 'lru-cache';
import type { Clock } from '#lib/clock.ts';
import { isObject } from '#lib/json.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { type Fields, listOf, pick } from '../../upstream-json/fields.ts';
import { hashOrNull, integerOrNull, textOrNull } from '../../upstream-json/values.ts';
import { sideRequests } from './side-requests.ts';

/**
 * How many blocks lie on top of a record. Few of upstream's bodies say so themselves, so this asks for the rest beside
 * the answer and remembers what is deep. It never fails an answer: what it cannot find out makes a record look
 * unsettled, no more. Its requests end by their own deadline, so that one that comes too late serves the next answer.
 */
export interface Settlement {
  /** What was known of a transaction before: a depth of at least the confirmations. */
  knownDepth(hash: string): number | undefined;
  /** Blocks on top of a transaction; undefined while it is pending or upstream has not traced it yet. */
  ofTransaction(hash: string): Promise<number | undefined>;
  /** Whether upstream has the transaction, in no block. */
  isPending(hash: string): Promise<boolean>;
  /** Blocks on top of the block of a number or hash; undefined while upstream is still reading it again. */
  ofBlock(numberOrHash: string): Promise<number | undefined>;
  /** The same of a block that is being asked for anyway, from its body as upstream sends it. */
  ofThisBlock(numberOrHash: string, block: Promise<unknown>): Promise<number | undefined>;
  /** Takes note of a transaction as upstream sent it, and says how many blocks lie on top of it. */
  sawTransaction(transaction: Fields): number | undefined;
  /** Looks for the latest block unless that was done lately; never rejects. */
  latest(): Promise<number | undefined>;
  /** The latest block that was seen; undefined before the first look. */
  head(): number | undefined;
}

/** Deep records remembered by hash or number. */
const REMEMBERED = 50_000;
/** How long a look at the latest block counts. */
const HEAD_MS = 15_000;
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
  // Depths as they were seen, and only deep ones: a shallow record may be mined again, into another block.
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
        // A chain that begins anew has its numbers again, which only a look tells.
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
    // Every version counts the transaction's own block. Its count says nothing of any other record.
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

  /** The latest block by the last look, or by one at once when that one is too old. */
  async function latest(): Promise<number | undefined> {
    const known = current();
    if (known !== undefined) return known;
    const heights = listOf(await ask('/main-page/blocks'))
      .map(block => (isObject(block) ? integerOrNull(block.height) : null))
      .filter(height => height !== null);
    if (heights.length === 0) return undefined;
    const head = Math.max(...heights);
    // This chain began anew, or what was last seen was another one's.
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
