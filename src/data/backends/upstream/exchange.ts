import type { Pool } from 'undici';
import type { BackendError } from '../port/backend-error.ts';
import { codeOf, timedOut, unavailable } from './exchange-error.ts';
import type { Quota } from './quota.ts';
import { isOutage, readBody, replyOf } from './reply.ts';
import type { Reply } from './upstream.ts';

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
