import { type FormatError, HttpError } from '../../http/errors.ts';
import type { PaymentsSchemas } from './payments.ts';

export type PaymentsErrorCode = PaymentsSchemas['ErrorCode'];
type ErrorType = PaymentsSchemas['ErrorType'];

/** Error codes of the document with their type and status. Source: document 3, "Errors". */
export const PAYMENTS_ERRORS = {
  missing_required_field: { type: 'invalid_request_error', status: 400 },
  invalid_field_value: { type: 'invalid_request_error', status: 400 },
  invalid_address: { type: 'invalid_request_error', status: 400 },
  no_updates_provided: { type: 'invalid_request_error', status: 400 },
  invalid_status_transition: { type: 'invalid_request_error', status: 400 },
  duplicate_resource: { type: 'invalid_request_error', status: 409 },
  precondition_failed: { type: 'invalid_request_error', status: 412 },
  key_missing: { type: 'authentication_error', status: 401 },
  key_invalid: { type: 'authentication_error', status: 401 },
  key_expired: { type: 'authentication_error', status: 401 },
  key_revoked: { type: 'authentication_error', status: 401 },
  insufficient_permissions: { type: 'permission_error', status: 403 },
  resource_not_found: { type: 'not_found_error', status: 404 },
  rate_limit_exceeded: { type: 'rate_limit_error', status: 429 },
  idempotency_conflict: { type: 'idempotency_error', status: 409 },
  internal_error: { type: 'api_error', status: 500 },
} as const satisfies Record<PaymentsErrorCode, { type: ErrorType; status: number }>;

/** Codes of HTTP errors that name no code. Any other 4xx is `invalid_field_value`. */
const BY_STATUS: Readonly<Record<number, PaymentsErrorCode>> = {
  401: 'key_invalid',
  403: 'insufficient_permissions',
  404: 'resource_not_found',
  429: 'rate_limit_exceeded',
};

/**
 * Creates an error with one of the document's codes. `param` is the invalid parameter, or the body field as a dotted
 * path.
 */
export function paymentsError(
  code: PaymentsErrorCode,
  message: string,
  options: { param?: string; headers?: Readonly<Record<string, string>>; cause?: unknown } = {},
): HttpError {
  return new HttpError(PAYMENTS_ERRORS[code].status, message, { ...options, code });
}

interface FieldFault {
  readonly code: PaymentsErrorCode;
  readonly message: string;
  readonly facts: { readonly param?: string };
}

/** Creates an error that names the invalid field, if it is a single one. */
export function faultError({ code, message, facts }: FieldFault): HttpError {
  return paymentsError(code, message, facts);
}

/** Creates a 429 with the seconds to wait, rounded up, in `Retry-After` and in the message. */
export function waitError(
  waitMs: number,
  wording: (wait: string) => string,
  headers: Readonly<Record<string, string>> = {},
): HttpError {
  const seconds = waitSeconds(waitMs);
  return paymentsError('rate_limit_exceeded', wording(secondsText(seconds)), {
    headers: { ...headers, 'Retry-After': String(seconds) },
  });
}

/** Seconds until a refused client may retry, rounded up, at least one. */
export function waitSeconds(waitMs: number): number {
  return Math.max(1, Math.ceil(waitMs / 1000));
}

/** Formats a number of seconds, such as `1 second`. */
function secondsText(seconds: number): string {
  return `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
}

/** Formats every error of the payments platform as `{ error: { type, code, message, param } }` (Decision 103). */
export const paymentsErrorBody: FormatError = (status, message, { code: named, param }) => {
  const code = isCode(named) ? named : codeOf(status);
  const { type } = PAYMENTS_ERRORS[code];
  const error: PaymentsSchemas['ErrorObject'] = {
    type,
    code,
    message,
    ...(param === undefined || param === '' ? {} : { param }),
  };
  return { error };
};

/** Error codes of a status, in the order of the document. */
export function codesOfStatus(status: number): readonly PaymentsErrorCode[] {
  const own = Object.keys(PAYMENTS_ERRORS)
    .filter(isCode)
    .filter(code => PAYMENTS_ERRORS[code].status === status);
  return own.length > 0 ? own : [codeOf(status)];
}

function codeOf(status: number): PaymentsErrorCode {
  return status >= 500 ? 'internal_error' : (BY_STATUS[status] ?? 'invalid_field_value');
}

function isCode(text: string | undefined): text is PaymentsErrorCode {
  return text !== undefined && Object.hasOwn(PAYMENTS_ERRORS, text);
}
