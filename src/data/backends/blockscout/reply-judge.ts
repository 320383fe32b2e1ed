import { isObject } from '#lib/json.ts';
import { BackendError, type BackendErrorReason } from '../port/backend-error.ts';
import type { Judge } from '../upstream/upstream.ts';
import { type Fields, listOf } from '../upstream-json/fields.ts';
import { textOrNull } from '../upstream-json/values.ts';

/** Message for a route that the instance's version does not have. */
const UNKNOWN_ACTION = 'Unknown API v2 action';
/** Messages for a missing record, in lower case. */
const MISSING: readonly unknown[] = [
  'not found',
  'block lost consensus',
  'address not found',
  'address is not smart-contract',
  'smart-contract is unverified',
];

/** Interprets a status with a JSON body. Source: Blockscout's controllers and `fallback_controller`, 5.1 to 12. */
export const blockscoutReply: Judge = ({ status, body }) => {
  if (status >= 200 && status < 300) {
    return typeof body === 'string' ? outage('its answer was no record') : undefined;
  }
  const fields = isObject(body) ? body : {};
  if (fields.message === UNKNOWN_ACTION) {
    return new BackendError('unsupported', 'no_such_answer', 'its version has no such answer');
  }
  if (status === 404 && saysMissing(fields)) {
    return new BackendError('not_found', 'no_such_record', 'it has no such record');
  }
  if (status === 400 || status === 422) {
    return new BackendError('rejected', 'bad_input', refusal(fields));
  }
  // A JSON object shows that the service is up, even for an unknown failure.
  return outage(`it answered ${status}`, isObject(body) ? 'unreadable' : 'failed');
};

/**
 * True when a 404 comes from Blockscout itself. Gateways and proxies also answer 404 with JSON bodies, for unknown
 * addresses and networks. Only two exact forms count: a known message, alone or with the hash of an orphaned block, and
 * the errors of open_api_spex.
 */
function saysMissing({ message, errors, ...others }: Fields): boolean {
  if (typeof message === 'string') {
    return MISSING.includes(message.toLowerCase()) && Object.keys(others).every(name => name === 'hash');
  }
  const listed = listOf(errors);
  return listed.length > 0 && Object.keys(others).length === 0 && listed.every(isSpecError);
}

function isSpecError(error: unknown): boolean {
  return (
    isObject(error) &&
    typeof error.title === 'string' &&
    typeof error.detail === 'string' &&
    isObject(error.source)
  );
}

/** Message for a rejected request. Since 9.0 the useful text is in the details of the errors. */
function refusal(fields: Fields): string {
  const details = listOf(fields.errors)
    .filter(isObject)
    .map(({ detail }) => textOrNull(detail))
    .filter(detail => detail !== null);
  const words = details.join('; ') || textOrNull(fields.message) || 'it gave no reason';
  return `the back end refused the request: ${words}`;
}

function outage(message: string, reason: BackendErrorReason = 'failed'): BackendError {
  return new BackendError('unavailable', reason, message);
}
