import { setTimeout as delay, setImmediate } from 'node:timers/promises';

/** Length of a UTC day in milliseconds. */
export const DAY_MS = 86_400_000;

/** UTC milliseconds as ISO 8601 with milliseconds and `Z`. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}

/** The only source of time. Milliseconds since the epoch, UTC; tests advance their own. */
export interface Clock {
  now(): number;
  /** Resolves after `ms`, or rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
};

/**
 * Lets timers and other requests run between two parts of long work. Awaiting SQLite is not enough, because it resolves
 * in a microtask.
 * @throws the reason of `signal` when the work was cancelled.
 */
export async function yieldTurn(signal: AbortSignal): Promise<void> {
  await setImmediate();
  signal.throwIfAborted();
}
