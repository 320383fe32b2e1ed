import { BaseError, numberToHex } from 'viem';
import { plainLine } from '../../lib/single-line.ts';
import { ChainMoved, ContradictoryBlock } from '../../node/block-ref.ts';
import { nodeAnswered } from '../../node/client.ts';
import { WrongChain } from '../../node/transport/errors.ts';
import type { NodeCalls } from './fetched-block.ts';

/** Failure of one answer: the node refuses it, or cannot deliver it, but answers other requests. */
export class UnreadableAnswer {
  readonly cause: unknown;
  constructor(cause: unknown) {
    this.cause = cause;
  }

  /** True when the node itself answered with an error. */
  get isRefusal(): boolean {
    return nodeAnswered(this.cause);
  }

  /** True when the node does not know the method, so that it gives no such answer for any block. */
  get isUnknownMethod(): boolean {
    const { cause } = this;
    return cause instanceof BaseError && cause.walk(isUnknownMethod) !== null;
  }

  /** Words of the node or the client, for the operator. */
  get reason(): string {
    return innermostReason(this.cause);
  }
}

/** One line that says why a request failed: the innermost error, without the explanations around it. */
export function innermostReason(error: unknown): string {
  const innermost = error instanceof BaseError ? error.walk() : error;
  if (innermost instanceof BaseError) return plainLine(innermost.shortMessage);
  return plainLine(innermost instanceof Error ? innermost.message : String(innermost));
}

/** Error code of an unknown method. Source: JSON-RPC 2.0, section 5.1. */
const METHOD_NOT_FOUND = -32_601;

function isUnknownMethod(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === METHOD_NOT_FOUND;
}

/**
 * Awaits a request about a block.
 * @throws the request's error when the node is away, so that nothing is known about the answer
 * @throws ChainMoved when the node no longer has the block
 */
export type Attempt = <Answer>(asking: Promise<Answer>) => Promise<Answer | UnreadableAnswer>;

/**
 * Creates the attempts of one block. After a failure the block's header is requested: if the node sends it, only the
 * failed answer cannot be read, and the rest of the chain need not wait for it.
 */
export function attemptsAt(
  { request }: NodeCalls,
  { number, hash }: { number: number; hash: string },
): Attempt {
  return async asking => {
    try {
      return await asking;
    } catch (error) {
      if (isOfChain(error)) throw error;
      const header = await request({
        method: 'eth_getBlockByNumber',
        params: [numberToHex(number), false],
      }).catch(() => {
        throw error;
      });
      if (header?.hash !== hash) throw new ChainMoved(number);
      return new UnreadableAnswer(error);
    }
  };
}

/** True for a failure that concerns the whole block or node, and not one answer. */
function isOfChain(error: unknown): boolean {
  return error instanceof ChainMoved || error instanceof ContradictoryBlock || error instanceof WrongChain;
}

/** Requests in flight when a block is read piece by piece: each piece may be as large as the client accepts. */
const AT_A_TIME = 4;

/** Results of `read` for each item, in order. A few items are read at a time. */
export async function oneByOne<Item, Result>(
  items: readonly Item[],
  read: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += AT_A_TIME) {
    results.push(...(await Promise.all(items.slice(start, start + AT_A_TIME).map(read))));
  }
  return results;
}
