import { BaseError } from 'viem';
import { nodeAnswered } from '../../chain/answered.ts';
import { type ChainClient, type ChainNode, WrongChain } from '../../chain/client.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Logger, logAndGoOn } from '../../lib/logger.ts';

export type NodeRequest = ChainNode['request'];

/**
 * The nodes of a chain in order of preference. A node that is out costs its timeout once: it is left out until it
 * answers a probe, which delays no question.
 */
export interface NodePool {
  /** Makes every question from now on end with the signal's reason when it aborts. */
  begin(signal: AbortSignal): void;
  /**
   * Asks one node, and the next one when that fails. Answers of different nodes do not go together: one may lack the
   * blocks that another one shows.
   * @throws WrongChain, or whatever kept the first node from answering
   */
  ask<T>(questions: (request: NodeRequest) => Promise<T>): Promise<T>;
  /** Host name of the node that answered last. */
  host(): string | undefined;
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
}

export function nodePool(client: ChainClient, { clock, log }: { clock: Clock; log: Logger }): NodePool {
  const nodes = client.nodes.map(
    (node): Node => ({ ...node, outages: 0, failedAt: 0, restsUntil: undefined, isProbed: false }),
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
        host = node.host;
        return answer;
      } catch (error) {
        signal.throwIfAborted();
        // An error that the node itself answers with costs no time.
        if (!nodeAnswered(error)) rest(node, error);
        failures.push(error);
      }
    }
    throw failures[0];
  }

  /** The chain's id is asked for together with the questions, so that no answer of another chain is ever used. */
  async function verified<T>({ request }: Node, questions: (request: NodeRequest) => Promise<T>): Promise<T> {
    const [chainId, answer] = await Promise.all([request({ method: 'eth_chainId' }), questions(request)]);
    if (Number(chainId) !== client.id) throw new WrongChain(client.id, Number(chainId));
    return answer;
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
    },
    ask,
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
