import { BaseError } from 'viem';
import type { Clock } from '#lib/clock.ts';
import { type Logger, logAndGoOn } from '#lib/logger.ts';
import { type ChainClient, type ChainNode, nodeAnswered, WrongChain } from '#node/client.ts';

export type NodeRequest = ChainNode['request'];

/**
 * The nodes of a chain in order of preference. A failed node costs its timeout once: it is skipped until it answers a
 * probe, and probes run in the background. A node is asked for its chain id with its first request, with the first one
 * after a failure, and when in doubt. Other requests go without it, because a watcher asks only for what may have
 * changed (Decision 141).
 */
export interface NodePool {
  /** Starts a round. All its requests reject with the signal's reason when the signal aborts. */
  begin(signal: AbortSignal): void;
  /**
   * Asks one node, and the next one when it fails. All answers of one call come from the same node, because a node may
   * lack blocks that another one has.
   * @throws WrongChain, or the error of the first node
   */
  ask<T>(questions: (request: NodeRequest) => Promise<T>): Promise<T>;
  /** Makes each node prove its chain again with its next answer. */
  doubt(): void;
  /**
   * Asks the nodes that answered in this round and are in doubt for their chain id.
   * @throws NodeLost when one of them is paused after a failure, WrongChain, or the error of a node
   */
  vouch(): Promise<void>;
  /** Host name of the node that answered last. */
  host(): string | undefined;
}

/** A node failed in the middle of a round. Its earlier answers may be of another chain, so the round starts over. */
export class NodeLost extends Error {
  override readonly name = 'NodeLost';
}

/** First pause of a failed node; doubled by each failed probe. */
const REST_MS = 30_000;
const LONGEST_REST_MS = 5 * 60_000;

interface Node extends ChainNode {
  /** Recent failures. `failedAt` is the time of the last one in UTC milliseconds. */
  outages: number;
  failedAt: number;
  /** End of its pause in UTC milliseconds; undefined while it is in use. */
  restsUntil: number | undefined;
  isProbed: boolean;
  /** False while its chain is in doubt. */
  isVerified: boolean;
  hasAnswered: boolean;
}

export function nodePool(client: ChainClient, { clock, log }: { clock: Clock; log: Logger }): NodePool {
  const nodes = client.nodes.map(
    (node): Node => ({
      ...node,
      outages: 0,
      failedAt: 0,
      restsUntil: undefined,
      isProbed: false,
      isVerified: false,
      hasAnswered: false,
    }),
  );
  let signal = new AbortController().signal;
  let host: string | undefined;

  async function ask<T>(questions: (request: NodeRequest) => Promise<T>): Promise<T> {
    const failures: unknown[] = [];
    for (const node of candidates()) {
      signal.throwIfAborted();
      try {
        const answer = await unlessAborted(signal, verified(node, questions));
        rouse(node);
        node.hasAnswered = true;
        host = node.host;
        return answer;
      } catch (error) {
        signal.throwIfAborted();
        node.isVerified = false;
        // An error in the node's own answer costs no time, so it does not pause the node.
        if (!nodeAnswered(error)) rest(node, error);
        failures.push(error);
      }
    }
    throw failures[0];
  }

  async function verified<T>(node: Node, questions: (request: NodeRequest) => Promise<T>): Promise<T> {
    const { request } = node;
    if (node.isVerified) return questions(request);
    const [chainId, answer] = await Promise.all([request({ method: 'eth_chainId' }), questions(request)]);
    if (Number(chainId) !== client.id) throw new WrongChain(client.id, Number(chainId));
    node.isVerified = true;
    return answer;
  }

  function doubt(): void {
    for (const node of nodes) node.isVerified = false;
  }

  async function vouch(): Promise<void> {
    for (const node of nodes.filter(({ hasAnswered, isVerified }) => hasAnswered && !isVerified)) {
      if (node.restsUntil !== undefined) throw new NodeLost(`The node ${node.host} does not answer.`);
      try {
        await unlessAborted(
          signal,
          verified(node, async () => {}),
        );
      } catch (error) {
        signal.throwIfAborted();
        rest(node, error);
        throw error;
      }
    }
  }

  /** The nodes in use; when all are paused, the one whose pause ends first. */
  function candidates(): readonly Node[] {
    const awake = nodes.filter(({ restsUntil }) => restsUntil === undefined);
    if (awake.length === 0) {
      return nodes.toSorted((a, b) => (a.restsUntil ?? 0) - (b.restsUntil ?? 0)).slice(0, 1);
    }
    for (const node of nodes) {
      const isDue = node.restsUntil !== undefined && node.restsUntil <= clock.now();
      if (isDue && !node.isProbed) probe(node).catch(logAndGoOn(log, 'probing a node'));
    }
    return awake;
  }

  async function probe(node: Node): Promise<void> {
    node.isProbed = true;
    node.isVerified = false;
    try {
      await verified(node, async () => {});
      rouse(node);
    } catch (error) {
      rest(node, error);
    } finally {
      node.isProbed = false;
    }
  }

  function rest(node: Node, error: unknown): void {
    const now = clock.now();
    // The count survives a successful probe: a node may answer it and fail again with the next request.
    if (now - node.failedAt > 2 * LONGEST_REST_MS) node.outages = 0;
    if (node.restsUntil === undefined) {
      log.warn({ chainId: client.id, node: node.host, reason: reasonOf(error) }, 'a node does not answer');
    }
    node.restsUntil = now + Math.min(REST_MS * 2 ** node.outages, LONGEST_REST_MS);
    node.outages += 1;
    node.failedAt = now;
  }

  function rouse(node: Node): void {
    if (node.restsUntil === undefined) return;
    log.info({ chainId: client.id, node: node.host }, 'a node answers again');
    node.restsUntil = undefined;
  }

  return {
    begin(next) {
      signal = next;
      for (const node of nodes) node.hasAnswered = false;
    },
    ask,
    doubt,
    vouch,
    host: () => host,
  };
}

/** Rejects with the signal's reason as soon as it aborts. The work continues to its own deadline and is ignored. */
async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Text of an error without the node's address, which may contain a provider's key. */
function reasonOf(error: unknown): string {
  return error instanceof BaseError ? error.shortMessage : String(error);
}
