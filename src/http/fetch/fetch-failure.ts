/**
 * Why a guarded fetch has no response: `refused` the URL or every address of its host is not allowed; `redirected`
 * elsewhere or too often; `timeout` no complete response in time; `unreachable` no connection, no valid certificate, or
 * one that broke off; `too_long`, `wrong_type` and `unreadable` tell of the body; `abandoned` the caller's signal.
 */
export type FetchFailureKind =
  | 'refused'
  | 'redirected'
  | 'timeout'
  | 'unreachable'
  | 'too_long'
  | 'wrong_type'
  | 'unreadable'
  | 'abandoned';

/** There is no response, or none that may be read. Its text names no address; the cause may. */
export class FetchFailure extends Error {
  readonly kind: FetchFailureKind;
  /** Of the response whose body was not read. */
  readonly status: number | undefined;

  constructor(kind: FetchFailureKind, { status, cause }: { status?: number; cause?: unknown } = {}) {
    super(`the fetch failed: ${kind.replace('_', ' ')}`, { cause });
    this.name = 'FetchFailure';
    this.kind = kind;
    this.status = status;
  }
}
