import { type Address, type Hash, isAddress, numberToHex } from 'viem';
import { lowerCase } from '../../evm/address.ts';
import type { RpcReceipt } from '../../evm/rpc.ts';
import type { TransactionTrace } from '../../evm/traces.ts';
import { isObject } from '../../lib/json.ts';
import type { Logger } from '../../lib/logger.ts';
import { assertWellFormed, type BlockRef, ChainMoved, ContradictoryBlock } from '../../node/block-ref.ts';
import { malformedInTraces } from '../../node/malformed-fields.ts';
import { type TraceMethodName, traceMethod } from '../../node/trace-methods.ts';
import type { FetchedBlock, NodeCalls } from './fetched-block.ts';
import { capabilitiesOf, type NodeCapabilities } from './node-capabilities.ts';
import { attemptsAt, oneByOne, UnreadableAnswer } from './unreadable.ts';

/** Receipts and traces of a block. */
export interface BlockParts extends Pick<FetchedBlock, 'traces' | 'touched' | 'unreadable'> {
  /** As sent by the node. When one is null because it cannot be read, they are in the order of the transactions. */
  receipts: readonly (RpcReceipt | null)[];
  /** Error of traces that do not fit the block. It is to be thrown, unless the block itself turns out to be false. */
  misfit: ChainMoved | ContradictoryBlock | undefined;
}

/** Blocks after which a node without a trace method is probed again: it may have lacked the state of those blocks. */
const PROBE_AGAIN = 100;

/**
 * Reads the receipts and traces of blocks by the best methods that the node supports. A part that cannot be had for
 * the whole block is read by transaction. What is missing then is null, and everything else is returned.
 * @throws ChainMoved when the node does not have the block any more
 * @throws the request's error when the node is away
 */
export function partsReader(client: NodeCalls, log: Logger): (block: BlockRef) => Promise<BlockParts> {
  let known: Promise<NodeCapabilities> | undefined;
  let untraced = 0;

  function capabilities(block: BlockRef): Promise<NodeCapabilities> {
    known ??= probe(block).catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  }

  async function probe(block: BlockRef): Promise<NodeCapabilities> {
    const { hasBlockReceipts, tracer } = await capabilitiesOf(client, block);
    log.info({ chainId: client.id, hasBlockReceipts, tracer: tracer ?? 'none' }, 'node capabilities');
    return { hasBlockReceipts, tracer };
  }

  return async block => {
    const { hasBlockReceipts, tracer } = await capabilities(block);
    const reading = readingOf(client, block);
    const [receipts, traced] = await Promise.all([
      reading.receipts(hasBlockReceipts),
      tracer === undefined ? null : reading.traces(tracer).catch(misfitOf),
    ]);
    if (traced instanceof Error)
      return { receipts, traces: null, touched: [], unreadable: null, misfit: traced };
    const traces = traced;
    untraced = traces === null ? untraced + 1 : 0;
    if (untraced >= PROBE_AGAIN) known = undefined;
    const lacking = block.transactions.filter((_, at) => receipts[at] === null || traces?.[at] === null);
    const touched = tracer === undefined ? [] : await reading.touchedBy(lacking);
    return {
      receipts,
      traces,
      touched,
      unreadable: lacking.length === 0 ? null : reading.reason(),
      misfit: undefined,
    };
  };
}

/** Handler that returns the error of traces that do not fit their block. @throws any other error */
function misfitOf(error: unknown): ChainMoved | ContradictoryBlock {
  if (error instanceof ChainMoved || error instanceof ContradictoryBlock) return error;
  throw error;
}

/** Transactions of a block whose changes are looked up when their receipt or trace is missing. */
const MAX_LOOKED_UP = 20;

/** Reads the parts of one block, and remembers the first failure. */
function readingOf(client: NodeCalls, block: BlockRef) {
  const { request } = client;
  const attempt = attemptsAt(client, block);
  let first: UnreadableAnswer | undefined;

  async function orNull<Answer>(asking: Promise<Answer>): Promise<Answer | null> {
    const answer = await attempt(asking);
    if (!(answer instanceof UnreadableAnswer)) return answer;
    first ??= answer;
    return null;
  }

  async function receipts(hasBlockReceipts: boolean): Promise<readonly (RpcReceipt | null)[]> {
    if (!hasBlockReceipts) return Promise.all(block.transactions.map(receipt));
    const whole = await attempt(
      request({ method: 'eth_getBlockReceipts', params: [numberToHex(block.number)] }),
    );
    if (whole instanceof UnreadableAnswer) return oneByOne(block.transactions, receipt);
    if (whole === null) throw new ChainMoved(block.number);
    if (!Array.isArray(whole)) assertWellFormed(block.number, 'the list of receipts is malformed');
    if (whole.some(one => one === null)) throw new ChainMoved(block.number);
    return whole;
  }

  function receipt(hash: Hash): Promise<RpcReceipt | null> {
    return orNull(
      request({ method: 'eth_getTransactionReceipt', params: [hash] }).then(found => {
        if (found === null) throw new ChainMoved(block.number);
        return found;
      }),
    );
  }

  async function traces(tracer: TraceMethodName): Promise<(TransactionTrace | null)[] | null> {
    const { ofBlock, ofTransaction } = traceMethod(client, tracer);
    const answer = await attempt(ofBlock(block));
    if (answer instanceof UnreadableAnswer && answer.isUnknownMethod) return null;
    const whole =
      answer instanceof UnreadableAnswer ? block.transactions.map(() => null) : (answer?.() ?? null);
    if (whole === null) return null;
    const missing = block.transactions.flatMap((hash, at) => (whole[at] === null ? [{ hash, at }] : []));
    const alone = await oneByOne(missing, async ({ hash, at }) => ({
      at,
      trace: await orNull(
        ofTransaction(block, hash).then(trace => {
          if (trace === null) throw new Error('The node has no trace of the transaction.');
          if (malformedInTraces([trace]) !== undefined)
            throw new Error('The trace of the transaction is malformed.');
          return trace;
        }),
      ),
    }));
    return whole.map((trace, at) => trace ?? alone.find(one => one.at === at)?.trace ?? null);
  }

  /** Accounts that transactions changed, by a tracer whose answer does not grow with the number of calls. */
  async function touchedBy(hashes: readonly Hash[]): Promise<Address[]> {
    const tracer = { tracer: 'prestateTracer', tracerConfig: { diffMode: true } } as const;
    const diffs = await oneByOne(hashes.slice(0, MAX_LOOKED_UP), hash =>
      orNull(request({ method: 'debug_traceTransaction', params: [hash, tracer] })),
    );
    const accounts = diffs.flatMap(diff =>
      isObject(diff) && 'post' in diff ? Object.keys({ ...Object(diff.pre), ...Object(diff.post) }) : [],
    );
    return [...new Set(accounts.filter(one => isAddress(one, { strict: false })).map(lowerCase))];
  }

  return { receipts, traces, touchedBy, reason: () => first?.reason ?? 'the node gave no answer' };
}
