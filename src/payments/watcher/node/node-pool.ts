import { BaseError } from 'viem';
import type { Clock } from '#lib/clock.ts';
import { type Logger, logAndGoOn } from '#lib/logger.ts';
import { type ChainClient, type ChainNode, nodeAnswered, WrongChain } from '#node/client.ts';

export type NodeRequest = ChainNode['request'];

/**
 * The nodes of a chain in order of preference. A node that is out costs its timeout once: it is left out until it
 * answers a probe, which delays no question. A node is asked for its chain's id together with its first question, with
 * the first one after a failure, and whenever there is doubt. Decision 141.
 */
export interface NodePool {
  /** Starts a round: every question of it ends with the signal's reason when that aborts. */
  begin(signal: AbortSignal): void;
  /**
   * Asks one node, and the next one when that fails. Answers of different nodes do not go together: one may lack the
   * blocks that another one shows.
   * @throws WrongChain, or whatever kept the first node from answering
   */
  ask<T>(questions: (request: NodeRequest) => Promise<T>): Promise<T>;
  /** Makes each node prove its chain again before another answer of it is used. */
  doubt(): void;
  /**
   * Asks the nodes that answered in this round, and are in doubt, for their chain's id.
   * @throws NodeLost when one of them cannot vouch for what it said, and WrongChain
   */
  vouch(): Promise<void>;
  /** Host name of the node that answered last. */
  host(): string | undefined;
}

/** A node went out in the middle of a round: what it said before may be of another chain, so the round starts again. */
export class NodeLost extends Error {
  override readonly name = 'NodeLost';
}

/** First pause of a node that is out; doubled by each probe that fails. */
const REST_MS = 30_000;
const LONGEST_REST_MS = 5 * 60_000;

interface Node extends ChainNode {
  /** Outages of late; the last one in UTC milliseconds. */
  outages: number;
  failedAt: number;
  /** End of its pause in UTC milliseconds; undefined while it is asked. */
  restsUntil: number | undefined;
  isProbed: boolean;
  /** False while it is in doubt that it is of this chain. */
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
        // An error that the node itself answers with costs no time.
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
      if (node.restsUntil !== undefined) throw new NodeLost(`The node ${node.host} is out.`);
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

  /** Without a node that is in order, the one that has rested longest. */
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
    // A node may answer a probe and be out again with the next question.
    if (now - node.failedAt > 2 * LONGEST_REST_MS) node.outages = 0;
    if (node.restsUntil === undefined) {
      log.warn({ chainId: client.id, node: node.host, reason: reasonOf(error) }, 'a node is out');
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

/** Rejects with the signal's reason as soon as it aborts; the work goes on unheard, up to its own deadline. */
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

/** Without the address, which may hold a provider's key. */
function reasonOf(error: unknown): string {
  return error instanceof BaseError ? error.shortMessage : String(error);
}
