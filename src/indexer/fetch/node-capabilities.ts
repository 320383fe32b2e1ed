import { type Hash, type Hex, numberToHex } from 'viem';
import type { RpcBlockTraces, RpcParityTrace, RpcReceipt } from '../../evm/rpc.ts';
import { type TransactionTrace, tracesOfFrames, tracesOfParity } from '../../evm/traces.ts';
import type { Logger } from '../../lib/logger.ts';
import { type ChainClient, nullIfAnswered } from '../../node/client.ts';
import { ChainMoved, ContradictoryBlock } from './block-faults.ts';

/** One node, or several with failover. */
export type NodeCalls = Pick<ChainClient, 'id' | 'request'>;

/** A block whose receipts and traces are wanted. */
export interface BlockRef {
  number: number;
  hash: Hash;
  transactions: readonly Hash[];
}

type TraceSource = (block: BlockRef) => Promise<TransactionTrace[] | null>;
/** Returns null when the node has no answer. Reading the result checks that it fits its block. */
type TraceMethod = (block: BlockRef) => Promise<TraceReading | null>;
/**
 * Null when the node traced only some of the transactions: tracing one failed, or it skips those that the chain itself
 * adds.
 * @throws ChainMoved when the traces are of another block
 * @throws ContradictoryBlock when they cover more than the block's transactions, or repeat a call
 */
type TraceReading = () => TransactionTrace[] | null;
type ReceiptSource = (block: BlockRef) => Promise<(RpcReceipt | null)[] | null>;

export interface NodeSources {
  receipts: ReceiptSource;
  /**
   * Null from a node that cannot trace, or no longer has this block's state.
   * @throws ChainMoved when the traces are of another block
   * @throws ContradictoryBlock when they cover more than the block's transactions, or repeat a call
   */
  traces: TraceSource;
}

/** Optional methods of a node. */
export interface NodeCapabilities {
  readonly hasBlockReceipts: boolean;
  /** Preferred method for traces of blocks among those that the node supports; undefined when it supports none. */
  readonly tracer: TraceMethodName | undefined;
}

/**
 * Trace methods by preference. Nodes with `trace_block` store or compute flat traces far faster than they run a tracer:
 * anvil needs 0.1 ms per block for it, and 13 ms for `callTracer`.
 */
const TRACE_METHODS = ['trace_block', 'debug_traceBlockByHash', 'debug_traceBlockByNumber'] as const;

type TraceMethodName = (typeof TRACE_METHODS)[number];

/**
 * Detects the optional methods of a node by requesting data of one block.
 * @throws when the node cannot be reached: that says nothing about its capabilities
 */
export async function capabilitiesOf(client: NodeCalls, block: BlockRef): Promise<NodeCapabilities> {
  const hasBlockReceipts = await has(blockReceipts(client)(block));
  return { hasBlockReceipts, tracer: await tracerOf(client, block) };
}

/**
 * First method that traces the whole block. Some nodes answer `trace_block` with an empty list and trace by another
 * method.
 * If no method does, the first one that answers, because it may work for other blocks.
 */
async function tracerOf(client: NodeCalls, block: BlockRef): Promise<TraceMethodName | undefined> {
  let answering: TraceMethodName | undefined;
  for (const tracer of TRACE_METHODS) {
    const reading = await traceMethod(client, tracer)(block).catch(nullIfAnswered);
    if (reading === null) continue;
    if (isOfWholeBlock(reading)) return tracer;
    answering ??= tracer;
  }
  return answering;
}

/**
 * True when the traces cover the whole block. An answer that does not fit the block counts too, because the next one
 * may fit.
 */
function isOfWholeBlock(reading: TraceReading): boolean {
  try {
    return reading() !== null;
  } catch (error) {
    if (error instanceof ChainMoved || error instanceof ContradictoryBlock) return true;
    throw error;
  }
}

/**
 * Chooses the receipt and trace sources that suit a node, from requests for one block.
 * @throws when the node cannot be reached
 */
export async function probeSources(client: NodeCalls, block: BlockRef, log: Logger): Promise<NodeSources> {
  const { hasBlockReceipts, tracer } = await capabilitiesOf(client, block);
  const traces: TraceMethod = tracer === undefined ? async () => null : traceMethod(client, tracer);
  log.info({ chainId: client.id, hasBlockReceipts, tracer: tracer ?? 'none' }, 'node capabilities');
  return {
    receipts: hasBlockReceipts ? blockReceipts(client) : singleReceipts(client),
    traces: async block => (await traces(block).catch(nullIfAnswered))?.() ?? null,
  };
}

function traceMethod(client: NodeCalls, name: TraceMethodName): TraceMethod {
  if (name === 'trace_block') return parityTraces(client);
  return debugTraces(client, name === 'debug_traceBlockByHash' ? 'hash' : 'number');
}

async function has(call: Promise<unknown>): Promise<boolean> {
  try {
    return (await call) !== null;
  } catch (error) {
    nullIfAnswered(error);
    return false;
  }
}

function blockReceipts({ request }: NodeCalls): ReceiptSource {
  return ({ number }) => request({ method: 'eth_getBlockReceipts', params: [numberToHex(number)] });
}

function singleReceipts({ request }: NodeCalls): ReceiptSource {
  return ({ transactions }) =>
    Promise.all(transactions.map(hash => request({ method: 'eth_getTransactionReceipt', params: [hash] })));
}

function debugTraces({ request }: NodeCalls, by: 'hash' | 'number'): TraceMethod {
  const tracer = { tracer: 'callTracer' } as const;
  return async block => {
    const number: Hex = numberToHex(block.number);
    const traces =
      by === 'hash'
        ? await request({ method: 'debug_traceBlockByHash', params: [block.hash, tracer] })
        : await request({ method: 'debug_traceBlockByNumber', params: [number, tracer] });
    return () => readFrames(traces, block);
  };
}

function readFrames(traces: RpcBlockTraces, block: BlockRef): TransactionTrace[] | null {
  const isWhole = traces.length === block.transactions.length;
  if (isWhole && traces.some(({ result }) => result === undefined)) return null;
  return fitting(tracesOfFrames(traces, block.transactions), { traced: traces.length, block });
}

function parityTraces({ request }: NodeCalls): TraceMethod {
  return async block => {
    const traces = await request({ method: 'trace_block', params: [numberToHex(block.number)] });
    return traces === null ? null : () => readParity(traces, block);
  };
}

function readParity(traces: readonly RpcParityTrace[], block: BlockRef): TransactionTrace[] | null {
  if (traces.some(({ blockHash }) => blockHash !== block.hash)) throw new ChainMoved(block.number);
  const places = traces.map(({ transactionPosition }) => transactionPosition);
  const traced = new Set(places.filter(place => typeof place === 'number')).size;
  return fitting(tracesOfParity(traces, block.transactions), { traced, block });
}

/** Checks traces against the block. `traced` is the number of transactions that the node traced. */
function fitting(
  traces: TransactionTrace[] | null,
  { traced, block }: { traced: number; block: BlockRef },
): TransactionTrace[] | null {
  if (traces !== null || traced < block.transactions.length) return traces;
  throw new ContradictoryBlock(block.number, 'its traces include other transactions');
}
