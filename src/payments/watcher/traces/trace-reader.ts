import { setImmediate } from 'node:timers/promises';
import { BaseError, type Hash, numberToHex } from 'viem';
import { lowerCase } from '#evm/address.ts';
import { type CoinMovement, coinMovements } from '#evm/coin-movements.ts';
import type { Clock } from '#lib/clock.ts';
import { type BlockRef, ChainMoved } from '#node/block-ref.ts';
import { nodeAnswered } from '#node/client.ts';
import { type TraceMethod, type TraceMethodName, traceMethod } from '#node/trace-methods.ts';
import type { RawNode } from '../node/node-pool.ts';
import type { BlockOutline, NodeReads } from '../node/node-view.ts';

/** Reads by the method that a node has which coins contracts sent. */
export interface TraceReader {
  /**
   * Movements of the transactions of a block, null for one that the node could not trace.
   * @throws NoTraceMethod, ChainMoved, or the error of a node
   */
  ofBlock(block: BlockOutline, view: NodeReads): Promise<readonly (readonly CoinMovement[] | null)[]>;
  /** Movements of one transaction of a block. @throws as `ofBlock` does */
  ofTransaction(hash: string, block: BlockOutline, view: NodeReads): Promise<readonly CoinMovement[]>;
  /** The method that answered last; null when no node has one, undefined when none was asked yet. */
  method(): TraceMethodName | null | undefined;
}

/** A node has refused the traces of a block by each method. */
class TracesRefused extends BaseError {
  override readonly name = 'TracesRefused';
  /** True when it knows none of the methods. */
  readonly isUnknown: boolean;

  constructor(text: string, { cause, isUnknown }: { cause: Error | undefined; isUnknown: boolean }) {
    super(text, cause === undefined ? {} : { cause });
    this.isUnknown = isUnknown;
  }
}

/** No node of the chain has a trace method. */
export class NoTraceMethod extends BaseError {
  override readonly name = 'NoTraceMethod';
  /** Time from which the node is asked again, in UTC milliseconds. */
  readonly until: number;

  constructor(host: string, { cause, until }: { cause?: Error; until: number }) {
    super(`${host} has no trace method.`, cause === undefined ? {} : { cause });
    this.until = until;
  }
}

/** Time after which a node is asked again that knows none of the methods. */
const LACKING_MS = 10 * 60_000;
/** Blocks in a row of which a node refuses the traces, after which it counts as a node without a trace method. */
const REFUSED_BLOCKS = 3;
/** Time after which it is asked again. Shorter, because anyone can fill blocks that no node traces. */
const REFUSING_MS = 60_000;

/** Traces that are read in one turn of the event loop. */
const TRACES_PER_TURN = 100;

/** Experience with one node. */
interface TracingNode {
  /** Undefined until it has answered. */
  method: TraceMethodName | undefined;
  /** Blocks of which it has refused the traces since it last answered. */
  readonly refused: Set<number>;
  /** Time in UTC milliseconds up to which it is not asked. */
  lackingUntil: number;
}

/**
 * Asks nodes by these methods and remembers the one of each. A node that refuses one method may have another one.
 */
