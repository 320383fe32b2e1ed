import { isObject } from '#lib/json.ts';
import { BackendError } from '../port/backend-error.ts';
import type { Judge } from '../upstream/upstream.ts';
import { type Fields, listOf } from '../upstream-json/fields.ts';
import { textOrNull } from '../upstream-json/values.ts';

const MAX_WORDS = 200;
/**
 * Messages about the requested chains. "Using an incorrect chain ID will return a 404 error", say the original's
 * documents; other services answer 400. A limit of chains per request counts too: the caller then asks about each chain
 * alone.
 */
const ABOUT_CHAIN = new RegExp(
  [
    '^chain(_?ids?)?\\b',
    '\\b(unsupported|unknown|invalid|incorrect|unrecogni[sz]ed|configured|many) chains?\\b',
    '\\bchain([_ ]?ids?)?\\b.*\\b(not|un)[ -]?(supported|found|available|configured|enabled|known|served)\\b',
    '\\b(most|maximum|up to)\\b.*\\bchains?\\b',
  ].join('|'),
  'i',
);
const ABOUT_NAME = /\bENS\b|\bresolv(e|ed|ing)\b/i;
/** Statuses besides 404 that mean an unknown path. */
const NO_ROUTE: readonly number[] = [405, 410];

/** Interprets a status with a JSON body. Source: the original's contract and its Go service. */
export const thirdwebReply: Judge = ({ status, body }) => {
  if (status >= 200 && status < 300) {
    return isAnswer(body) ? undefined : outage('its answer was no record');
  }
  const words = wordsOf(body);
  if ((status === 404 || status === 400) && ABOUT_CHAIN.test(words)) {
    return new BackendError('unsupported', 'no_such_answer', 'it does not have this chain');
  }
  if ((status === 404 || status === 400) && ABOUT_NAME.test(words)) {
    return new BackendError('not_found', 'unknown_name', 'it does not know this name');
  }
  if (status === 404) return new BackendError('not_found', 'no_such_record', 'it has no such record');
  if (status === 400 || status === 422) {
    const reason = words === '' ? 'it gave no reason' : words;
    return new BackendError('rejected', 'bad_input', `the back end refused the request: ${reason}`);
  }
  if (NO_ROUTE.includes(status)) {
    return new BackendError('unsupported', 'no_such_answer', 'it has no such answer');
  }
  return outage(`it answered ${status}`);
};

/** True for an answer. Gateways report some failures with status 200. */
function isAnswer(body: unknown): boolean {
  if (!isObject(body)) return Array.isArray(body);
  return typeof body.error !== 'string' || body.data !== undefined || body.aggregations !== undefined;
}

/**
 * Message of an error. The contract says `{error: string}`; gateways send an object, a list of issues or only a
 * message.
 */
function wordsOf(body: unknown): string {
  const fields = isObject(body) ? body : {};
  const inner = isObject(fields.error) ? fields.error : fields;
  const issues = listOf(inner.issues).filter(isObject).map(issueText).filter(Boolean).join('; ');
  const words = issues || textOrNull(fields.error) || textOrNull(inner.message) || textOrNull(fields.message);
  return (words ?? '').slice(0, MAX_WORDS);
}

function issueText({ path, message }: Fields): string {
  return [listOf(path).join('.'), textOrNull(message) ?? ''].filter(Boolean).join(': ');
}

function outage(message: string): BackendError {
  return new BackendError('unavailable', 'failed', message);
}
