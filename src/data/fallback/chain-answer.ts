import type { Answer, Backend, Validity } from '../backends/port/backend.ts';
import type { BackendError } from '../backends/port/backend-error.ts';
import type { Chain } from './chain.ts';

/** One back end's failure, with where it happened. */
export interface Failure {
  readonly chain: Chain;
  /** Absent where the chain has no back end that could be asked. */
  readonly backend: Backend | undefined;
  readonly error: BackendError;
}

/** An answer with where it came from and what failed on the way to it. */
export interface ChainAnswer<Body> {
  readonly answer: Answer<Body>;
  readonly chain: Chain;
  readonly backend: Backend;
  /** Until when the answer holds, as of the moment before it was asked for. */
  readonly validity: Validity | undefined;
  /** Failures of chains and back ends that were preferred to this one. */
  readonly passedOver: readonly Failure[];
}

/** Nobody had an answer. Carries every failure, most preferred first. */
export class NothingFound extends Error {
  readonly failures: readonly Failure[];
  constructor(failures: readonly Failure[]) {
    super('no back end had an answer', { cause: new AggregateError(failures.map(({ error }) => error)) });
    this.name = 'NothingFound';
    this.failures = failures;
  }
}

/** A failure in words for clients. Back ends of one chain are told apart by name where their kind does not. */
export function sentenceOf({ chain, backend, error }: Failure): string {
  if (backend === undefined) return `chain ${chain.id}: ${error.message}`;
  const isOnlyOne = chain.backends.filter(({ kind }) => kind === backend.kind).length < 2;
  return `chain ${chain.id} (${isOnlyOne ? backend.kind : backend.name}): ${error.message}`;
}

/**
 * `Retry-After` where every failure is a quota that is used up: until the first of them may be asked again, in seconds.
 */
export function retryAfterOf(failures: readonly Failure[]): Record<string, string> {
  const waits = failures.map(({ error }) => error.retryAfterMs ?? Number.NaN);
  const wait = Math.min(...waits);
  return Number.isFinite(wait) ? { 'Retry-After': String(Math.max(1, Math.ceil(wait / 1000))) } : {};
}

/** Whether this failure may be gone in a moment, so that what was reached past it must not be kept long. */
export function isPassing({ error }: Failure): boolean {
  return error.kind === 'unavailable' || error.reason === 'incomplete';
}

/** Whether this back end may have what it did not find: it does not know the whole of its chain, now or at all. */
export function leavesOpen(failure: Failure): boolean {
  return isPassing(failure) || failure.error.reason === 'not_indexed';
}
