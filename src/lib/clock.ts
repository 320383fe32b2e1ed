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
  /** True for the clock of this machine, which may be wrong. Processes of one database then go by its clock. */
  readonly isOfMachine?: true;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
  isOfMachine: true,
};

/**
 * Lets timers and other requests run between two parts of long work. Awaiting SQLite is not enough, because it resolves
 * in a microtask.
 * @throws the reason of `signal` when the work was cancelled.
 */
export async function yieldTurn(signal?: AbortSignal): Promise<void> {
  await setImmediate();
  signal?.throwIfAborted();
}

/** Time of a server's clock, as told by a clock of this process that is never set and its distance from the server's. */
export interface ServerTime {
  /** UTC milliseconds; undefined before the first reading. */
  now(): number | undefined;
  /** Largest error of `now()` in milliseconds. */
  uncertaintyMs(): number;
  /** Corrects the time by a reading of the server's clock, in UTC milliseconds, that was asked for at `askedAt`. */
  correct(serverMs: number, askedAt: number): void;
  /** Calls `listener` after each reading. */
  onReading(listener: () => void): void;
  /** Milliseconds of the clock that is never set, for `askedAt`. */
  steady(): number;
}

/** Rate at which two clocks move apart at most. NTP corrects a clock's frequency by up to 500 ppm. */
const DRIFT = 0.001;

/**
 * Tells a server's time from readings of its clock. The server read it at some moment between question and answer, so
 * each reading bounds the distance of the two clocks. Bounds that agree are combined: a quick answer narrows them, and
 * a slow one cannot widen them. A reading that contradicts them shows that the server's clock was set.
 */
export function serverTime(steady: () => number = () => performance.now()): ServerTime {
  let least = 0;
  let most = 0;
  let readAt: number | undefined;
  const listeners: (() => void)[] = [];

  const driftMs = () => (readAt === undefined ? 0 : (steady() - readAt) * DRIFT);

  return {
    now: () => (readAt === undefined ? undefined : Math.round(steady() + (least + most) / 2)),
    uncertaintyMs: () => (most - least) / 2 + driftMs(),
    correct(serverMs, askedAt) {
      const answeredAt = steady();
      const [lower, upper] = [serverMs - answeredAt, serverMs - askedAt];
      const drift = driftMs();
      const agrees = readAt !== undefined && lower <= most + drift && upper >= least - drift;
      least = agrees ? Math.max(lower, least - drift) : lower;
      most = agrees ? Math.min(upper, most + drift) : upper;
      readAt = answeredAt;
      for (const listener of listeners) listener();
    },
    onReading: listener => void listeners.push(listener),
    steady,
  };
}
