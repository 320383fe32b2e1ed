import type { Clock } from '#lib/clock.ts';

/** Time that a chain beyond the share of a process stays free for the others. */
const FREE_FOR_OTHERS_MS = 5_000;
/** Time that a process keeps a chain which no other process took. */
const KEPT_MS = 10 * 60_000;

/** The chains that this process may lead, so that several processes have about as many each. Decision 259. */
export type ChainShare = ReturnType<typeof chainShare>;

/** `processes` is the number of live ones that watch a chain, this one included. */
export function chainShare({
  chainIds,
  processes,
  clock,
}: {
  readonly chainIds: readonly number[];
  readonly processes: (chainId: number) => number;
  readonly clock: Clock;
}) {
  const led = new Set<number>();
  const freeSince = new Map<number, number>();
  const keptUntil = new Map<number, number>();
  const isShared = (chainId: number) => processes(chainId) > 1;
  const isKept = (chainId: number) => (keptUntil.get(chainId) ?? 0) > clock.now();
  /** Chains that no other process takes are no part of the share. */
  const shareSize = () => [...led].filter(chainId => isShared(chainId) && !isKept(chainId)).length;

  /** Of each chain that others watch as well, this process counts its part, so that together they count it once. */
  function most(): number {
    const watchers = chainIds.filter(isShared).map(processes);
    // Sums of thirds may end just above a whole number.
    return Math.ceil(watchers.reduce((sum, count) => sum + 1 / count, 0) - 1e-9);
  }

  return {
    /** False when the process leads this chain and is to hand it over to another one. */
    keeps(chainId: number): boolean {
      return !isShared(chainId) || isKept(chainId) || shareSize() <= most();
    },

    /**
     * True when the process may take this chain now. One beyond its share it takes only when no other process has taken
     * it for a while, for example because none of them reaches a node of the chain.
     */
    async admits(chainId: number, isFree: () => Promise<boolean>): Promise<boolean> {
      if (led.has(chainId) || !isShared(chainId) || shareSize() < most()) return reserve(chainId);
      if (!(await isFree())) {
        freeSince.delete(chainId);
        return false;
      }
      const since = freeSince.get(chainId) ?? clock.now();
      freeSince.set(chainId, since);
      if (clock.now() - since < FREE_FOR_OTHERS_MS) return false;
      keptUntil.set(chainId, clock.now() + KEPT_MS);
      return reserve(chainId);
    },

    /** True while no process leads a chain that is beyond the share of this one. */
    isWaitingFor: (chainId: number): boolean => freeSince.has(chainId),

    /** Says that this process does not lead the chain, or no longer. */
    leave(chainId: number): void {
      led.delete(chainId);
    },
  };

  /** Counts at once: the watchers of a process ask at the same time. */
  function reserve(chainId: number): true {
    led.add(chainId);
    freeSince.delete(chainId);
    return true;
  }
}
