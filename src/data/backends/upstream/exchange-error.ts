import { BackendError, type BackendErrorReason } from '../port/backend-error.ts';

/** What is known of a failed exchange. */
export interface Facts {
  readonly status?: number | undefined;
  /** What the system, undici or zlib calls the error. */
  readonly code?: string | undefined;
  /** How a body that was no answer begins. */
  readonly text?: string | undefined;
  /** There was no complete HTTP response, so that asking again is worth it. */
  readonly isTransport?: boolean;
  /** Target of a redirect. */
  readonly location?: string | undefined;
  /** Time until it may be asked again, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** What exactly went wrong, for the log and as the cause of what clients read. It may hold the upstream's own words. */
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

/** The request ended because nobody wants its answer any more; that says nothing about the upstream. */
export class Abandoned extends BackendError {
  constructor(cause: unknown) {
    super('unavailable', 'failed', 'nobody waits for its answer any more', { cause });
    this.name = 'Abandoned';
  }
}

/** An outage in words for clients, with the facts as its cause. */
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

/** What a signal that has aborted makes of a request: a deadline that passed is the upstream's failure. */
export function endedBy(signal: AbortSignal): BackendError | undefined {
  if (!signal.aborted) return undefined;
  const cause: unknown = signal.reason;
  const isDeadline = cause instanceof Error && cause.name === 'TimeoutError';
  return isDeadline ? timedOut(cause) : new Abandoned(cause);
}

export function timedOut(cause: unknown): BackendError {
  return unavailable('it did not answer in time', { code: 'timeout', cause }, 'timeout');
}

/** The `code` of a system error, or of undici's and zlib's. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
