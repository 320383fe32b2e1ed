import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import { isHost } from '../client-address.ts';
import { HttpError } from '../errors.ts';

/** Origin form (RFC 9112, 3.2.1) in visible ASCII, without a fragment. */
const ORIGIN_FORM = /^\/[\x21\x22\x24-\x7e]*$/;
/**
 * Size of target and headers, in bytes, from which a request is refused. Node's own limit is higher, so that the path
 * is known when the app refuses a request.
 */
const HEAD_LIMIT = 16 * 1024;

export const HEAD_TOO_LONG = 'The request target and headers are too long';
export const NO_PATH = 'The request target must be a path, percent-encoded';

/**
 * Refuses with 400 requests that later code might misinterpret: a target that is not a path, a broken percent escape or
 * invalid UTF-8, a NUL byte, an HTTP/1.1 request without a host, a repeated authentication or Host header, and a
 * request without a version. Refuses a long head with 431 and an unknown expectation with 417.
 */
export const checkTarget: Middleware = ({ req }, next) => {
  const refusal = headRefusal(req) ?? targetRefusal(req.url ?? '');
  if (refusal !== undefined) throw refusal;
  return next();
};

/** Path of a target in any form. */
export function pathOf(target: string): string {
  const local = withoutOrigin(target);
  const end = local.indexOf('?');
  return end === -1 ? local : local.slice(0, end);
}

/** Refusal of a request because of its headers, version or length; undefined when it is acceptable. */
export function headRefusal({
  url = '',
  headers,
  rawHeaders,
  httpVersion,
}: IncomingMessage): HttpError | undefined {
  // Node decodes each byte to one character. `rawHeaders` alternates names and values.
  let size = url.length;
  let single: string[] | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    size += name.length + (rawHeaders[index + 1]?.length ?? 0);
    if (!SINGLE_LENGTHS.includes(name.length)) continue;
    const lower = name.toLowerCase();
    if (!SINGLE_HEADERS.includes(lower)) continue;
    if (single?.includes(lower)) return new HttpError(400, `The request has more than one ${name} header`);
    single = [...(single ?? []), lower];
  }
  if (size >= HEAD_LIMIT) return new HttpError(431, HEAD_TOO_LONG);
  if (httpVersion.startsWith('0')) return new HttpError(400, 'The request has no HTTP version');
  if (httpVersion === '1.1' && headers.host === undefined)
    return new HttpError(400, 'The Host header is missing');
  if (!isKnownExpectation(headers.expect)) return new HttpError(417, 'Expect must be 100-continue');
  return undefined;
}

/**
 * Headers that must not repeat: a proxy in front may have used another one than this server. Node keeps only the first,
 * or joins them (`x-api-key`).
 */
const SINGLE_HEADERS: readonly string[] = ['authorization', 'x-api-key', 'host'];
/** Lengths of these names, for a fast check: most other names have different lengths. */
const SINGLE_LENGTHS: readonly number[] = SINGLE_HEADERS.map(name => name.length);

/** True without an expectation, and for the one that Node supports (RFC 9110, 10.1.1). */
function isKnownExpectation(header: string | undefined): boolean {
  if (header === undefined) return true;
  const members = header.split(',').map(member => member.trim().toLowerCase());
  return members.every(member => member === '' || member === '100-continue');
}

function targetRefusal(target: string): HttpError | undefined {
  if (!ORIGIN_FORM.test(target)) return new HttpError(400, NO_PATH);
  if (!target.includes('%')) return undefined;
  try {
    if (!decodeURIComponent(target).includes('\0')) return undefined;
    return new HttpError(400, 'The request target holds a NUL byte');
  } catch {
    return new HttpError(400, 'The request target holds a malformed percent escape');
  }
}

/** URL with scheme and authority (RFC 3986, 3.2), and the rest. */
const ABSOLUTE = /^([a-z][a-z\d+.-]*):\/\/([^/?#]*)(.*)$/i;
const SCHEMES: readonly string[] = ['http', 'https'];

/**
 * Rewrites a target in absolute form to origin form, and the Host header to the target's host (RFC 9112, 3.2.2). A
 * target with another scheme, a user or an invalid host is left for `checkTarget` to refuse, as is a missing Host
 * header.
 */
export function useOriginForm(request: IncomingMessage): void {
  const { url = '' } = request;
  if (url.startsWith('/')) return;
  const { headers, httpVersion } = request;
  const [, scheme = '', authority = '', rest = ''] = ABSOLUTE.exec(url) ?? [];
  const host = authority.replace(/:$/, ''); // an empty port means the default port (RFC 3986, 3.2.3)
  if (!SCHEMES.includes(scheme.toLowerCase()) || !isHost(host)) return;
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
  if (headers.host !== undefined || httpVersion === '1.0') headers.host = host;
}

/** Path and query of a target in any form. */
function withoutOrigin(target: string): string {
  return target.startsWith('/') ? target : (ABSOLUTE.exec(target)?.[3] ?? target);
}
