import { BackendError } from '../../port/backend-error.ts';
import { type Fields, isFields, listOf } from '../../upstream/fields.ts';
import type { Judge } from '../../upstream/upstream.ts';
import { textOrNull } from '../../upstream/values.ts';

/** What a route says that an instance's version does not have. */
const UNKNOWN_ACTION = 'Unknown API v2 action';
/** What the paid gateway says itself, as against what it hands through. */
const GATEWAY = 'internal';

/** What Blockscout means by a status with a body of JSON. Source: its controllers and `fallback_controller`, 5.1 to 12. */
export const judge: Judge = ({ status, body }) => {
  if (status >= 200 && status < 300) {
    return typeof body === 'string' ? outage('its answer was no record') : undefined;
  }
  const fields = isFields(body) ? body : {};
  if (fields.message === UNKNOWN_ACTION) {
    return new BackendError('unsupported', 'no_such_answer', 'its version has no such answer');
  }
  // The gateway's own 404 is about a network that it does not serve.
  if (status === 404 && isFields(body) && fields.source !== GATEWAY) {
    return new BackendError('not_found', 'no_such_record', 'it has no such record');
  }
  if (status === 400 || status === 422) {
    return new BackendError('rejected', 'bad_input', refusal(fields));
  }
  return outage(`it answered ${status}`);
};

/** Since 9.0 the only useful words are in the details of the errors. */
function refusal(fields: Fields): string {
  const details = listOf(fields.errors)
    .filter(isFields)
    .map(({ detail }) => textOrNull(detail))
    .filter(detail => detail !== null);
  const words = details.join('; ') || textOrNull(fields.message) || 'it gave no reason';
  return `the back end refused the request: ${words}`;
}

function outage(message: string): BackendError {
  return new BackendError('unavailable', 'failed', message);
}
