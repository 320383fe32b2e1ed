import { numberToHex } from 'viem';
import { type BlockRef, ChainMoved, ContradictoryBlock } from '../../node/block-ref.ts';
import {
  TRACE_METHODS,
  type TraceMethodName,
  type TraceReading,
  traceMethod,
} from '../../node/trace-methods.ts';
import type { NodeCalls } from './fetched-block.ts';
import { attemptsAt, UnreadableAnswer } from './unreadable.ts';

/** Optional methods of a node. */
export interface NodeCapabilities {
  readonly hasBlockReceipts: boolean;
  /** Preferred method for traces of blocks among those that the node supports; undefined when it supports none. */
  readonly tracer: TraceMethodName | undefined;
}

/**
 * Detects the optional methods of a node by requesting data of one block.
 * @throws when the node cannot be reached: that says nothing about its capabilities
 */
export async function capabilitiesOf(client: NodeCalls, block: BlockRef): Promise<NodeCapabilities> {
  const attempt = attemptsAt(client, block);
  const receipts = await attempt(
    client.request({ method: 'eth_getBlockReceipts', params: [numberToHex(block.number)] }),
  );
  const hasBlockReceipts = receipts instanceof UnreadableAnswer ? !receipts.isRefusal : receipts !== null;
  return { hasBlockReceipts, tracer: await tracerOf(client, block) };
}

/**
 * First method that traces the whole block. Some nodes answer `trace_block` with an empty list and trace by another
 * method.
 * If no method does, the first one that answers, because it may work for other blocks. So may one whose answer cannot
 * be delivered.
 */
async function tracerOf(client: NodeCalls, block: BlockRef): Promise<TraceMethodName | undefined> {
  const attempt = attemptsAt(client, block);
  let answering: TraceMethodName | undefined;
  for (const tracer of TRACE_METHODS) {
    const reading = await attempt(traceMethod(client, tracer).ofBlock(block));
    if (reading instanceof UnreadableAnswer) {
      if (!reading.isRefusal) return tracer;
      continue;
    }
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
    return reading()?.every(trace => trace !== null) ?? false;
  } catch (error) {
    if (error instanceof ChainMoved || error instanceof ContradictoryBlock) return true;
    throw error;
  }
}
