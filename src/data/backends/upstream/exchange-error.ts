import { BackendError, type BackendErrorReason } from '../port/backend-error.ts';

/** Facts about a failed exchange. */
export interface Facts {
  readonly status?: number | undefined;
  /** Error code of the system, undici or zlib. */
  readonly code?: string | undefined;
  /** Start of a body that was no answer. */
  readonly text?: string | undefined;
  /** True when no complete HTTP response arrived, so that a retry may succeed. */
  readonly isTransport?: boolean;
  /** Target of a redirect. */
  readonly location?: string | undefined;
  /** Time until the upstream may be asked again, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** Exact failure, for the log and as the cause of the client's error. It may hold the upstream's own words. */
export class Incident extends Error {
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly text: string | undefined;
  readonly location: string | undefined;
  readonly isTransport: boolean;

  constructor({ status, code, text, location, isTransport = false, cause }: Facts) {
    super(cause instanceof Error ? cause.message : 'no usable answer', { cause });
    this.name = 'Incident';
    this.status = status;
    this.code = code ?? codeOf(cause);
    this.text = text;
    this.location = location;
    this.isTransport = isTransport;
  }
}

/** Thrown when the caller no longer needs the answer. It says nothing about the upstream. */
export class Abandoned extends BackendError {
  constructor(cause: unknown) {
    super('unavailable', 'failed', 'the request was cancelled', { cause });
    this.name = 'Abandoned';
  }
}

/** Creates an outage error with a message for clients and the facts as its cause. */
export function unavailable(
  message: string,
  facts: Facts,
  reason: BackendErrorReason = 'failed',
): BackendError {
  const { retryAfterMs } = facts;
  return new BackendError('unavailable', reason, message, { cause: new Incident(facts), retryAfterMs });
}

export function incidentOf(error: unknown): Incident | undefined {
  return error instanceof BackendError && error.cause instanceof Incident ? error.cause : undefined;
}

/**
 * Converts an aborted signal to an error. A deadline that passed counts as the upstream's failure. Undefined when the
 * signal has not aborted.
 */
export function endedBy(signal: AbortSignal): BackendError | undefined {
  if (!signal.aborted) return undefined;
  const cause: unknown = signal.reason;
  const isDeadline = cause instanceof Error && cause.name === 'TimeoutError';
  return isDeadline ? timedOut(cause) : new Abandoned(cause);
}

export function timedOut(cause: unknown): BackendError {
  return unavailable('it did not answer in time', { code: 'timeout', cause }, 'timeout');
}

/** Code of a system error, or of undici's and zlib's errors. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
