import { inTime, Late } from '../lib/in-time.ts';

/** Limits of the waits for a store. */
export interface PatienceOptions {
  /** Longest wait in milliseconds. When absent, a command waits until the store answers. */
  readonly timeoutMs?: number | undefined;
  /** Maximum number of running commands, including abandoned ones. Unlimited when absent. */
  readonly mostRunning?: number | undefined;
}

/**
 * Runs a command of a store.
 * @throws Late when it takes too long, or without running it while the store is late
 */
export type Patience = <Value>(command: () => Promise<Value>) => Promise<Value>;

/** Pause between attempts after a late answer. */
const PAUSE_MS = 1_000;

/**
 * Limits the wait for a store that hangs. After a late answer, one command per second tries the store and all others
 * fail at once, so a request with several commands waits only once.
 */
export function patience({ timeoutMs, mostRunning = Number.POSITIVE_INFINITY }: PatienceOptions): Patience {
  let running = 0;
  let nextTryAt: number | undefined;
  const run = async <Value>(command: () => Promise<Value>) => {
    running += 1;
    try {
      return await command();
    } finally {
      running -= 1;
    }
  };

  return async command => {
    if (running >= mostRunning) throw new Late('the store has too many unanswered commands');
    if (nextTryAt !== undefined) {
      if (performance.now() < nextTryAt) throw new Late('the store was late within the last second');
      nextTryAt = performance.now() + PAUSE_MS;
    }
    try {
      const started = run(command);
      const value = await (timeoutMs === undefined ? started : inTime(started, timeoutMs));
      nextTryAt = undefined;
      return value;
    } catch (error) {
      nextTryAt = error instanceof Late ? performance.now() + PAUSE_MS : undefined;
      throw error;
    }
  };
}
