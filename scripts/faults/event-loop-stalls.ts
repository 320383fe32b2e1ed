/** How long the process stood still, on a busy machine: neither the service nor its upstreams can be blamed for that. */
export interface HoldUps {
  /** Milliseconds in all, up to now: what passes between two readings is no fault of a request in between. */
  totalMs(): number;
  /** The longest since this was last read. */
  takeLongestMs(): number;
  readonly longestMs: number;
  stop(): void;
}

const TICK_MS = 10;
/** A timer that is as late as this is only a timer. */
const USUAL_MS = 20;

/** By a timer and how late it comes. */
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
