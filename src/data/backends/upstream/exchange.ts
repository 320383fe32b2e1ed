import type { Readable } from 'node:stream';
import type { Pool } from 'undici';
import { type BodyFault, boundedBody, UnreadableBody } from '#http/fetch/bounded-body.ts';
import { isObject } from '#lib/json.ts';
import { BackendError } from '../port/backend-error.ts';
import { parseJson } from '../upstream-json/lossless-json.ts';
import { codeOf, timedOut, unavailable } from './exchange-error.ts';
import type { Quota } from './quota.ts';

/** What an upstream answered: any status that is not an outage by itself, and a body that was JSON. */
export interface Reply {
  readonly status: number;
  /** Integers beyond 2^53 are bigints. */
  readonly body: unknown;
}

/** One GET, ready to be sent, and sent again. */
export interface OutgoingRequest {
  /** The request target: path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** undici's own limits on connecting and on silence; they end what a caller without a deadline would wait for. */
const TIMEOUTS: readonly (string | undefined)[] = [
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
];

/** Failures before or beside the wire: the same request would fail the same way. */
const NOT_TRANSPORT: readonly (string | undefined)[] = [
  'UND_ERR_INVALID_ARG',
  'UND_ERR_DESTROYED',
  'UND_ERR_CLOSED',
  'UND_ERR_HEADERS_OVERFLOW',
];

/**
 * One HTTP exchange: a request and its whole response. Redirects are not followed.
 * @throws BackendError `unavailable` or `unsupported`, or whatever the signal makes of it.
 */
export async function exchange(
  pool: Pool,
  quota: Quota,
  { target, headers, signal }: OutgoingRequest,
): Promise<Reply> {
  const response = await pool
    .request({ method: 'GET', path: target, headers: { ...headers }, signal })
    .catch((cause: unknown) => {
      throw unreached(cause);
    });
  const { statusCode: status, headers: answered, body } = response;
  quota.note(status, answered);

  const text = readBody({ status, encoding: single(answered['content-encoding']), body });
  return replyOf({
    status,
    type: single(answered['content-type']),
    location: single(answered.location),
    retryAfterMs: quota.leftMs(),
    // Such a status speaks for itself, whatever became of its body.
    text: isOutage(status) ? await text.catch(() => undefined) : await text,
  });
}

function unreached(cause: unknown): BackendError {
  const code = codeOf(cause);
  if (TIMEOUTS.includes(code)) return timedOut(cause);
  return unavailable('it could not be reached', { cause, isTransport: !NOT_TRANSPORT.includes(code) });
}

/** A header sent twice counts as one that nobody knows. */
function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

/** A response as it arrived; `text` is undefined when its body could not be read. */
export interface UpstreamResponse {
  readonly status: number;
  readonly type: string | undefined;
  readonly location?: string | undefined;
  /** Time until it may be asked again, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  readonly text: string | undefined;
}

/** Statuses about whoever asks, with nothing to say about what was asked. */
const ABOUT_US: readonly number[] = [401, 402, 403, 429];
const OVER_QUOTA: readonly number[] = [402, 429];
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** A status that is an outage by itself; nothing in the body makes it an answer. */
function isOutage(status: number): boolean {
  return (status >= 300 && status < 400) || ABOUT_US.includes(status) || status >= 500;
}

/**
 * What every JSON API means by a response; what is left is for the back end to judge.
 * @throws BackendError `unsupported` for 501 and where the service says that it is disabled, `unavailable` for the rest.
 */
function replyOf({ status, type, text, location, retryAfterMs }: UpstreamResponse): Reply {
  const body = jsonOf(type, text);
  if (status === 501 || (status >= 400 && saysDisabled(status, body)))
    throw new BackendError('unsupported', 'no_such_answer', 'it has no such answer');
  const facts = { status, text, location };
  // "Not found" without a word more is said by services whose contract gives that status no body.
  if (status === 404 && text === '') return { status, body: null };
  if (OVER_QUOTA.includes(status))
    throw unavailable('its quota is used up', { ...facts, retryAfterMs }, 'over_quota');
  if (location !== undefined && isRedirect(status))
    throw unavailable(`it redirects with ${status} to ${hostOf(location)}`, facts);
  // Blockscout's crash handler and its refusals answer in JSON: it lives, and cannot answer this.
  const isAlive = (status === 500 || status === 403) && (typeof body === 'string' || isObject(body));
  if (isOutage(status)) throw unavailable(`it answered ${status}`, facts, isAlive ? 'unreadable' : 'failed');
  if (body === undefined) throw unavailable('its answer was not JSON', facts);
  if (typeof body === 'string') throw unavailable('its answer was only a text', facts, 'unreadable');
  return { status, body };
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

/** The host of an address: its path and query may hold keys. */
function hostOf(location: string): string {
  return URL.canParse(location) ? new URL(location).host : 'another path of its own';
}

/** The parsed body; undefined, which no JSON is, for what is not JSON by type and by content. */
function jsonOf(type: string | undefined, text: string | undefined): unknown {
  if (text === undefined || !JSON_TYPE.test(type ?? '')) return undefined;
  try {
    return parseJson(text);
  } catch {
    // A SyntaxError, or a RangeError from one nested too deep: the text in the log says which.
    return undefined;
  }
}

/** Blockscout says 501 or 403 for services that an instance runs without; a key that is disabled is another matter. */
function saysDisabled(status: number, body: unknown): boolean {
  if (status === 401 || OVER_QUOTA.includes(status) || !isObject(body)) return false;
  return [body.message, body.error].some(
    said =>
      typeof said === 'string' && /\bdisabled\b/i.test(said) && !/\b(key|account|token|user)\b/i.test(said),
  );
}

/** The longest answer that is read, in bytes after decompression. */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** A refusal is a sentence; whoever sends more with a status of 300 or above has nothing to say. */
const MAX_REFUSAL_BYTES = 64 * 1024;

/** A response whose body has not been read. */
interface UnreadResponse {
  readonly status: number;
  /** As sent; nothing for a body that is not compressed. */
  readonly encoding: string | undefined;
  readonly body: Readable;
}

const SENTENCES: Readonly<Record<BodyFault, string>> = {
  too_long: 'its answer was too long',
  unknown_coding: 'its answer was compressed in an unknown way',
  not_decompressed: 'its answer could not be decompressed',
  broken_off: 'its answer broke off',
};

/**
 * The text of a body, decompressed and bounded.
 * @throws BackendError `unavailable`; its incident is a transport fault when the connection ended within the body.
 */
async function readBody({ status, encoding, body }: UnreadResponse): Promise<string> {
  const maxBytes = status < 300 ? MAX_ANSWER_BYTES : MAX_REFUSAL_BYTES;
  try {
    return new TextDecoder().decode(await boundedBody(body, { coding: encoding, maxBytes }));
  } catch (error) {
    throw error instanceof UnreadableBody ? failure(status, error) : error;
  }
}

function failure(status: number, { fault, cause }: UnreadableBody): BackendError {
  const facts = { status, cause, isTransport: fault === 'broken_off' };
  return unavailable(SENTENCES[fault], facts, fault === 'too_long' ? 'unreadable' : 'failed');
}
