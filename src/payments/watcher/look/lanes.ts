import { BaseError } from 'viem';
import type { Clock } from '#lib/clock.ts';
import { type Logger, logAndGoOn } from '#lib/logger.ts';
import type { ChainClient } from '#node/client.ts';
import { WrongChain } from '#node/transport/errors.ts';
import { LookSpent, NodeLost, type NodePool, nodePool } from '../node/node-pool.ts';
import { nodeView } from '../node/node-view.ts';
import { type LeaderTransaction, type Look, verifiedBy } from './look.ts';

/** Kind of work in a look that waits for no other kind. */
export type LaneName =
  | 'claims'
  | 'reports'
  | 'unmatched'
  | 'reorgs'
  | 'refunds'
  | 'sentRefunds'
  | 'blocks'
  | 'coins'
  | 'secondNode'
  | 'proofs'
  | 'laterProofs'
  | 'traces'
  | 'tracePieces'
  | 'deposits';

/** Result of some work. */
export interface LaneResult {
  readonly changes: number;
  /** True when transfers counted as settled have to be matched again. */
  readonly isMoved: boolean;
}

export const NOTHING_DONE: LaneResult = { changes: 0, isMoved: false };

type LaneWork = (look: Look) => Promise<LaneResult>;

/** Work of a look by the name of its lane. */
export type LaneWorks = Readonly<Partial<Record<LaneName, LaneWork>>>;

interface LanesDeps {
  readonly client: ChainClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly effect: LeaderTransaction;
}

/** Time for which a look waits for the lanes that it starts. */
const WAIT_MS = 250;
/** Longest answer with traces. Those of a full block of Ethereum have 2 to 10 MB. */
const TRACES_BYTES = 32 * 2 ** 20;

/**
 * Work after the scan and the completions of a look. Each lane asks the nodes on its own, so that a failure or a slow
 * answer is its own. A lane that takes long goes on in the background: no other work and no further look waits for it,
 * and it is not started again before it has ended.
 */
export function lanes({ client, clock, log, effect }: LanesDeps) {
  const pools = new Map<LaneName, NodePool>();
  const running = new Map<LaneName, Promise<void>>();
  let ending = new AbortController();
  let found: LaneResult[] = [];
  let failures: unknown[] = [];

  function poolOf(name: LaneName): NodePool {
    const isTracing = name === 'traces' || name === 'tracePieces';
    const pool = pools.get(name) ?? (isTracing ? tracingPool(client) : nodePool(client, { isApart: true }));
    pools.set(name, pool);
    return pool;
  }

  async function work(name: LaneName, look: Look, run: LaneWork): Promise<void> {
    const { signal } = ending;
    const pool = poolOf(name);
    pool.begin(signal);
    try {
      found.push(await run({ ...look, view: nodeView(pool), effect: verifiedBy(pool, effect) }));
    } catch (error) {
      if (signal.aborted) return;
      log.info({ chainId: client.id, lane: name, err: error }, 'a part of a look failed and is repeated');
      if (!isOfNode(error)) failures.push(error);
    }
  }

  function start(name: LaneName, look: Look, run: LaneWork | undefined): Promise<void>[] {
    if (run === undefined || running.has(name)) return [];
    const ended = work(name, look, run).finally(() => running.delete(name));
    running.set(name, ended);
    return [ended];
  }

  /** Resolves when these have ended, or when they take long. */
  async function wait(started: readonly Promise<void>[]): Promise<void> {
    const waiting = new AbortController();
    const all = Promise.all(started).finally(() => waiting.abort());
    await Promise.race([all, clock.sleep(WAIT_MS, waiting.signal).catch(() => {})]);
  }

  return {
    /**
     * Starts the lanes that are not under way, and waits for them as long as they do not take long. Returns what has been
     * done since the last call. `isOver` is false while a lane is under way.
     * @throws WrongChain, LeadershipLost, or an error of the database, also one since the last call
     */
    async run(look: Look, works: LaneWorks): Promise<LaneResult & { readonly isOver: boolean }> {
      await wait([
        ...start('claims', look, works.claims),
        ...start('reports', look, works.reports),
        ...start('unmatched', look, works.unmatched),
        ...start('reorgs', look, works.reorgs),
        ...start('refunds', look, works.refunds),
        ...start('sentRefunds', look, works.sentRefunds),
        ...start('blocks', look, works.blocks),
        ...start('coins', look, works.coins),
        ...start('secondNode', look, works.secondNode),
        ...start('proofs', look, works.proofs),
        ...start('laterProofs', look, works.laterProofs),
        ...start('traces', look, works.traces),
        ...start('tracePieces', look, works.tracePieces),
        ...start('deposits', look, works.deposits),
      ]);
      const [done, failed] = [found, failures];
      found = [];
      failures = [];
      if (failed.length > 0) throw failed[0];
      return {
        changes: done.reduce((sum, { changes }) => sum + changes, 0),
        isMoved: done.some(({ isMoved }) => isMoved),
        isOver: running.size === 0,
      };
    },

    /** Gives up what is under way, because its findings may no longer be true. Resolves when it has ended. */
    async giveUp(): Promise<void> {
      ending.abort(new Error('The look was given up.'));
      ending = new AbortController();
      found = [];
      failures = [];
      await Promise.all(running.values()).catch(logAndGoOn(log, 'ending a part of a look'));
    },
  };
}

/**
 * Nodes as they are asked for traces. One that fails to trace may answer everything else, so it is not paused, and its
 * answers are shorter, because such an answer takes many times its length in memory.
 */
function tracingPool({ id, nodes, ranks }: ChainClient): NodePool {
  const unmoved = { ...ranks, answered() {}, failed() {} };
  return nodePool({ id, nodes, ranks: unmoved }, { isApart: true, maxAnswerBytes: TRACES_BYTES });
}

/** True for a failure of a node, after which the rest of the look is still true. */
function isOfNode(error: unknown): boolean {
  const isLost = error instanceof NodeLost || error instanceof LookSpent;
  return isLost || (error instanceof BaseError && !(error instanceof WrongChain));
}
