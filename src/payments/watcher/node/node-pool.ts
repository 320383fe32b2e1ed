import type { ChainNode, NodeLine, NodeTraffic } from '#node/chain-node.ts';
import { type ChainClient, nodeAnswered } from '#node/client.ts';
import { WrongChain } from '#node/transport/errors.ts';

export type NodeRequest = ChainNode['request'];

/** A node as it is asked for what only some nodes have. */
export interface RawNode extends Pick<ChainNode, 'raw'> {
  /** The node on any line. */
  readonly node: ChainNode;
}

/**
 * The nodes of a chain in the order of their ranks, within the budget of a look. A node is asked for its chain id with its first request, with the first one
 * after a failure, and when in doubt. Other requests go without it, because a watcher asks only for what may have
 * changed (Decision 141).
 */
export interface NodePool {
  /** Starts a look. All its requests reject with the signal's reason when the signal aborts. */
  begin(signal: AbortSignal): void;
  /**
   * Asks one node, and the next one when it fails. All answers of one call come from the same node, because a node may
   * lack blocks that another one has.
   * @throws WrongChain, LookSpent, or the error of the first node
   */
  ask<T>(questions: Questions<T>): Promise<T>;
  /** The nodes in use, each asked alone, in the order in which `ask` asks them. */
  each(): readonly Pick<NodePool, 'ask'>[];
  /** Calls and bytes of all nodes since the start. They grow as long as a look moves. */
  traffic(): NodeTraffic;
  /** True when the look has used up its calls or bytes, so that `ask` fails. `verify` goes on. */
  isSpent(): boolean;
  /** Makes each node prove its chain again with its next answer. */
  unverify(): void;
  /**
   * Asks the nodes that answered in this look and are in doubt for their chain id.
   * @throws NodeLost when one of them is paused after a failure, WrongChain, or the error of a node
   */
  verify(): Promise<void>;
  /** Host name of the node that answered last. */
  host(): string | undefined;
}

/** Requests to one node. */
type Questions<T> = (request: NodeRequest, node: RawNode) => Promise<T>;

/** A node failed in the middle of a look. Its earlier answers may be of another chain, so the look starts over. */
export class NodeLost extends Error {
  override readonly name = 'NodeLost';
}

/** The look has used up its calls or bytes. What is left is for the next look. */
export class LookSpent extends Error {
  override readonly name = 'LookSpent';
}

/** State of a node in a look. */
interface PooledNode {
  readonly line: NodeLine;
  /** False while its chain is in doubt. */
  isVerified: boolean;
  hasAnswered: boolean;
}

/** Most calls and bytes of a pool in one look, of all nodes of the chain. */
const CALLS_PER_LOOK = 20_000;
const BYTES_PER_LOOK = 512 * 2 ** 20;

interface NodePoolOptions {
  /** True for connections of its own, so that the pool waits for no calls of other pools. */
  readonly isApart?: boolean;
  /** Longest answer on these connections; that of the nodes when absent. */
  readonly maxAnswerBytes?: number | undefined;
}

export function nodePool(
  { id, nodes, ranks }: Pick<ChainClient, 'id' | 'nodes' | 'ranks'>,
  { isApart = false, maxAnswerBytes }: NodePoolOptions = {},
): NodePool {
  const standings = new Map(
    nodes.map((node): [ChainNode, PooledNode] => [
      node,
      { line: isApart ? node.line(maxAnswerBytes) : node, isVerified: false, hasAnswered: false },
    ]),
  );
  let signal = new AbortController().signal;
  let host: string | undefined;
  let begun = traffic();

  function traffic(): NodeTraffic {
    const all = [...standings.values()].map(({ line }) => line.traffic());
    return {
      calls: all.reduce((sum, { calls }) => sum + calls, 0),
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    };
  }

  function isSpent(): boolean {
    const { calls, bytes } = traffic();
    return calls - begun.calls >= CALLS_PER_LOOK || bytes - begun.bytes >= BYTES_PER_LOOK;
  }

  async function ask<T>(questions: Questions<T>): Promise<T> {
    refuseSpent();
    const failures: unknown[] = [];
    for (const node of ranks.inTurn()) {
      signal.throwIfAborted();
      try {
        return await askOne(node, questions);
      } catch (error) {
        signal.throwIfAborted();
        failures.push(error);
      }
    }
    throw failures[0];
  }

  /** Before the ranks: they ask all nodes for their heads when a node is chosen. */
  function refuseSpent(): void {
    signal.throwIfAborted();
    if (isSpent()) throw new LookSpent('The look has used up its calls and bytes.');
  }

  async function askOne<T>(node: ChainNode, questions: Questions<T>): Promise<T> {
    try {
      const answer = await unlessAborted(signal, verified(node, questions));
      ranks.answered(node);
      standingOf(node).hasAnswered = true;
      host = node.host;
      return answer;
    } catch (error) {
      signal.throwIfAborted();
      standingOf(node).isVerified = false;
      // An error in the node's own answer costs no time, so it does not pause the node.
      if (!nodeAnswered(error)) ranks.failed(node, error);
      throw error;
    }
  }

  function standingOf(node: ChainNode): PooledNode {
    const known = standings.get(node);
    if (known === undefined) throw new TypeError('The node is not of this chain.');
    return known;
  }

  async function verified<T>(node: ChainNode, questions: Questions<T>): Promise<T> {
    const standing = standingOf(node);
    const { request, raw } = standing.line;
    const asked = () => questions(request, { node, raw });
    if (standing.isVerified) return asked();
    const [chainId, answer] = await Promise.all([request({ method: 'eth_chainId' }), asked()]);
    if (Number(chainId) !== id) throw new WrongChain(id, Number(chainId));
    standing.isVerified = true;
    return answer;
  }

  return {
    begin(next) {
      signal = next;
      begun = traffic();
      for (const standing of standings.values()) standing.hasAnswered = false;
    },
    ask,
    each: () =>
      [...ranks.inTurn()].map(node => ({
        async ask(questions) {
          refuseSpent();
          return askOne(node, questions);
        },
      })),
    traffic,
    isSpent,
    unverify() {
      for (const standing of standings.values()) standing.isVerified = false;
    },
    async verify() {
      const unverified = nodes.filter(node => {
        const { hasAnswered, isVerified } = standingOf(node);
        return hasAnswered && !isVerified;
      });
      for (const node of unverified) {
        if (ranks.isPaused(node)) throw new NodeLost(`The node ${node.host} does not answer.`);
        try {
          await unlessAborted(
            signal,
            verified(node, async () => {}),
          );
        } catch (error) {
          signal.throwIfAborted();
          ranks.failed(node, error);
          throw error;
        }
      }
    },
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
