import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import { Unavailable } from './unavailable.ts';

/** Work that comes in pieces and is never done, such as delivering what is due. */
export interface Worker {
  /** For the log: `watcher of chain 31337`. */
  readonly name: string;
  /**
   * Does what there is to do now, or a part of it, and answers with how much that was; 0 when there was nothing.
   * The signal aborts when the worker is to stop: what is begun is finished, and nothing more begun.
   */
  runOnce(signal: AbortSignal): Promise<number>;
}

export interface WorkerOptions {
  /** Milliseconds of rest after a run that found nothing, or what tells them. */
  pauseMs: number | (() => number);
  /** First rest after a failure, in milliseconds; `pauseMs` but at least 100 ms when absent. */
  failurePauseMs?: number;
  /** The longest rest after failures in a row, in milliseconds; 30 s when absent. */
  longestPauseMs?: number;
  clock: Clock;
  log: Logger;
}

/** The longest rest while a database is away: asking again costs little, and work waits for it. */
const AWAY_PAUSE_MS = 5_000;

/** A worker that is at work. */
export type RunningWorker = ReturnType<typeof startWorker>;

/**
 * Runs a worker again and again: at once while there is something to do, else after `pauseMs`. A failure is
 * followed by a rest that doubles with every further one, and that no nudge cuts short; while a database is away it is 5 s
 * at most. Of failures in a row the first,
 * second, fourth, eighth and so on are logged: one cause that lasts for hours must not fill the log.
 */
export function startWorker(worker: Worker, options: WorkerOptions) {
  const { longestPauseMs = 30_000, clock, log } = options;
  const pauseMs = () => (typeof options.pauseMs === 'number' ? options.pauseMs : options.pauseMs());
  const stopping = new AbortController();
  let nudged = false;
  let resting: AbortController | undefined;
  const running = loop();

  return {
    /** Skips the rest, or has it run once more when it is at it. A hint: nothing may depend on it. */
    nudge(): void {
      nudged = true;
      resting?.abort();
    },
    /** Begins nothing more, and resolves when the run that is going on has ended. */
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
        // A worker that never finds nothing must not keep everybody else from their turn.
        else await new Promise(setImmediate);
      } catch (error) {
        if (error === stopping.signal.reason) return;
        failures += 1;
        if (isPowerOfTwo(failures)) {
          log.error({ err: error, worker: worker.name, failures }, 'a worker failed and tries again');
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

  /** A sleep that is cut short is over, not failed. */
  async function sleep(ms: number, signal: AbortSignal): Promise<void> {
    await clock.sleep(ms, signal).catch(error => {
      if (!signal.aborted) throw error;
    });
  }
}

function isPowerOfTwo(count: number): boolean {
  return Number.isInteger(Math.log2(count));
}
