import type { ClockAndLog } from '#lib/logger.ts';

/** Time for which a node that contradicted its chain is left out (Decision 380). */
const LEFT_OUT_MS = 5 * 60_000;

/** A complete answer of one node about a block that does not fit the hash of the block. */
interface Contradiction {
  /** Host name of the node. */
  readonly node: string;
  readonly block: number;
  /** The part that does not fit, in words. */
  readonly reason: string;
  /** End of the time for which the node is left out, in UTC milliseconds. */
  readonly until: number;
}

/** Contradictions of the nodes of one chain, shared by its clients. Nodes are named by their position. */
export interface Contradictions {
  /** Leaves a node out and says so in the log, unless it is left out already. */
  leaveOut(position: number, found: Omit<Contradiction, 'until'>): void;
  isLeftOut(position: number): boolean;
  /** Those of the nodes that are left out now. */
  current(): readonly Contradiction[];
  /** Number of times that nodes were left out since the start, by host name. */
  counts(): ReadonlyMap<string, number>;
}

export function contradictionsOf({
  chainId,
  clock,
  log,
}: ClockAndLog & { readonly chainId: number }): Contradictions {
  const found = new Map<number, Contradiction>();
  const counts = new Map<string, number>();
  const isLeftOut = (position: number) => (found.get(position)?.until ?? 0) > clock.now();

  return {
    leaveOut(position, contradiction) {
      if (isLeftOut(position)) return;
      found.set(position, { ...contradiction, until: clock.now() + LEFT_OUT_MS });
      counts.set(contradiction.node, (counts.get(contradiction.node) ?? 0) + 1);
      log.warn({ chainId, ...contradiction }, 'a node contradicts the hash of a block and is left out');
    },
    isLeftOut,
    current: () => [...found].flatMap(([position, one]) => (isLeftOut(position) ? one : [])),
    counts: () => counts,
  };
}
