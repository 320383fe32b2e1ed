import type { Unavailable } from '../lib/unavailable.ts';

/** More of an error than its status and message. */
export interface ErrorFacts {
  /** Added to the answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What a program may branch on, for services whose errors have such a code. */
  readonly code?: string | undefined;
  /** The parameter at fault, for services whose errors name it apart from the message. */
  readonly param?: string | undefined;
  /** For our log only. */
  readonly cause?: unknown;
}

/** What a client is told in place of an answer. */
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

/** Seconds after which a client may ask again for what could not be reached. */
const RETRY_AFTER_S = 5;

/** The refusal of a request for as long as something cannot be reached. */
export function unavailableError({ what, cause }: Unavailable): HttpError {
  return new HttpError(503, what, { headers: { 'Retry-After': String(RETRY_AFTER_S) }, cause });
}

/** The refusal of a method at a known path; `allowed` are the methods that it has. */
export function methodError(method: string, allowed: string, status: 404 | 405 = 405): HttpError {
  return new HttpError(status, `${method} is not allowed here`, { headers: { Allow: allowed } });
}

/**
 * The body of an error answer. Families of routes that word errors differently tell themselves apart by `path`,
 * the request's target without its query; `code` and `param` are those of the HttpError.
 */
export type FormatError = (
  status: number,
  message: string,
  request: { path: string; requestId: string; code?: string | undefined; param?: string | undefined },
) => object;

/** The body of the data contracts' errors. */
export const messageOnly: FormatError = (_status, message) => ({ message });
