import type { Clock } from '#lib/clock.ts';
import { type Logger, logAndGoOn } from '#lib/logger.ts';
import { AnswerTooLarge, NodeFailure } from './transport/errors.ts';

/** A node as far as its rank is concerned. */
export interface RankedNode {
  readonly host: string;
  /** Number of the newest block. @throws NodeFailure, or WrongChain */
  head(signal: AbortSignal): Promise<number>;
  /** Rejects all calls under way, so that another node is asked. */
  abandon(error: Error): void;
}

/**
 * Order in which the nodes of a chain are asked: first those that are well, in the order of the configuration.
 *
 * A node that fails is paused, and one that is behind the others is asked last (Decision 306 has the times). One that
 * contradicted its chain is asked when no other one is left (Decision 380). One node alone is always asked.
 */
export interface NodeRanks<Node extends RankedNode> {
  /** The nodes to ask, one after another. Paused ones come last, and only when all others were paused meanwhile. */
  inTurn(): Iterable<Node>;
  /** Ends the pause of a node, because it answered. */
  answered(node: Node): void;
  /** Pauses a node after a failure of the node itself. Other errors change nothing. */
  failed(node: Node, error: unknown): void;
  /** True while the node is paused. */
  isPaused(node: Node): boolean;
}

/** First pause of a failed node; doubled by each failed probe. */
const REST_MS = 30_000;
const LONGEST_REST_MS = 5 * 60_000;
const LONGEST_RETRY_AFTER_MS = 60 * 60_000;
/** Least time between two comparisons of heads. */
const COMPARE_EVERY_MS = 5_000;
/** Time for a node to name its head while another one does. */
const HEAD_WITHIN_MS = 3_000;
/** A node may have a block this much later than another one. */
const HEAD_ALLOWANCE_MS = 5_000;

interface NodeStanding<Node> {
  readonly node: Node;
  /** Position in the configuration. */
  readonly position: number;
  /** Recent failures. `failedAt` is the time of the last one in UTC milliseconds. */
  outages: number;
  failedAt: number;
  /** End of its pause in UTC milliseconds; undefined while it is in use. */
  restsUntil: number | undefined;
  isProbed: boolean;
  isBehind: boolean;
  /** Newest block that it named; undefined until it did. */
  head: number | undefined;
}

interface NodeRanksOptions {
  readonly chainId: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** True for the position of a node that contradicted its chain; always false when absent. */
  readonly isLeftOut?: (position: number) => boolean;
}

