import { Unavailable } from '#lib/unavailable.ts';

/**
 * What a back end may fail with. What happens next depends on the kind alone:
 * `unavailable` it could not answer now; `unsupported` it has no such answer; `not_found` it would know and there
 * is none; `rejected` it calls the input bad.
 */
export type BackendErrorKind = 'unavailable' | 'unsupported' | 'not_found' | 'rejected';

/** Facts that decide how long and how politely we react, never where we go next. */
export type BackendErrorReason =
  | 'timeout'
  | 'incomplete'
  | 'failed'
  | 'over_quota'
  | 'busy'
  | 'away'
  | 'unreadable'
  | 'no_such_answer'
  | 'not_indexed'
  | 'no_such_record'
  | 'unknown_name'
  | 'bad_input';

/** The one error a back end throws. `message` is for clients: it never holds an address, a key or a cause. */
export class BackendError extends Error {
  readonly kind: BackendErrorKind;
  readonly reason: BackendErrorReason;
  /** Time until it may be asked again, where it says so. */
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

/** The record is not on this chain, from a back end that would know. */
export function notFound(what: string): BackendError {
  return new BackendError('not_found', 'no_such_record', `${what} was not found`);
}

/** Whether this is the failure of a back end, of that kind. */
export function isOfKind(error: unknown, kind: BackendErrorKind): error is BackendError {
  return error instanceof BackendError && error.kind === kind;
}

/** Time after which a database that was away may be asked again, in milliseconds. */
const AWAY_RETRY_MS = 5_000;

/** Any failure as a BackendError: what is not one yet was not foreseen and counts as an outage. */
export function asBackendError(error: unknown): BackendError {
  if (error instanceof BackendError) return error;
  if (error instanceof Unavailable) {
    const options = { cause: error, retryAfterMs: AWAY_RETRY_MS };
    return new BackendError('unavailable', 'away', 'its database cannot be reached now', options);
  }
  return new BackendError('unavailable', 'failed', 'the back end failed', { cause: error });
}
