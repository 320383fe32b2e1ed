import { type Hash, type Hex, numberToHex } from 'viem';
import type { RpcReceipt } from '../../evm/rpc.ts';
import { type TransactionTrace, tracesOfFrames, tracesOfParity } from '../../evm/traces.ts';
import type { Logger } from '../../lib/logger.ts';
import { type ChainClient, nullIfAnswered } from '../../node/client.ts';

/** A block whose receipts and traces are wanted. */
export interface BlockRef {
  number: number;
  hash: Hash;
  transactions: readonly Hash[];
}

type TraceSource = (block: BlockRef) => Promise<TransactionTrace[] | null>;
type ReceiptSource = (block: BlockRef) => Promise<(RpcReceipt | null)[] | null>;

export interface NodeSources {
  receipts: ReceiptSource;
  /** Null from a node that cannot trace, or cannot trace this block any more. */
  traces: TraceSource;
}

/**
 * Finds out once, by asking about a block, which of the optional methods a node has.
 * @throws when the node cannot be reached: not reaching it says nothing about what it can do.
 */
export async function probeSources(client: ChainClient, block: BlockRef, log: Logger): Promise<NodeSources> {
  const hasBlockReceipts = await has(blockReceipts(client)(block));
  // Nodes that have `trace_block` keep or compute flat traces far faster than they run a tracer again:
  // anvil needs 0.1 ms a block for it, and 13 ms for `callTracer`.
  const traceSources: [string, TraceSource][] = [
    ['trace_block', parityTraces(client)],
    ['debug_traceBlockByHash', debugTraces(client, 'hash')],
    ['debug_traceBlockByNumber', debugTraces(client, 'number')],
  ];
  let traces: TraceSource = async () => null;
  let tracer = 'none';
  for (const [name, source] of traceSources) {
    if (!(await has(source(block)))) continue;
    tracer = name;
    traces = source;
    break;
  }
  log.info({ chainId: client.id, hasBlockReceipts, tracer }, 'node capabilities');
  return {
    receipts: hasBlockReceipts ? blockReceipts(client) : singleReceipts(client),
    traces: block => traces(block).catch(nullIfAnswered),
  };
}

async function has(call: Promise<unknown>): Promise<boolean> {
  try {
    return (await call) !== null;
  } catch (error) {
    nullIfAnswered(error);
    return false;
  }
}

function blockReceipts({ request }: ChainClient): ReceiptSource {
  return ({ number }) => request({ method: 'eth_getBlockReceipts', params: [numberToHex(number)] });
}

function singleReceipts({ request }: ChainClient): ReceiptSource {
  return ({ transactions }) =>
    Promise.all(transactions.map(hash => request({ method: 'eth_getTransactionReceipt', params: [hash] })));
}

function debugTraces({ request }: ChainClient, by: 'hash' | 'number'): TraceSource {
  const tracer = { tracer: 'callTracer' } as const;
  return async ({ number, hash, transactions }) => {
    const block: Hex = numberToHex(number);
    const traces =
      by === 'hash'
        ? await request({ method: 'debug_traceBlockByHash', params: [hash, tracer] })
        : await request({ method: 'debug_traceBlockByNumber', params: [block, tracer] });
    return tracesOfFrames(traces, transactions);
  };
}

function parityTraces({ request }: ChainClient): TraceSource {
  return async block => {
    const traces = await request({ method: 'trace_block', params: [numberToHex(block.number)] });
    return traces === null ? null : tracesOfParity(traces, block);
  };
}
