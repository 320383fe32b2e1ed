import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import { withoutOrigin } from '../absolute-form.ts';
import { HttpError } from '../errors.ts';

/** Origin form (RFC 9112, 3.2.1) in visible ASCII, without a fragment. */
const ORIGIN_FORM = /^\/[\x21\x22\x24-\x7e]*$/;
/** Bytes of target and headers that are refused. Node's own limit is higher, so that the path is known by then. */
const HEAD_LIMIT = 16 * 1024;

export const HEAD_TOO_LONG = 'The request target and headers are too long';
export const NO_PATH = 'The request target must be a path, percent-encoded';

/**
 * Refuses with 400 what would surprise a router or a store further in: a target that is not a path, a broken percent
 * escape or invalid UTF-8, a NUL byte, an HTTP/1.1 request without a host, a repeated header that says who asks or
 * where, and a request without a version. Refuses a long head with 431 and an unknown expectation with 417.
 */
export const checkTarget: Middleware = ({ req }, next) => {
  if (headSize(req) >= HEAD_LIMIT) throw new HttpError(431, HEAD_TOO_LONG);
  const fault = faultOf(req);
  if (fault !== undefined) throw new HttpError(400, fault);
  if (!isKnownExpectation(req.headers.expect)) throw new HttpError(417, 'Expect must be 100-continue');
  return next();
};

/** The path of a target in any form. */
export function pathOf(target: string): string {
  const local = withoutOrigin(target);
  const end = local.indexOf('?');
  return end === -1 ? local : local.slice(0, end);
}

/** Bytes of target, header names and header values. Node decodes each byte to one character. */
function headSize({ url = '', rawHeaders }: IncomingMessage): number {
  let size = url.length;
  for (const text of rawHeaders) size += text.length;
  return size;
}

/** True without an expectation, and for the one that Node meets (RFC 9110, 10.1.1). */
function isKnownExpectation(header: string | undefined): boolean {
  if (header === undefined) return true;
  const members = header.split(',').map(member => member.trim().toLowerCase());
  return members.every(member => member === '' || member === '100-continue');
}

/** Headers that say who asks and where. Of two, Node keeps the first, and a proxy before us may have read the other. */
const SINGLE_HEADERS: readonly string[] = ['authorization', 'x-api-key', 'host'];

function faultOf({
  url: target = '',
  headers,
  rawHeaders,
  httpVersion,
}: IncomingMessage): string | undefined {
  const repeated = repeatedHeader(rawHeaders);
  if (repeated !== undefined) return `The request has more than one ${repeated} header`;
  if (httpVersion.startsWith('0')) return 'The request names no version of HTTP';
  if (!ORIGIN_FORM.test(target)) return NO_PATH;
  if (httpVersion === '1.1' && headers.host === undefined) return 'The Host header is missing';
  if (!target.includes('%')) return undefined;
  try {
    return decodeURIComponent(target).includes('\0') ? 'The request target holds a NUL byte' : undefined;
  } catch {
    return 'The request target holds a malformed percent escape';
  }
}

/** The first header that must stand once and does not. `rawHeaders` holds names and values in turn. */
function repeatedHeader(rawHeaders: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (let place = 0; place < rawHeaders.length; place += 2) {
    const name = rawHeaders[place] ?? '';
    const lower = name.toLowerCase();
    if (!SINGLE_HEADERS.includes(lower)) continue;
    if (seen.has(lower)) return name;
    seen.add(lower);
  }
  return undefined;
}
