import { type Hash, type Hex, numberToHex } from 'viem';
import type { RpcBlockTraces, RpcParityTrace } from '../evm/rpc.ts';
import { type TransactionTrace, traceOfFrame, tracesOfFrames, tracesOfParity } from '../evm/traces.ts';
import { assertWellFormed, type BlockRef, ChainMoved, ContradictoryBlock } from './block-ref.ts';
import type { RawRequest } from './chain-node.ts';
import { malformedInTraces } from './malformed-fields.ts';

/**
 * Reads traces from an answer about a block and checks that they fit it. A transaction that the node failed to trace
 * has null. Null instead of a list when the node skips transactions, such as those that the chain itself adds.
 * @throws ChainMoved when the traces are of another block
 * @throws ContradictoryBlock when they cover more than the block's transactions, repeat a call, or are malformed
 */
export type TraceReading = () => (TransactionTrace | null)[] | null;

/** A node, or several with failover. */
interface TraceCalls {
  readonly request: RawRequest;
}

/** One way in which a node traces. */
export interface TraceMethod {
  /** Returns null when the node has no answer. */
  ofBlock(block: BlockRef): Promise<TraceReading | null>;
  /** Trace of one transaction of a block; null when the node has none. @throws ChainMoved as a reading does */
  ofTransaction(block: BlockRef, hash: Hash): Promise<TransactionTrace | null>;
}

/**
 * Trace methods by preference. Nodes with `trace_block` store or compute flat traces far faster than they run a tracer:
 * anvil needs 0.1 ms per block for it, and 13 ms for `callTracer`.
 */
export const TRACE_METHODS = ['trace_block', 'debug_traceBlockByHash', 'debug_traceBlockByNumber'] as const;

export type TraceMethodName = (typeof TRACE_METHODS)[number];

export function traceMethod(client: TraceCalls, name: TraceMethodName): TraceMethod {
  if (name === 'trace_block') return parityTraces(client);
  return debugTraces(client, name === 'debug_traceBlockByHash' ? 'hash' : 'number');
}

function debugTraces({ request }: TraceCalls, by: 'hash' | 'number'): TraceMethod {
  const tracer = { tracer: 'callTracer' } as const;
  return {
    async ofBlock(block) {
      const number: Hex = numberToHex(block.number);
      const traces =
        by === 'hash'
          ? await request({ method: 'debug_traceBlockByHash', params: [block.hash, tracer] })
          : await request({ method: 'debug_traceBlockByNumber', params: [number, tracer] });
      return wellFormed(block, () => readFrames(traces, block));
    },
    async ofTransaction(_, hash) {
      const frame = await request({ method: 'debug_traceTransaction', params: [hash, tracer] });
      return 'type' in frame ? traceOfFrame(frame) : null;
    },
  };
}

/** The same reading, with a contradiction in place of errors about a value that no trace has. */
function wellFormed({ number }: BlockRef, read: TraceReading): TraceReading {
  return () => {
    try {
      const traces = read();
      assertWellFormed(number, malformedInTraces(traces ?? []));
      return traces;
    } catch (error) {
      if (error instanceof ChainMoved || error instanceof ContradictoryBlock) throw error;
      // Not as the cause: its text may quote all of a long value.
      throw new ContradictoryBlock(number, `its traces are malformed: ${String(error)}`, {
        isOfContents: true,
      });
    }
  };
}

function readFrames(traces: RpcBlockTraces, block: BlockRef): (TransactionTrace | null)[] | null {
  return fitting(tracesOfFrames(traces, block.transactions), { traced: traces.length, block });
}

function parityTraces({ request }: TraceCalls): TraceMethod {
  return {
    async ofBlock(block) {
      const traces = await request({ method: 'trace_block', params: [numberToHex(block.number)] });
      return traces === null ? null : wellFormed(block, () => readParity(traces, block));
    },
    async ofTransaction(block, hash) {
      const traces = await request({ method: 'trace_transaction', params: [hash] });
      if (traces === null) return null;
      assertOfBlock(traces, block);
      const alone = traces.map(trace => ({ ...trace, transactionPosition: 0 }));
      return tracesOfParity(alone, [hash])?.[0] ?? null;
    },
  };
}

function readParity(traces: readonly RpcParityTrace[], block: BlockRef): TransactionTrace[] | null {
  assertOfBlock(traces, block);
  const positions = traces.map(({ transactionPosition }) => transactionPosition);
  const traced = new Set(positions.filter(position => typeof position === 'number')).size;
  return fitting(tracesOfParity(traces, block.transactions), { traced, block });
}

function assertOfBlock(traces: readonly RpcParityTrace[], { number, hash }: BlockRef): void {
  if (traces.some(({ blockHash }) => blockHash !== hash)) throw new ChainMoved(number);
}

/** Checks traces against the block. `traced` is the number of transactions that the node traced. */
function fitting<Traces>(
  traces: Traces | null,
  { traced, block }: { traced: number; block: BlockRef },
): Traces | null {
  if (traces !== null || traced < block.transactions.length) return traces;
  throw new ContradictoryBlock(block.number, 'its traces include other transactions');
}
