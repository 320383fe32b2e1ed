import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';

/** Work of the main thread since the last report. */
export interface LoopReport {
  /** Longest time in which the event loop took nothing up, in milliseconds. */
  readonly longestMs: number;
  /** CPU time of the main thread alone, in milliseconds. */
  readonly cpuMs: number;
}

const RESOLUTION_MS = 1;
/** Several turns of the timer. */
const SETTLED_MS = 5 * RESOLUTION_MS;

/**
 * Watches the event loop of this thread and returns what reports on it. A timer that is due every millisecond notes the
 * time since its last turn, less that millisecond: whatever occupies the loop makes one of these times long, and the
 * longest is the stall. A pause of the garbage collector and a turn that another process took count as well.
 */
export function watchEventLoop(): () => Promise<LoopReport> {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let cpu = process.threadCpuUsage();
  return async () => {
    // A stall is noted by the turn of the timer that follows it.
    await delay(SETTLED_MS);
    const { user, system } = process.threadCpuUsage(cpu);
    const longestMs = Math.max(0, delays.max / 1e6 - RESOLUTION_MS);
    delays.reset();
    cpu = process.threadCpuUsage();
    // After a reset the first turn only begins to measure: a stall that came before it would not be noted.
    await delay(SETTLED_MS);
    return { longestMs, cpuMs: (user + system) / 1000 };
  };
}
