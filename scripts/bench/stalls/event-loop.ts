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
    await delay(5 * RESOLUTION_MS);
    const { user, system } = process.threadCpuUsage(cpu);
    const longestMs = Math.max(0, delays.max / 1e6 - RESOLUTION_MS);
    delays.reset();
    cpu = process.threadCpuUsage();
    return { longestMs, cpuMs: (user + system) / 1000 };
  };
}
