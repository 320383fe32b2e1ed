import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';

/** Work of the main thread since the last report. */
export interface LoopReport {
  /** Longest time for which the event loop was blocked, in milliseconds. */
  readonly longestMs: number;
  /** CPU time of the main thread alone, in milliseconds. */
  readonly cpuMs: number;
}

const RESOLUTION_MS = 1;
/** Several turns of the timer. */
const SETTLED_MS = 5 * RESOLUTION_MS;

/**
 * Watches the event loop of this thread, and returns a function that reports on it. A timer that fires every
 * millisecond records its delay. The longest delay is the stall. It includes pauses of the garbage collector and time
 * that the scheduler gives to other processes.
 */
export function watchEventLoop(): () => Promise<LoopReport> {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let cpu = process.threadCpuUsage();
  return async () => {
    // A stall is recorded by the next turn of the timer.
    await delay(SETTLED_MS);
    const { user, system } = process.threadCpuUsage(cpu);
    const longestMs = Math.max(0, delays.max / 1e6 - RESOLUTION_MS);
    delays.reset();
    cpu = process.threadCpuUsage();
    // After a reset the first turn only starts the measurement. An earlier stall would not be recorded.
    await delay(SETTLED_MS);
    return { longestMs, cpuMs: (user + system) / 1000 };
  };
}
