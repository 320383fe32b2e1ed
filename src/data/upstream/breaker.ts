import { CircuitState, ConsecutiveBreaker, circuitBreaker, handleType, type IBackoff } from 'cockatiel';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { BackendError } from '../port/backend-error.ts';
import { Abandoned } from './incident.ts';

/** Stops asking an upstream that failed several times in a row, and tries it with one request after a pause. */
export interface Breaker {
  /** True when a request would be sent: closed, or the pause is over and no other request is trying. */
  isReady(): boolean;
  /** Runs `ask`, or throws `unavailable` at once. */
  run<Value>(ask: () => Promise<Value>): Promise<Value>;
}

export interface BreakerOptions {
  readonly name: string;
  /** Outages in a row that open it. */
  readonly failures: number;
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Carries what the policy counts as a failure. */
class Counted extends Error {
  readonly error: unknown;
  constructor(error: unknown) {
    super('counted by the breaker', { cause: error });
    this.error = error;
  }
}

export function openBreaker({ name, failures, pauseMs, clock, log }: BreakerOptions): Breaker {
  let openUntil = 0;
  let isAnnounced = false;

  // The policy measures its pauses with the system's time: these end by our clock, whatever the other one says.
  const pause: IBackoff<unknown> = {
    next() {
      openUntil = clock.now() + pauseMs;
      return pause;
    },
    get duration() {
      return clock.now() < openUntil ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    },
  };
  const policy = circuitBreaker(handleType(Counted), {
    breaker: new ConsecutiveBreaker(failures),
    halfOpenAfter: pause,
  });
  policy.onBreak(() => {
    if (!isAnnounced) log.warn({ upstream: name, failures, pauseMs }, 'failed repeatedly: left alone');
    isAnnounced = true;
  });
  policy.onReset(() => {
    isAnnounced = false;
    log.info({ upstream: name }, 'answers again');
  });

  const isReady = () =>
    policy.state === CircuitState.Closed || (policy.state === CircuitState.Open && clock.now() >= openUntil);

  async function run<Value>(ask: () => Promise<Value>): Promise<Value> {
    // The policy lets the others wait for the probe's end: they have other back ends to go to.
    if (!isReady()) throw new BackendError('unavailable', 'failed', 'it failed repeatedly and is left alone');
    const isProbe = policy.state !== CircuitState.Closed;
    try {
      const settled = await policy.execute(() => weighed(ask, isProbe));
      if ('error' in settled) throw settled.error;
      return settled.value;
    } catch (error) {
      if (!(error instanceof Counted)) throw error;
      // A probe that told nothing must not cost another pause.
      if (weightOf(error.error) === 'nothing') openUntil = clock.now();
      throw error.error;
    }
  }

  return { isReady, run };
}

/**
 * Puts an outcome the way the policy understands: what it returns is a success, `Counted` a failure, and any other
 * error neither. From a probe the policy takes the latter for a success, so that there it has to be counted.
 */
async function weighed<Value>(
  ask: () => Promise<Value>,
  isProbe: boolean,
): Promise<{ value: Value } | { error: unknown }> {
  try {
    return { value: await ask() };
  } catch (error) {
    const weight = weightOf(error);
    if (weight === 'answer') return { error };
    throw weight === 'outage' || isProbe ? new Counted(error) : error;
  }
}

/** What a failure tells about the upstream: that it is out, that it lives, or nothing. */
function weightOf(error: unknown): 'outage' | 'answer' | 'nothing' {
  if (!(error instanceof BackendError) || error instanceof Abandoned || error.reason === 'over_quota')
    return 'nothing';
  return error.kind === 'unavailable' && error.reason !== 'unreadable' ? 'outage' : 'answer';
}
