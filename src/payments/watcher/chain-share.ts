import type { Clock } from '#lib/clock.ts';

/** Time for which a process that has its share leaves a free chain to the others. */
const FREE_FOR_OTHERS_MS = 5_000;
/** Time until a chain is offered again to processes that did not take it. Each offer leaves it unwatched briefly. */
const OFFER_AGAIN_MS = 60 * 60_000;

/** A chain that no other process took while it was free. */
interface Refusal {
  readonly by: readonly string[];
  readonly at: number;
}

/** The chains that this process may lead. Processes share the chains evenly (Decision 259). */
export type ChainShare = ReturnType<typeof chainShare>;

/** `others` are the ids of further processes that may lead a chain. */
export function chainShare({
  chainIds,
  others,
  clock,
}: {
  readonly chainIds: readonly number[];
  readonly others: (chainId: number) => readonly string[];
  readonly clock: Clock;
}) {
  const led = new Set<number>();
  const freeSince = new Map<number, number>();
  const refusals = new Map<number, Refusal>();
  const isWithin = (ms: number, since: number) => Math.abs(clock.now() - since) < ms; // also when the clock was set back
  /** Number of led chains, without those that every other process refused. */
  const shareSize = () => [...led].filter(chainId => !isLeftToThis(chainId)).length;

  /** True when every other process has just refused the chain, or there is none. */
  function isLeftToThis(chainId: number): boolean {
    const refusal = refusals.get(chainId);
    const refused = refusal !== undefined && isWithin(OFFER_AGAIN_MS, refusal.at) ? refusal.by : [];
    return others(chainId).every(processId => refused.includes(processId));
  }

  /** Share of this process: for each chain with other watchers, one divided by the number of its watchers. */
  function most(): number {
    const numbers = chainIds.map(chainId => others(chainId).length).filter(number => number > 0);
    // Floating-point sums of thirds may end just above a whole number.
    return Math.ceil(numbers.reduce((sum, number) => sum + 1 / (number + 1), 0) - 1e-9);
  }

  return {
    /** False when the process should hand this chain over to another one. */
    keeps: (chainId: number): boolean => isLeftToThis(chainId) || shareSize() <= most(),

    /**
     * True when the process may take this chain now. It takes a chain beyond its share only after no other process has
     * taken it for a while, for example because none of them reaches a node of the chain.
     */
    async admits(chainId: number, isFree: () => Promise<boolean>): Promise<boolean> {
      if (led.has(chainId) || isLeftToThis(chainId) || shareSize() < most()) return reserve(chainId);
      if (!(await isFree())) {
        freeSince.delete(chainId);
        return false;
      }
      const since = freeSince.get(chainId) ?? clock.now();
      freeSince.set(chainId, since);
      if (isWithin(FREE_FOR_OTHERS_MS, since)) return false;
      refusals.set(chainId, { by: others(chainId), at: clock.now() });
      return reserve(chainId);
    },

    /** True while this process waits for others to take a free chain beyond its share. */
    isWaitingFor: (chainId: number): boolean => freeSince.has(chainId),

    /** Records that this process does not lead the chain; another one may have taken it. */
    leave(chainId: number): void {
      led.delete(chainId);
      refusals.delete(chainId);
    },
  };

  /** Counts the chain immediately, because the watchers of a process ask at the same time. */
  function reserve(chainId: number): true {
    led.add(chainId);
    freeSince.delete(chainId);
    return true;
  }
}
