import { CircuitState, ConsecutiveBreaker, circuitBreaker, handleType, type IBackoff } from 'cockatiel';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { BackendError } from '../port/backend-error.ts';
import { Abandoned } from './incident.ts';

/** Stops asking an upstream that failed several times in a row, and tries it with one request after a pause. */
export interface Breaker {
  /** True when a request would be sent: closed, or the pause is over and no other request is trying. */
  isReady(): boolean;
  /** Runs `ask`, which is about `path`, or throws `unavailable` at once. */
  run<Value>(path: string, ask: () => Promise<Value>): Promise<Value>;
}

export interface BreakerOptions {
  readonly name: string;
  /** Outages in a row that open it. */
  readonly failures: number;
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How long further timeouts of an endpoint tell nothing more than its first one. */
const SLOW_MS = 60_000;

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
  /** Since the last answer: endpoints that timed out, and until when that counts. */
  const slow = new Map<string, number>();

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

  /** One slow endpoint is no outage: its timeouts count once, whatever is asked of it. */
  function weigh(path: string, error: unknown): Weight {
    const weight = weightOf(error);
    if (weight !== 'outage' || !isTimeout(error)) return weight;
    const endpoint = endpointOf(path);
    if (clock.now() < (slow.get(endpoint) ?? 0)) return 'nothing';
    slow.set(endpoint, clock.now() + SLOW_MS);
    return weight;
  }

  /**
   * Puts an outcome the way the policy understands: what it returns is a success, `Counted` a failure, and any other
   * error neither. From a probe the policy takes the latter for a success, so that there it has to be counted.
   */
  async function weighed<Value>(
    path: string,
    ask: () => Promise<Value>,
    isProbe: boolean,
  ): Promise<{ value: Value } | { error: unknown }> {
    try {
      const value = await ask();
      slow.clear();
      return { value };
    } catch (error) {
      // A probe is one request for all: how often its endpoint was slow before does not matter.
      const weight = isProbe ? weightOf(error) : weigh(path, error);
      if (weight === 'answer') {
        slow.clear();
        return { error };
      }
      throw weight === 'outage' || isProbe ? new Counted(error) : error;
    }
  }

  async function run<Value>(path: string, ask: () => Promise<Value>): Promise<Value> {
    // The policy lets the others wait for the probe's end: they have other back ends to go to.
    if (!isReady()) throw new BackendError('unavailable', 'failed', 'it failed repeatedly and is left alone');
    const isProbe = policy.state !== CircuitState.Closed;
    try {
      const settled = await policy.execute(() => weighed(path, ask, isProbe));
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

type Weight = 'outage' | 'answer' | 'nothing';

/** What a failure tells about the upstream: that it is out, that it lives, or nothing. */
function weightOf(error: unknown): Weight {
  if (!(error instanceof BackendError) || error instanceof Abandoned || error.reason === 'over_quota')
    return 'nothing';
  return error.kind === 'unavailable' && error.reason !== 'unreadable' ? 'outage' : 'answer';
}

function isTimeout(error: unknown): boolean {
  return error instanceof BackendError && error.reason === 'timeout';
}

/** A path without its hashes and numbers, which tell one record of an endpoint from another. */
function endpointOf(path: string): string {
  return path.replace(/0x[\da-f]+|\d+/gi, '*');
}
