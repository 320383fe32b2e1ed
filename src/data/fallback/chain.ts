import type { Answer, Backend, Validity } from '../backends/port/backend.ts';
import type { BackendError } from '../backends/port/backend-error.ts';

/** One configured chain, with its back ends in fallback order. */
export interface Chain {
  readonly id: number;
  /** Name of the chain in cache keys. Processes with equal keys give equal answers and may share a cache. */
  readonly key: string;
  readonly name: string;
  readonly native: NativeCoin;
  /** Blocks on top of a record after which it counts as final. */
  readonly confirmations: number;
  readonly backends: readonly Backend[];
}

/**
 * Name of a chain in cache keys: its id, a digest of the settings that affect its answers, and the ids of our own
 * indexes behind it.
 */
export function chainKey(id: number, settings: string, backends: readonly Backend[]): string {
  return [`${id}.${settings}`, ...backends.flatMap(({ dataId }) => dataId ?? [])].join('@');
}

/** The coin in which a chain's fees are paid. */
export interface NativeCoin {
  readonly symbol: string;
  readonly decimals: number;
}

/** Failure of one back end, with its chain. */
export interface Failure {
  readonly chain: Chain;
  /** Undefined when the chain has no back end to ask. */
  readonly backend: Backend | undefined;
  readonly error: BackendError;
}

/** An answer with its source and the failures that preceded it. */
export interface ChainAnswer<Body> {
  readonly answer: Answer<Body>;
  readonly chain: Chain;
  readonly backend: Backend;
  /** Validity of the answer, read before the back end was asked. */
  readonly validity: Validity | undefined;
  /** Failures of chains and back ends that were preferred to this one. */
  readonly passedOver: readonly Failure[];
}

/** Thrown when no back end had an answer. Carries every failure, most preferred first. */
export class NothingFound extends Error {
  readonly failures: readonly Failure[];
  constructor(failures: readonly Failure[]) {
    super('no back end had an answer', { cause: new AggregateError(failures.map(({ error }) => error)) });
    this.name = 'NothingFound';
    this.failures = failures;
  }
}