export function nodeRanks<Node extends RankedNode>(
  nodes: readonly Node[],
  { chainId, clock, log, isLeftOut = () => false }: NodeRanksOptions,
): NodeRanks<Node> {
  const standings = nodes.map(
    (node, position): NodeStanding<Node> => ({
      node,
      position,
      outages: 0,
      failedAt: 0,
      restsUntil: undefined,
      isProbed: false,
      isBehind: false,
      head: undefined,
    }),
  );
  const byNode = new Map(standings.map(one => [one.node, one]));
  /** Heads that the others were compared with, oldest first, with the time at which they were first seen. */
  let seen: { readonly head: number; readonly at: number }[] = [];
  let comparedAt = Number.NEGATIVE_INFINITY;

  function failed(one: NodeStanding<Node>, error: unknown): void {
    if (error instanceof AnswerTooLarge) return;
    const now = clock.now();
    // The count survives a successful probe: a node may answer it and fail again with the next request.
    if (now - one.failedAt > 2 * LONGEST_REST_MS) one.outages = 0;
    if (one.restsUntil === undefined) {
      log.warn({ chainId, node: one.node.host, reason: reasonOf(error) }, 'a node does not answer');
    }
    const asked = error instanceof NodeFailure ? error.retryAfterMs : undefined;
    const restMs = Math.min(REST_MS * 2 ** one.outages, LONGEST_REST_MS);
    one.restsUntil = now + Math.min(Math.max(asked ?? 0, restMs), LONGEST_RETRY_AFTER_MS);
    one.outages += 1;
    one.failedAt = now;
  }

  function answered(one: NodeStanding<Node>): void {
    if (one.restsUntil === undefined) return;
    log.info({ chainId, node: one.node.host }, 'a node answers again');
    one.restsUntil = undefined;
  }

  async function probe(one: NodeStanding<Node>): Promise<void> {
    one.isProbed = true;
    try {
      await one.node.head(AbortSignal.timeout(HEAD_WITHIN_MS));
      answered(one);
    } catch (error) {
      failed(one, error);
    } finally {
      one.isProbed = false;
    }
  }

  /** Reads the heads of all nodes in use. A node that does not answer while another one does is left at once. */
  async function compare(used: readonly NodeStanding<Node>[]): Promise<void> {
    const signal = AbortSignal.timeout(HEAD_WITHIN_MS);
    const heads = await Promise.allSettled(used.map(one => one.node.head(signal)));
    const hasAnswer = heads.some(({ status }) => status === 'fulfilled');
    for (const [index, one] of used.entries()) {
      const result = heads[index];
      if (result?.status === 'fulfilled') {
        one.head = result.value;
      } else if (hasAnswer) {
        one.head = undefined;
        failed(one, result?.reason);
        one.node.abandon(new NodeFailure({ host: one.node.host, fault: 'timeout', cause: result?.reason }));
      }
    }
    judge(used);
  }

  function judge(used: readonly NodeStanding<Node>[]): void {
    const now = clock.now();
    const heads = used.flatMap(one => one.head ?? []).sort((a, b) => b - a);
    // Among three and more nodes, a single one that is far ahead of all others is not believed.
    const newest = heads.length > 2 ? heads[1] : heads[0];
    if (newest === undefined) return;
    if (newest > (seen.at(-1)?.head ?? -1)) seen.push({ head: newest, at: now });
    // The chain was reset, so all nodes are behind what was seen.
    if (heads[0] !== undefined && heads[0] < (seen.at(0)?.head ?? 0)) seen = [{ head: newest, at: now }];
    const known = seen.findLast(({ at }) => now - at >= HEAD_ALLOWANCE_MS);
    if (known !== undefined) seen = seen.slice(seen.indexOf(known));
    for (const one of used) {
      const isBehind = known !== undefined && one.head !== undefined && one.head < known.head;
      if (isBehind !== one.isBehind) {
        const facts = { chainId, node: one.node.host, head: one.head, newest };
        if (isBehind) log.warn(facts, 'a node is behind the others and is asked last');
        else log.info(facts, 'a node has caught up');
      }
      one.isBehind = isBehind;
    }
  }

  function candidates(): readonly Node[] {
    const awake = standings.filter(one => one.restsUntil === undefined && !isLeftOut(one.position));
    if (standings.length > 1) {
      if (awake.length > 1 && Math.abs(clock.now() - comparedAt) >= COMPARE_EVERY_MS) {
        comparedAt = clock.now();
        compare(awake).catch(logAndGoOn(log, 'comparing the heads of nodes'));
      }
      const due = standings.filter(one => one.restsUntil !== undefined && one.restsUntil <= clock.now());
      if (awake.length > 0) for (const one of due) if (!one.isProbed) void probe(one);
    }
    // All are paused or left out, so they are asked all the same.
    if (awake.length === 0)
      return inOrder(standings, ({ position, restsUntil = 0 }) =>
        isLeftOut(position) ? Number.MAX_VALUE : restsUntil,
      );
    return inOrder(awake, ({ isBehind }) => Number(isBehind));
  }

  function* inTurn(): Generator<Node> {
    const asked = new Set<Node>();
    for (;;) {
      const next = candidates().find(node => !asked.has(node));
      if (next === undefined) return;
      asked.add(next);
      yield next;
    }
  }

  const withStanding = (change: (one: NodeStanding<Node>) => void) => (node: Node) => {
    const one = byNode.get(node);
    if (one !== undefined) change(one);
  };

  return {
    inTurn,
    answered: withStanding(answered),
    failed: (node, error) => withStanding(one => failed(one, error))(node),
    isPaused: node => byNode.get(node)?.restsUntil !== undefined,
  };
}

function inOrder<Node>(
  standings: readonly NodeStanding<Node>[],
  by: (one: NodeStanding<Node>) => number,
): Node[] {
  return standings.toSorted((a, b) => by(a) - by(b)).map(({ node }) => node);
}

/** Text of an error without the node's address, which may contain a provider's key. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
