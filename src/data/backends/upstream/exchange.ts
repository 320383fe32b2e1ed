import type { Readable } from 'node:stream';
import type { Pool } from 'undici';
import { type BodyFault, boundedBody, UnreadableBody } from '#http/fetch/bounded-body.ts';
import { isObject } from '#lib/json.ts';
import { parseJson } from '#lib/json-text/lossless-json.ts';
import { countMembers } from '#lib/json-text/member-count.ts';
import { parseSlots, TooManyMembers } from '#lib/json-text/parse-thread.ts';
import { BackendError } from '../port/backend-error.ts';
import { codeOf, timedOut, unavailable } from './exchange-error.ts';
import type { Quota } from './quota.ts';

/** Reply of an upstream: a status that is no outage by itself, and a JSON body. */
export interface UpstreamReply {
  readonly status: number;
  /** Integers beyond 2^53 are bigints. */
  readonly body: unknown;
}

/** One GET request; it may be sent again. */
export interface UpstreamRequest {
  /** The request target: path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** undici's own limits for connecting and for silence. They end requests whose caller has no deadline. */
const TIMEOUTS: readonly (string | undefined)[] = [
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
];

/** Failures outside of the connection: the same request would fail the same way. */
const NOT_TRANSPORT: readonly (string | undefined)[] = [
  'UND_ERR_INVALID_ARG',
  'UND_ERR_DESTROYED',
  'UND_ERR_CLOSED',
  'UND_ERR_HEADERS_OVERFLOW',
];

/**
 * Runs one HTTP exchange: a request and its whole response. Redirects are not followed.
 * @throws BackendError `unavailable` or `unsupported`. After an abort the caller replaces it by the signal's reason.
 */
export async function exchange(
  pool: Pool,
  quota: Quota,
  { target, headers, signal }: UpstreamRequest,
): Promise<UpstreamReply> {
  const response = await pool
    .request({ method: 'GET', path: target, headers: { ...headers }, signal })
    .catch((cause: unknown) => {
      throw unreached(cause);
    });
  const { statusCode: status, headers: answered, body } = response;
  quota.note(status, answered);

  const reading = readBody({ status, encoding: single(answered['content-encoding']), body });
  // An outage is known from its status, even when its body cannot be read.
  const bytes = isOutage(status) ? await reading.catch(() => undefined) : await reading;
  const text = bytes === undefined ? undefined : textOf(bytes.subarray(0, SHOWN_BYTES));
  return replyOf({
    status,
    location: single(answered.location),
    retryAfterMs: quota.leftMs(),
    text,
    body: await jsonOf({ status, type: single(answered['content-type']), bytes, signal }),
  });
}

function unreached(cause: unknown): BackendError {
  const code = codeOf(cause);
  if (TIMEOUTS.includes(code)) return timedOut(cause);
  return unavailable('it could not be reached', { cause, isTransport: !NOT_TRANSPORT.includes(code) });
}

/** Joins a repeated header. The joined value matches no known value. */
function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Response with its body. */
interface UpstreamResponse {
  readonly status: number;
  readonly location: string | undefined;
  /** Time until the upstream may be asked again, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** Start of the body; undefined when it could not be read. */
  readonly text: string | undefined;
  /** Value of the body; undefined, which is no JSON value, when it was not JSON. */
  readonly body: unknown;
}

/** Statuses about the caller rather than the requested record. */
const ABOUT_US: readonly number[] = [401, 402, 403, 429];
const OVER_QUOTA: readonly number[] = [402, 429];
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** True for a status that is an outage with any body. */
function isOutage(status: number): boolean {
  return (status >= 300 && status < 400) || ABOUT_US.includes(status) || status >= 500;
}

/**
 * Interprets a response by the rules that all JSON APIs share. The back end judges the rest.
 * @throws BackendError `unsupported` for 501 or a service that calls itself disabled, `unavailable` for other failures.
 */
function replyOf({ status, text, location, retryAfterMs, body }: UpstreamResponse): UpstreamReply {
  if (status === 501 || (status >= 400 && saysDisabled(status, body)))
    throw new BackendError('unsupported', 'no_such_answer', 'it has no such answer');
  const facts = { status, text, location };
  // Some services answer 404 with an empty body because their contract defines none.
  if (status === 404 && text === '') return { status, body: null };
  if (OVER_QUOTA.includes(status))
    throw unavailable('its quota is used up', { ...facts, retryAfterMs }, 'over_quota');
  if (location !== undefined && isRedirect(status))
    throw unavailable(`it redirects with ${status} to ${hostOf(location)}`, facts);
  // Blockscout answers crashes and refusals in JSON: the service is up but cannot answer this request.
  const isAlive = (status === 500 || status === 403) && (typeof body === 'string' || isObject(body));
  if (isOutage(status)) throw unavailable(`it answered ${status}`, facts, isAlive ? 'unreadable' : 'failed');
  if (body === undefined) throw unavailable('its answer was not JSON', facts);
  if (typeof body === 'string') throw unavailable('its answer was only a text', facts, 'unreadable');
  return { status, body };
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

/** Host of an address. Path and query are left out, because they may hold keys. */
function hostOf(location: string): string {
  return URL.canParse(location) ? new URL(location).host : 'another path of its own';
}

/** A body that was read. */
interface ReadBody {
  readonly status: number;
  readonly type: string | undefined;
  readonly bytes: Buffer | undefined;
  readonly signal: AbortSignal;
}

/** Largest body that is parsed on the main thread. Larger ones would block the event loop for more than 20 ms. */
const SMALL = { bytes: 256 * 1024, members: 10_000 };
/** Maximum number of keys and items. The trace of a transaction with 10,000 calls has as many. */
const MAX_MEMBERS = 250_000;
/** Large answers of all upstreams that are parsed at a time. */
const largeSlots = parseSlots(2);

/**
 * Parses the body, a large one in a thread. Undefined when type or content is not JSON.
 * @throws BackendError `unavailable` for too many keys and items; the signal's reason
 */
async function jsonOf({ status, type, bytes, signal }: ReadBody): Promise<unknown> {
  if (bytes === undefined || !JSON_TYPE.test(type ?? '')) return undefined;
  try {
    if (bytes.byteLength <= SMALL.bytes && countMembers(bytes, SMALL.members) <= SMALL.members)
      return parseJson(textOf(bytes));
    using slot = await largeSlots.take(signal);
    return await slot.parse(bytes, { exactIntegers: true, maxMembers: MAX_MEMBERS });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof TooManyMembers)
      throw unavailable('its answer has too many keys and items', { status }, 'unreadable');
    // SyntaxError, or RangeError for nesting that is too deep. The text in the log shows which.
    return undefined;
  }
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/**
 * True when the service is disabled: Blockscout answers 501 or 403 for services that an instance runs without. A
 * disabled key or account does not count.
 */
function saysDisabled(status: number, body: unknown): boolean {
  if (status === 401 || OVER_QUOTA.includes(status) || !isObject(body)) return false;
  return [body.message, body.error].some(
    said =>
      typeof said === 'string' && /\bdisabled\b/i.test(said) && !/\b(key|account|token|user)\b/i.test(said),
  );
}

/** Maximum size of an answer in bytes, after decompression. */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** Maximum size in bytes of a body with a status of 300 or above. An error message is short. */
const MAX_REFUSAL_BYTES = 64 * 1024;

/** Bytes of a body that a failure keeps for the log. */
const SHOWN_BYTES = 8 * 1024;

/** A response whose body has not been read. */
interface UnreadResponse {
  readonly status: number;
  /** Content-Encoding header; absent for an uncompressed body. */
  readonly encoding: string | undefined;
  readonly body: Readable;
}

const SENTENCES: Readonly<Record<BodyFault, string>> = {
  too_long: 'its answer was too long',
  unknown_coding: 'its answer has an unknown compression',
  not_decompressed: 'its answer could not be decompressed',
  broken_off: 'its answer broke off',
};

/**
 * Reads a body, decompressed and within the size limit.
 * @throws BackendError `unavailable`; its incident is a transport fault when the connection broke off within the body.
 */
async function readBody({ status, encoding, body }: UnreadResponse): Promise<Buffer> {
  const maxBytes = status < 300 ? MAX_ANSWER_BYTES : MAX_REFUSAL_BYTES;
  try {
    return await boundedBody(body, { coding: encoding, maxBytes });
  } catch (error) {
    throw error instanceof UnreadableBody ? failure(status, error) : error;
  }
}

function failure(status: number, { fault, cause }: UnreadableBody): BackendError {
  const facts = { status, cause, isTransport: fault === 'broken_off' };
  return unavailable(SENTENCES[fault], facts, fault === 'too_long' ? 'unreadable' : 'failed');
}
