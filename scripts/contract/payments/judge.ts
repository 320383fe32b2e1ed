import type { Json } from '#contract/contracts/document.ts';
import { PAYMENTS_ERRORS } from '#contract/contracts/payments-errors.ts';
import { describeErrors } from '#contract/contracts/violations.ts';
import type { ResponseValidators } from '#contract/mount/response-validators.ts';
import { isObject } from '#lib/json.ts';
import type { Exchange } from '../client.ts';
import { parsed } from '../judge.ts';
import { isKeyed, type Operation } from './operation.ts';

/** HTTP errors sent before the key is checked. They have the code of a 400 (Decision 185). */
const OF_HTTP: readonly number[] = [408, 417, 431];
const COUNTS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

/** Status, code and parameter of a response in one text, such as `400 invalid_address recipient_address`. */
export function outcomeOf({ status, text }: Exchange): string {
  if (status < 400) return String(status);
  const { code, param } = errorIn(parsed(text)?.value);
  return [status, ...(code === undefined ? [] : [code]), ...(param === undefined ? [] : [param])].join(' ');
}

/** Deviations of a response from the contract of an operation, one text each. */
export function faultsOf(exchange: Exchange, operation: Operation, validators: ResponseValidators): string[] {
  const { status, headers, text, method } = exchange;
  if (status === 0) return [`no answer: ${text}`];
  const declared = operation.statuses.get(String(status));
  if (declared === undefined) return ['undeclared status'];
  const faults = declared.filter(name => headers[name.toLowerCase()] === undefined).map(name => `no ${name}`);
  faults.push(...cachingFaults(exchange), ...countingFaults(exchange, isKeyed(operation)));
  if (status >= 500) faults.push('the service failed');
  if (method === 'HEAD' || status === 304) return text === '' ? faults : [...faults, 'has a body'];
  const media = operation.row.media?.[status] ?? 'application/json; charset=utf-8';
  if (headers['content-type'] !== media) faults.push(`is ${headers['content-type']}, not ${media}`);
  if (!media.startsWith('application/json')) return faults;
  const body = parsed(text);
  if (body === undefined) return [...faults, 'body is not JSON'];
  const validate = validators(operation.id, status);
  if (validate === undefined) faults.push('there is no schema for its body');
  else if (!validate(body.value)) faults.push(describeErrors(validate.errors));
  return status < 400 ? faults : [...faults, ...catalogueFaults(status, body.value)];
}

/**
 * Deviations of an error from the catalogue, in which each code has one type and one status. HTTP errors outside the
 * catalogue have the code of a 400 (Decision 103).
 */
export function catalogueFaults(status: number, body: Json | undefined): string[] {
  const { code, type } = errorIn(body);
  const row = Object.entries(PAYMENTS_ERRORS).find(([name]) => name === code)?.[1];
  if (row === undefined) return [`has no code of the catalogue: ${code}`];
  if (row.type !== type) return [`${code} is ${row.type}, not ${type}`];
  const isListed = Object.values(PAYMENTS_ERRORS).some(one => one.status === status);
  return row.status === (isListed ? status : 400) ? [] : [`${code} is a ${row.status}`];
}

function errorIn(body: Json | undefined): { code?: string; type?: string; param?: string } {
  const error = isObject(body) && isObject(body.error) ? body.error : {};
  return Object.fromEntries(
    ['code', 'type', 'param'].flatMap(name => (typeof error[name] === 'string' ? [[name, error[name]]] : [])),
  );
}

/** Checks Cache-Control: responses are private, and exports have no version (Decision 118). */
function cachingFaults({ method, status, headers }: Exchange): string[] {
  const isExport = String(headers['content-type']).startsWith('text/csv');
  const isRead = (method === 'GET' || method === 'HEAD') && status < 400 && !isExport;
  const wanted = isRead ? 'private, no-cache' : 'no-store';
  const given = headers['cache-control'];
  return given === wanted ? [] : [`Cache-Control is ${given}, not ${wanted}`];
}

/**
 * Checks the rate limit headers. Every response to a request with a valid key has all of them; others have all or none
 * (Decision 105).
 */
function countingFaults({ status, headers, url }: Exchange, needsKey: boolean): string[] {
  const values = COUNTS.map(name => headers[name]);
  if (values.every(value => value === undefined)) {
    // An unreadable target is refused before the key is checked.
    return (needsKey && status !== 401 && !OF_HTTP.includes(status) && isReadable(url)) || status === 429
      ? ['does not say how it was counted']
      : [];
  }
  const [limit = Number.NaN, remaining = Number.NaN, reset = Number.NaN] = values.map(Number);
  const isSound = limit > 0 && remaining >= 0 && remaining <= limit && Number.isSafeInteger(reset);
  return isSound ? [] : [`counts make no sense: ${values.join(', ')}`];
}

/** True when the percent escapes of a URL are valid text. */
function isReadable(url: string): boolean {
  try {
    return !decodeURIComponent(url).includes('\0');
  } catch {
    return false;
  }
}
