import {
  createClient,
  createPublicClient,
  custom,
  type EIP1193RequestFn,
  type PublicClient,
  rpcSchema,
  type Transport,
} from 'viem';
import type { ChainRpcSchema } from '../evm/rpc.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { batchedCalls, type NodeCall } from './transport/batches.ts';
import { WrongChain } from './transport/errors.ts';
import { type NodeLimits, nodeExchange } from './transport/exchange.ts';

/** Raw JSON-RPC with typed methods. */
export type RawRequest = EIP1193RequestFn<ChainRpcSchema>;

/** Sums of one node since the start. */
export interface NodeTraffic {
  readonly calls: number;
  /** Of answers, after decompression. One that was refused as too large counts as the limit. */
  readonly bytes: number;
}

/** Connections to one node. Calls of the same tick share HTTP requests, and each resolves or rejects alone. */
export interface NodeLine {
  readonly request: PublicClient['request'];
  /** The same with the types of `src/evm/rpc.ts`. */
  readonly raw: RawRequest;
  /** Calls to the node and bytes of its answers on this line since the start. */
  traffic(): NodeTraffic;
}

/** One node of a chain. */
export interface ChainNode extends NodeLine {
  /** Host name of its address, without credentials. */
  readonly host: string;
  /** The same without types. */
  readonly call: NodeCall;
  /** Checks the node's chain id until it has matched once. @throws WrongChain when the node serves another chain */
  verify(): Promise<void>;
  /** Number of the newest block, after a check of the chain id. @throws WrongChain, or the error of the node */
  head(signal: AbortSignal): Promise<number>;
  /** Rejects all calls under way with this error, on all lines. */
  abandon(error: Error): void;
  /**
   * Opens another line, whose calls wait for no others and are counted apart. `maxAnswerBytes` is its limit of an answer,
   * if it is below that of the node.
   */
  line(maxAnswerBytes?: number): NodeLine;
}

export interface ChainNodeOptions extends NodeLimits {
  /** Expected EIP-155 chain id. */
  readonly id: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Opens no connection yet. @throws TypeError for an invalid address */
export function chainNode(url: string, options: ChainNodeOptions): ChainNode {
  const { id, clock } = options;
  let underWay = new AbortController();

  function opened(
    limitBytes = options.maxAnswerBytes,
  ): NodeLine & { readonly call: NodeCall; readonly host: string } {
    const maxAnswerBytes = Math.min(limitBytes, options.maxAnswerBytes);
    const exchange = nodeExchange(url, { ...options, maxAnswerBytes });
    const send = batchedCalls({ exchange, maxAnswerBytes, clock });
    let calls = 0;
    const call: NodeCall = (asked, signal) => {
      calls += 1;
      const { signal: abandoned } = underWay;
      return send(asked, signal === undefined ? abandoned : AbortSignal.any([signal, abandoned]));
    };
    const transport = transportOver(call);
    const { request } = createPublicClient({ transport, ccipRead: false });
    const raw = rawRequest(transport);
    return { host: exchange.host, request, raw, call, traffic: () => ({ calls, bytes: exchange.bytes() }) };
  }

  const { host, request, raw, call, traffic } = opened();

  return {
    host,
    request,
    raw,
    call,
    verify: verification(raw, options),
    async head(signal) {
      // The chain id comes first, because a node of another chain is asked for nothing else.
      const chainId = Number(await raw({ method: 'eth_chainId' }, { signal }));
      if (chainId !== id) throw new WrongChain(id, chainId);
      const latest = await raw({ method: 'eth_getBlockByNumber', params: ['latest', false] }, { signal });
      return Number(latest?.number ?? -1);
    },
    abandon(error) {
      underWay.abort(error);
      underWay = new AbortController();
    },
    traffic,
    line: opened,
  };
}

/** viem's transport over a function that sends calls. It repeats nothing, because callers choose the next node. */
export function transportOver(call: NodeCall): Transport {
  const request = (asked: { method: string; params?: unknown }, options?: { signal?: AbortSignal }) =>
    call(asked, options?.signal);
  return custom({ request }, { key: 'node', name: 'Node', retryCount: 0 });
}

export function rawRequest(transport: Transport): RawRequest {
  return createClient({ transport, rpcSchema: rpcSchema<ChainRpcSchema>() }).request;
}

/** Returns a check of a node's chain id that is repeated until it succeeds once. */
export function verification(
  request: RawRequest,
  { id, log }: Pick<ChainNodeOptions, 'id' | 'log'>,
): () => Promise<void> {
  let verified: Promise<void> | undefined;
  async function check(): Promise<void> {
    const actual = Number(await request({ method: 'eth_chainId' }));
    if (actual !== id) throw new WrongChain(id, actual);
    log.debug({ chainId: id }, 'node verified');
  }

  return () => {
    verified ??= check().catch((error: unknown) => {
      verified = undefined;
      throw error;
    });
    return verified;
  };
}
