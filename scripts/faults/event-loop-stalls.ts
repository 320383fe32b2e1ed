/** Stalls of this process on a busy machine, which neither the service nor its upstreams cause. */
export interface HoldUps {
  /**
   * Sum of all stalls up to now, in milliseconds. The stalls during a request are the difference of two readings.
   */
  totalMs(): number;
  /** Longest stall since the previous call. */
  takeLongestMs(): number;
  readonly longestMs: number;
  stop(): void;
}

const TICK_MS = 10;
/** Usual delay of a timer, which does not count as a stall. */
const USUAL_MS = 20;

/** Measures stalls by the delay of a timer. */
export function watchHoldUps(): HoldUps {
  let lastAt = performance.now();
  let total = 0;
  let sinceRead = 0;
  let longest = 0;
  const late = () => {
    const lateMs = performance.now() - lastAt - TICK_MS;
    return lateMs > USUAL_MS ? lateMs : 0;
  };
  const timer = setInterval(() => {
    const held = late();
    total += held;
    sinceRead = Math.max(sinceRead, held);
    longest = Math.max(longest, held);
    lastAt = performance.now();
  }, TICK_MS);
  return {
    totalMs: () => total + late(),
    takeLongestMs() {
      const taken = Math.max(sinceRead, late());
      sinceRead = 0;
      return taken;
    },
    get longestMs() {
      return longest;
    },
    stop: () => clearInterval(timer),
  };
}
