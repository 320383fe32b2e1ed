import type { ClockAndLog } from './logger.ts';
import { Unavailable } from './unavailable.ts';

/** Recurring background work, such as delivering what is due. */
export interface Worker {
  /** Name in the log: `watcher of chain 31337`. */
  readonly name: string;
  /**
   * Does all or part of the pending work and returns how much it did; 0 when there was none. When the signal aborts, it
   * finishes what it has begun and begins nothing more.
   */
  runOnce(signal: AbortSignal): Promise<number>;
}

export interface WorkerOptions extends ClockAndLog {
  /** Pause after a run without work, in milliseconds, or a function that returns it. */
  pauseMs: number | (() => number);
  /** First pause after a failure, in milliseconds; `pauseMs` but at least 100 ms when absent. */
  failurePauseMs?: number;
  /** Longest pause after consecutive failures, in milliseconds; 30 s when absent. */
  longestPauseMs?: number;
}

/** Longest pause while a database is unavailable. Retries are cheap, and work is waiting. */
const AWAY_PAUSE_MS = 5_000;

/** Started worker. */
export type RunningWorker = ReturnType<typeof startWorker>;

/**
 * Runs a worker repeatedly: at once while there is work, else after `pauseMs`. The pause after a failure doubles with
 * each consecutive failure, and nudges do not shorten it. While a database is unavailable it is at most 5 s. Only the
 * 1st, 2nd, 4th, 8th … consecutive failure is logged, so that a long outage does not fill the log.
 */
export function startWorker(worker: Worker, options: WorkerOptions) {
  const { longestPauseMs = 30_000, clock, log } = options;
  const pauseMs = () => (typeof options.pauseMs === 'number' ? options.pauseMs : options.pauseMs());
  const stopping = new AbortController();
  let nudged = false;
  let resting: AbortController | undefined;
  const running = loop();

  return {
    /** Ends the pause, or causes another run when one is in progress. A hint: nothing may depend on it. */
    nudge(): void {
      nudged = true;
      resting?.abort();
    },
    /** Begins no further run and resolves when the current one has ended. */
    async stop(): Promise<void> {
      stopping.abort();
      await running;
    },
  };

  async function loop(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; ) {
      nudged = false;
      try {
        const done = await worker.runOnce(stopping.signal);
        failures = 0;
        if (done === 0 && !nudged) await rest();
        // A worker that always has work must not starve the event loop.
        else await new Promise(setImmediate);
      } catch (error) {
        if (error === stopping.signal.reason) return;
        if (stopping.signal.aborted && error instanceof Unavailable) {
          // A stop waits for a limited time before it closes the database.
          log.info({ err: error, worker: worker.name }, 'a worker that was stopped did not finish its run');
          return;
        }
        failures += 1;
        if (isPowerOfTwo(failures)) {
          log.error({ err: error, worker: worker.name, failures }, 'a worker failed and will retry');
        }
        const longest =
          error instanceof Unavailable ? Math.min(AWAY_PAUSE_MS, longestPauseMs) : longestPauseMs;
        const { failurePauseMs = Math.max(pauseMs(), 100) } = options;
        await sleep(Math.min(failurePauseMs * 2 ** (failures - 1), longest), stopping.signal);
      }
    }
  }

  async function rest(): Promise<void> {
    resting = new AbortController();
    await sleep(pauseMs(), AbortSignal.any([stopping.signal, resting.signal]));
    resting = undefined;
  }

  /** An aborted sleep counts as finished. */
  async function sleep(ms: number, signal: AbortSignal): Promise<void> {
    await clock.sleep(ms, signal).catch(error => {
      if (!signal.aborted) throw error;
    });
  }
}

function isPowerOfTwo(count: number): boolean {
  return Number.isInteger(Math.log2(count));
}