export function traceReader({
  clock,
  methods,
}: {
  clock: Clock;
  methods: readonly TraceMethodName[];
}): TraceReader {
  const known = new Map<RawNode['node'], TracingNode>();
  let last: TraceMethodName | null | undefined;

  function experienceWith({ node }: RawNode): TracingNode {
    const experience = known.get(node) ?? { method: undefined, refused: new Set(), lackingUntil: 0 };
    known.set(node, experience);
    return experience;
  }

  /** Asks one node by each method, the known one first. */
  async function byOne<T>(asked: RawNode, block: BlockRef, ask: Asking<T>): Promise<T> {
    const { host } = asked.node;
    const node = experienceWith(asked);
    if (clock.now() < node.lackingUntil) throw new NoTraceMethod(host, { until: node.lackingUntil });
    const refusals: Error[] = [];
    for (const name of methodsFrom(node.method, methods)) {
      try {
        const found = await ask(traceMethod({ request: asked.raw }, name));
        if (found === null) throw new BaseError(`${host} has no traces of block ${block.number}.`);
        if (name === 'debug_traceBlockByNumber') await assertOnChain(asked.raw, block);
        node.method = name;
        node.refused.clear();
        last = name;
        return found;
      } catch (error) {
        if (!(error instanceof Error) || !isRefusal(error)) throw error;
        refusals.push(error);
      }
    }
    const [cause] = refusals;
    throw new TracesRefused(`${host} refuses the traces of block ${block.number}.`, {
      cause,
      isUnknown: refusals.every(isUnknownMethod),
    });
  }

  /** The error of a node that has refused a whole block, which is remembered. */
  function refused(asked: RawNode, { number }: BlockRef, error: TracesRefused): Error {
    const node = experienceWith(asked);
    node.refused.add(number);
    if (!error.isUnknown && node.refused.size < REFUSED_BLOCKS) return error;
    const until = clock.now() + (error.isUnknown ? LACKING_MS : REFUSING_MS);
    known.set(asked.node, { method: undefined, refused: new Set(), lackingUntil: until });
    return new NoTraceMethod(asked.node.host, { cause: error, until });
  }

  async function read<T>(
    { block, view, isWhole }: { block: BlockRef; view: NodeReads; isWhole: boolean },
    ask: Asking<T>,
  ): Promise<T> {
    const errors: unknown[] = [];
    try {
      return await view.askRaw(async node => {
        try {
          return await byOne(node, block, ask);
        } catch (caught) {
          const isRefused = isWhole && caught instanceof TracesRefused;
          const error = isRefused ? refused(node, block, caught) : caught;
          errors.push(error);
          throw error;
        }
      });
    } catch (error) {
      const isLacking = errors.length > 0 && errors.every(one => one instanceof NoTraceMethod);
      if (isLacking) last = null;
      throw errors.find(one => !(one instanceof NoTraceMethod)) ?? error;
    }
  }

  return {
    ofBlock(outline, view) {
      const block = blockRefOf(outline);
      return read({ block, view, isWhole: true }, async method => {
        const traces = (await method.ofBlock(block))?.() ?? null;
        // A node that fails to trace each transaction may trace them by another method.
        if (traces === null || (traces.length > 0 && traces.every(trace => trace === null))) return null;
        const moved: (readonly CoinMovement[] | null)[] = [];
        for (const [index, trace] of traces.entries()) {
          if (index > 0 && index % TRACES_PER_TURN === 0) await setImmediate();
          moved.push(trace === null ? null : coinMovements(trace));
        }
        return moved;
      });
    },
    ofTransaction(hash, outline, view) {
      const block = blockRefOf(outline);
      return read({ block, view, isWhole: false }, async method => {
        const trace = await method.ofTransaction(block, lowerCase(hash));
        return trace === null ? null : coinMovements(trace);
      });
    },
    method: () => last,
  };
}

type Asking<T> = (method: TraceMethod) => Promise<T | null>;

function methodsFrom(
  first: TraceMethodName | undefined,
  methods: readonly TraceMethodName[],
): readonly TraceMethodName[] {
  return first === undefined ? methods : [first, ...methods.filter(name => name !== first)];
}

function blockRefOf({ number, hash, hashes }: BlockOutline): BlockRef {
  return { number, hash: lowerCase(hash), transactions: hashes.map((one): Hash => lowerCase(one)) };
}

/** Traces by number say nothing about the block that they are of. */
async function assertOnChain(request: RawNode['raw'], { number, hash }: BlockRef): Promise<void> {
  const shown = await request({ method: 'eth_getBlockByNumber', params: [numberToHex(number), false] });
  if (shown?.hash?.toLowerCase() !== hash) throw new ChainMoved(number);
}

/** Error code of an unknown method. Source: JSON-RPC 2.0, section 5.1. */
const METHOD_NOT_FOUND = -32_601;

function isUnknownMethod(error: unknown): boolean {
  const has = (cause: unknown) =>
    cause instanceof Error && 'code' in cause && cause.code === METHOD_NOT_FOUND;
  return error instanceof BaseError && error.walk(has) !== null;
}

/** True when the node has answered, with an error or with something that is no trace of the block. */
function isRefusal(error: Error): boolean {
  return error instanceof BaseError ? nodeAnswered(error) : !(error instanceof ChainMoved);
}
