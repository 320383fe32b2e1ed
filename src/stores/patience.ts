import { inTime, Late } from '../lib/in-time.ts';

/** Bounds of the waits for a store. */
export interface PatienceOptions {
  /** Longest wait, in milliseconds; until the store answers when absent. */
  readonly timeoutMs?: number | undefined;
  /** Commands that may be under way, those that were given up included. Unbounded when absent. */
  readonly mostRunning?: number | undefined;
}

/** Runs a command of a store. @throws Late when it takes too long, or without running it while the store is late */
export type Patience = <Value>(command: () => Promise<Value>) => Promise<Value>;

/** Pause after a late answer. */
const PAUSE_MS = 1_000;

/**
 * Bounds the wait for a store that hangs. After a late answer, one command per second still tries the store and every
 * other one fails at once, so a request with several commands waits once.
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
    if (running >= mostRunning) throw new Late('the store has too many commands under way');
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
