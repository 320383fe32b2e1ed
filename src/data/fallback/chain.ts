import type { Answer, Backend, Validity } from '../backends/port/backend.ts';
import type { BackendError } from '../backends/port/backend-error.ts';

/** One configured chain with its back ends in the order they are tried. */
export interface Chain {
  readonly id: number;
  /** Name of the chain in the keys of answers. Processes with equal ones give equal answers and may share a cache. */
  readonly key: string;
  readonly name: string;
  readonly native: NativeCoin;
  /** Blocks on top of a record after which it counts as final. */
  readonly confirmations: number;
  readonly backends: readonly Backend[];
}

/**
 * Name of a chain in the keys of answers: its id, a digest of the settings that decide its answers, and the indexes of our
 * own that it is answered from.
 */
export function chainKey(id: number, settings: string, backends: readonly Backend[]): string {
  return [`${id}.${settings}`, ...backends.flatMap(({ dataId }) => dataId ?? [])].join('@');
}

/** The coin in which a chain's fees are paid. */
export interface NativeCoin {
  readonly symbol: string;
  readonly decimals: number;
}

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
