import type { ClockAndLog } from '#lib/logger.ts';
import { BackendError } from '../port/backend-error.ts';
import { Abandoned, incidentOf } from './exchange-error.ts';

/** Circuit breaker of one upstream: stops requests after repeated outages and probes with one request after a pause. */
export interface Breaker {
  /** True when a request would be sent: the breaker is closed, or the pause is over and no other request is probing. */
  isReady(): boolean;
  /** Runs `ask`, a request of an endpoint. @throws BackendError `unavailable` at once while the breaker is open. */
  run<Value>(endpoint: string, ask: () => Promise<Value>): Promise<Value>;
}

/** Consecutive outages that open the breaker. */
const OUTAGES = 5;
/** Pause before the probe. */
const PAUSE_MS = 10_000;
/** Time in which further failures of the same endpoint do not count, in milliseconds. */
const WINDOW_MS = 60_000;
/**
 * Number of endpoints that time out before the breaker opens. Every such request costs its client the full deadline.
 */
const SLOW_ENDPOINTS = 2;

export function openBreaker(name: string, { clock, log }: ClockAndLog): Breaker {
  let outages = 0;
  let answers = 0;
  let openUntil: number | undefined;
  let isProbing = false;
  /** Endpoints that failed since the last answer, each with the time until which further failures do not count. */
  const counted = new Map<string, number>();

  const isReady = () => openUntil === undefined || (!isProbing && clock.now() >= openUntil);

  function answered(counts: boolean): void {
    answers += 1;
    if (!counts) return;
    outages = 0;
    counted.clear();
    if (openUntil === undefined) return;
    openUntil = undefined;
    log.info({ upstream: name }, 'answers again');
  }

  function failed(weight: number, isProbe: boolean): void {
    outages += weight;
    if (!isProbe && outages < OUTAGES) return;
    openUntil = clock.now() + PAUSE_MS;
    if (!isProbe)
      log.warn(
        { upstream: name, failures: OUTAGES, pauseMs: PAUSE_MS },
        'failed repeatedly: requests paused',
      );
  }

  /** Weight of a failure. A single broken endpoint is no outage: its failures count once per window. */
  function weightOf(endpoint: string, error: unknown): number {
    // A failed connection affects every endpoint.
    if (incidentOf(error)?.isTransport === true) return 1;
    if (clock.now() < (counted.get(endpoint) ?? 0)) return 0;
    counted.set(endpoint, clock.now() + WINDOW_MS);
    return isTimeout(error) ? Math.max(1, OUTAGES / SLOW_ENDPOINTS) : 1;
  }

  async function run<Value>(endpoint: string, ask: () => Promise<Value>): Promise<Value> {
    // Other requests do not wait for the probe, because they can use other back ends.
    if (!isReady())
      throw new BackendError('unavailable', 'failed', 'it failed repeatedly, so requests to it are paused');
    const isProbe = openUntil !== undefined;
    // A request that was sent before the breaker opened says nothing about the time after it.
    const counts = () => isProbe || openUntil === undefined;
    const answersBefore = answers;
    // Clients choose what is asked, and can choose what takes long. An upstream that answers others in that time is not out.
    const isSlowAlone = (error: unknown) => !isProbe && isTimeout(error) && answers > answersBefore;
    if (isProbe) isProbing = true;
    try {
      const value = await ask();
      answered(counts());
      return value;
    } catch (error) {
      const meaning = meaningOf(error);
      if (meaning === 'answer') answered(counts());
      if (meaning === 'outage' && counts() && !isSlowAlone(error)) failed(weightOf(endpoint, error), isProbe);
      throw error;
    } finally {
      if (isProbe) isProbing = false;
    }
  }

  return { isReady, run };
}

/** Effect of a failure on the breaker: an outage, a sign of life, or no evidence of either. */
function meaningOf(error: unknown): 'outage' | 'answer' | 'nothing' {
  if (!(error instanceof BackendError) || error instanceof Abandoned || error.reason === 'over_quota')
    return 'nothing';
  return error.kind === 'unavailable' && error.reason !== 'unreadable' ? 'outage' : 'answer';
}

function isTimeout(error: unknown): boolean {
  return error instanceof BackendError && error.reason === 'timeout';
}
