import type { Clock } from '#lib/clock.ts';

/** Time that a chain beyond the share of a process stays free for the others. */
const FREE_FOR_OTHERS_MS = 5_000;
/** Time until a chain is offered again to processes that did not take it. Each offer leaves it unwatched for a while. */
const OFFER_AGAIN_MS = 60 * 60_000;

/** A chain that no other process took while it was free. */
interface Refusal {
  readonly by: readonly string[];
  readonly at: number;
}

/** The chains that this process may lead, so that several processes have about as many each. Decision 259. */
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
  /** Chains that are left to this process are no part of the share. */
  const shareSize = () => [...led].filter(chainId => !isLeftToThis(chainId)).length;

  /** True when every other process has just refused the chain, or there is none. */
  function isLeftToThis(chainId: number): boolean {
    const refusal = refusals.get(chainId);
    const refused = refusal !== undefined && isWithin(OFFER_AGAIN_MS, refusal.at) ? refusal.by : [];
    return others(chainId).every(processId => refused.includes(processId));
  }

  /** Of each chain that others watch as well, this process counts its part, so that together they count it once. */
  function most(): number {
    const numbers = chainIds.map(chainId => others(chainId).length).filter(number => number > 0);
    // Sums of thirds may end just above a whole number.
    return Math.ceil(numbers.reduce((sum, number) => sum + 1 / (number + 1), 0) - 1e-9);
  }

  return {
    /** False when the process leads this chain and is to hand it over to another one. */
    keeps: (chainId: number): boolean => isLeftToThis(chainId) || shareSize() <= most(),

    /**
     * True when the process may take this chain now. One beyond its share it takes only when no other process has taken
     * it for a while, for example because none of them reaches a node of the chain.
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

    /** True while no process leads a chain that is beyond the share of this one. */
    isWaitingFor: (chainId: number): boolean => freeSince.has(chainId),

    /** Says that this process does not lead the chain, or no longer: another one may have taken it. */
    leave(chainId: number): void {
      led.delete(chainId);
      refusals.delete(chainId);
    },
  };

  /** Counts at once: the watchers of a process ask at the same time. */
  function reserve(chainId: number): true {
    led.add(chainId);
    freeSince.delete(chainId);
    return true;
  }
}
