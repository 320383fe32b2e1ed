import { setTimeout as delay } from 'node:timers/promises';
import { BaseError, createPublicClient, LimitExceededRpcError, type PublicClient, shouldThrow } from 'viem';
import { type Clock, systemClock } from '../lib/clock.ts';
import {
  type ChainNode,
  type ChainNodeOptions,
  chainNode,
  type RawRequest,
  rawRequest,
  transportOver,
  verification,
} from './chain-node.ts';
import { type Contradictions, contradictionsOf } from './contradictions.ts';
import { type NodeRanks, nodeRanks } from './node-ranks.ts';
import type { NodeCall } from './transport/batches.ts';
import { AnswerTooLarge, NodeFailure, WrongChain } from './transport/errors.ts';

/** Longest answer of a node by default. The receipt of a transaction that fills a block has about 20 MB. */
const MAX_ANSWER_BYTES = 64 * 2 ** 20;

interface ChainClientOptions extends Omit<ChainNodeOptions, 'clock' | 'maxAnswerBytes'> {
  /** The system's when absent. */
  readonly clock?: Clock;
  /** Most bytes of one answer; 64 MiB when absent. */
  readonly maxAnswerBytes?: number | undefined;
  /** Those of another client of the same nodes; none at first when absent. */
  readonly contradictions?: Contradictions;
  /** In order of preference. Later nodes are asked only when earlier ones fail or are behind. */
  readonly rpcUrls: readonly string[];
}

/** Client of one chain, with one node or several as fallbacks. */
export interface ChainClient {
  id: number;
  /** viem's actions, for decoded values. They request no address that a contract names (EIP-3668). */
  public: PublicClient;
  /** Each node separately, in order of preference. Used when related answers must come from the same node. */
  nodes: readonly ChainNode[];
  /** The order in which the nodes are asked now. */
  ranks: NodeRanks<ChainNode>;
  /** Nodes that contradicted the chain, which are asked last for a while. Shared with the clients `aside`. */
  contradictions: Contradictions;
  /**
   * Raw JSON-RPC with typed methods, answered by the first node that can. Calls of the same tick share HTTP requests,
   * and each resolves or rejects alone.
   * @throws AnswerTooLarge, NodeFailure, WrongChain, or the error that a node answered with
   */
  request: RawRequest;
  /** Checks the node's chain id until it has matched once. @throws WrongChain when the node serves another chain */
  verify(): Promise<void>;
  /** Creates a client of the same nodes on connections of its own: calls of one never wait for those of the other. */
  aside(): ChainClient;
}

/** Creates the client of one chain. Opens no connection yet. */
export function createChainClient(options: ChainClientOptions): ChainClient {
  const { id, rpcUrls, clock = systemClock, maxAnswerBytes = MAX_ANSWER_BYTES, log } = options;
  const nodes = rpcUrls.map(url => chainNode(url, { ...options, clock, maxAnswerBytes }));
  const [only] = nodes;
  if (only === undefined) throw new Error(`Chain ${id} has no RPC address.`);
  const { contradictions = contradictionsOf({ chainId: id, clock, log }) } = options;
  const ranks = nodeRanks(nodes, { chainId: id, clock, log, isLeftOut: contradictions.isLeftOut });
  const transport = transportOver(nodes.length === 1 ? retrying(only) : falling(ranks));
  const request = rawRequest(transport);

  return {
    id,
    public: createPublicClient({ transport, ccipRead: false }),
    nodes,
    ranks,
    contradictions,
    request,
    verify: nodes.length === 1 ? only.verify : verification(request, { id, log }),
    aside: () => createChainClient({ ...options, contradictions }),
  };
}

/** Pause before the only node of a chain is asked again. */
const RETRY_MS = 100;

/** Calls of the only node of a chain, repeated once after a failure that took no time. */
function retrying({ call }: ChainNode): NodeCall {
  return async (asked, signal) => {
    try {
      return await call(asked, signal);
    } catch (error) {
      if (!(error instanceof NodeFailure) || error.fault === 'timeout') throw error;
    }
    await delay(RETRY_MS, undefined, signal === undefined ? {} : { signal });
    return call(asked, signal);
  };
}

/**
 * Calls that are answered by the first node that can. Each node proves its chain before its first answer is used.
 * Otherwise a fallback node of another chain would replace the blocks of an index during an outage of the first node.
 */
function falling(ranks: NodeRanks<ChainNode>): NodeCall {
  return async (asked, signal) => {
    let failure: unknown;
    for (const node of ranks.inTurn()) {
      try {
        await node.verify();
        const result = await node.call(asked, signal);
        ranks.answered(node);
        return result;
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof Error && shouldThrow(error)) throw error;
        if (!nodeAnswered(error)) ranks.failed(node, error);
        // A node of another chain is a mistake of the configuration, which the operator has to see.
        if (!(failure instanceof WrongChain)) failure = error;
      }
    }
    throw failure;
  };
}

/**
 * True when the node itself answered with an error (no such method, execution reverted, state pruned), so a retry will
 * not help. False when the node was unreachable, timed out, limited the rate, serves another chain, or when its answer
 * was too large.
 */
export function nodeAnswered(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false;
  const passing = error.walk(
    cause =>
      cause instanceof NodeFailure ||
      cause instanceof AnswerTooLarge ||
      cause instanceof LimitExceededRpcError ||
      cause instanceof WrongChain,
  );
  return passing === null;
}

export function isTooLarge(error: unknown): boolean {
  return error instanceof BaseError && error.walk(cause => cause instanceof AnswerTooLarge) !== null;
}

/** True for an answer that is too large, and for any refusal: nodes refuse wide ranges with all kinds of errors. */
export function isTooMuch(error: unknown): boolean {
  return isTooLarge(error) || error instanceof LimitExceededRpcError || nodeAnswered(error);
}

/** Reason of a node's failure, in a sentence. viem's own messages repeat the request. */
export function nodeReason(error: BaseError): string {
  let innermost = error;
  error.walk(cause => {
    if (cause instanceof BaseError) innermost = cause;
    return false;
  });
  return innermost.shortMessage;
}

/** Handler for `catch` that returns null when the node itself answered with an error. @throws any other failure */
export function nullIfAnswered(error: unknown): null {
  if (nodeAnswered(error)) return null;
  throw error;
}

/** Like `nullIfAnswered`, and returns null also when the answer is too large to be read. @throws any other failure */
export function nullIfNotGiven(error: unknown): null {
  return error instanceof AnswerTooLarge ? null : nullIfAnswered(error);
}
