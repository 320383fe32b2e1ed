import type { Unavailable } from '../lib/unavailable.ts';

/** Details of an error besides its status and message. */
export interface ErrorFacts {
  /** Added to the response. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Machine-readable code, for services whose errors have one. */
  readonly code?: string | undefined;
  /** Invalid parameter, for services whose errors name it separately from the message. */
  readonly param?: string | undefined;
  /** For the log only. */
  readonly cause?: unknown;
}

/** Error response to a client. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly code: string | undefined;
  readonly param: string | undefined;

  constructor(status: number, message: string, { headers = {}, code, param, cause }: ErrorFacts = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'HttpError';
    this.status = status;
    this.headers = headers;
    this.code = code;
    this.param = param;
  }
}

/** Suggested retry delay in seconds while a dependency is unavailable. */
const RETRY_AFTER_S = 5;

/** Creates the error response while a dependency is unavailable. */
export function unavailableError({ what, cause }: Unavailable): HttpError {
  return new HttpError(503, what, { headers: { 'Retry-After': String(RETRY_AFTER_S) }, cause });
}

/** Creates the error response for a wrong method on a known path; `allowed` are the path's methods. */
export function methodError(method: string, allowed: string, status: 404 | 405 = 405): HttpError {
  return new HttpError(status, `${method} is not allowed here`, { headers: { Allow: allowed } });
}

/**
 * Formats the body of an error response. `path` is the request's target without its query and determines the format
 * where routes differ. `code` and `param` are those of the HttpError.
 */
export type FormatError = (
  status: number,
  message: string,
  request: { path: string; requestId: string; code?: string | undefined; param?: string | undefined },
) => object;

/** Formats the error body of the data contracts. */
export const messageOnly: FormatError = (_status, message) => ({ message });
