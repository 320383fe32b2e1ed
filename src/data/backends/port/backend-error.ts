import { Unavailable } from '#lib/unavailable.ts';

/**
 * Kind of a back end's failure. The next step depends on the kind alone.
 * `unavailable`: it cannot answer now. `unsupported`: it does not have this answer. `not_found`: it would have the
 * record and has none. `rejected`: it considers the input invalid.
 */
export type BackendErrorKind = 'unavailable' | 'unsupported' | 'not_found' | 'rejected';

/** Detail of a failure. It decides retry times and wording, never which back end is asked next. */
export type BackendErrorReason =
  | 'timeout'
  | 'incomplete'
  | 'failed'
  | 'over_quota'
  | 'busy'
  | 'away'
  | 'not_read_yet'
  | 'unreadable'
  | 'no_such_answer'
  | 'not_indexed'
  | 'no_such_record'
  | 'unknown_name'
  | 'bad_input';

/** The only error that a back end throws. `message` is for clients: it never holds an address, a key or a cause. */
export class BackendError extends Error {
  readonly kind: BackendErrorKind;
  readonly reason: BackendErrorReason;
  /** Time until the back end may be asked again, when it gives one. */
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: BackendErrorKind,
    reason: BackendErrorReason,
    message: string,
    options?: ErrorOptions & { readonly retryAfterMs?: number | undefined },
  ) {
    super(message, options);
    this.retryAfterMs = options?.retryAfterMs;
    this.name = 'BackendError';
    this.kind = kind;
    this.reason = reason;
  }
}

/** Error for a record that is not on this chain, from a back end that would have it. */
export function notFound(what: string): BackendError {
  return new BackendError('not_found', 'no_such_record', `${what} was not found`);
}

/** True for a back end's failure of the given kind. */
export function isOfKind(error: unknown, kind: BackendErrorKind): error is BackendError {
  return error instanceof BackendError && error.kind === kind;
}

/** Time after which an unreachable database may be asked again, in milliseconds. */
const AWAY_RETRY_MS = 5_000;

/** Converts any failure to a BackendError. Unexpected errors count as an outage. */
export function asBackendError(error: unknown): BackendError {
  if (error instanceof BackendError) return error;
  if (error instanceof Unavailable) {
    const options = { cause: error, retryAfterMs: AWAY_RETRY_MS };
    return new BackendError('unavailable', 'away', 'its database cannot be reached now', options);
  }
  return new BackendError('unavailable', 'failed', 'the back end failed', { cause: error });
}
