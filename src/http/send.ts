import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import { type Coding, formTag, type Representation } from './representation.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Responds with prepared bytes in the coding that the client prefers, or with 304 when the client has them. `status` is
 * 200 unless given (or set on `ctx` before). Only a 200 carries an ETag and honours If-None-Match.
 */
export function sendRepresentation(
  ctx: Context,
  representation: Representation,
  headers: Readonly<Record<string, string>>,
  status = ctx.status === 404 ? 200 : ctx.status, // Koa starts at 404
): void {
  const { coding, bytes } = chosenForm(ctx.req.headers['accept-encoding'], representation);
  // Uses Node's response directly: this is the hot path, and Koa's setter checks each value again.
  const { res } = ctx;
  for (const name in headers) res.setHeader(name, headers[name] ?? '');
  if (res.hasHeader('Vary')) ctx.vary('Accept-Encoding');
  else res.setHeader('Vary', 'Accept-Encoding');
  ctx.status = status;
  if (status === 200) {
    const tag = formTag(representation.etag, coding);
    res.setHeader('ETag', tag);
    if (holdsTag(ctx, tag)) {
      ctx.status = 304;
      return;
    }
  }
  if (!res.hasHeader('Content-Type')) res.setHeader('Content-Type', JSON_TYPE);
  if (coding !== 'identity') res.setHeader('Content-Encoding', coding);
  ctx.body = bytes;
}

/** Best available form that an Accept-Encoding allows. Short bodies exist only in the identity form. */
export function chosenForm(
  header: string | string[] | undefined,
  representation: Representation,
): { coding: Coding; bytes: Buffer } {
  for (const coding of acceptedCodings(typeof header === 'string' ? header : undefined)) {
    const bytes = representation[coding];
    if (bytes !== undefined) return { coding, bytes };
  }
  return { coding: 'identity', bytes: representation.identity };
}

/** True when the client has the content with this quoted tag. */
function holdsTag(ctx: Context, tag: string): boolean {
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return false;
  return namesTag(ctx.req.headers['if-none-match'], tag);
}

/**
 * True when an If-None-Match contains a quoted tag. The comparison is weak, because a proxy may have weakened our tag
 * (RFC 9110, 13.1.2).
 */
export function namesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  if (header === tag) return true;
  if (header.trim() === '*') return true;
  const held: readonly string[] = header.match(/"[^"]*"/g) ?? [];
  return held.includes(tag);
}

/** Preferred coding of a client with this Accept-Encoding header. */
export function preferredCoding(header: string | string[] | undefined): Coding {
  return acceptedCodings(typeof header === 'string' ? header : undefined)[0] ?? 'identity';
}

/** Order at equal q: smallest for the client first. */
const OFFERED: readonly Coding[] = ['br', 'gzip', 'identity'];
const IDENTITY_ONLY: readonly Coding[] = ['identity'];
const LONGEST_REMEMBERED = 256;

/** Cached, because clients send few different headers. */
const remembered = new LRUCache<string, readonly Coding[]>({ max: 500 });

/**
 * Codings that an Accept-Encoding header allows, best first (RFC 9110, 12.5.3): by q, then br, gzip, identity. q=0
 * forbids a coding, and `*` stands for all others. Identity is always the last resort, even if forbidden: for a client,
 * an unwanted coding is better than a 406.
 */
function acceptedCodings(header: string | undefined): readonly Coding[] {
  if (header === undefined || header === '') return IDENTITY_ONLY;
  const known = remembered.get(header);
  if (known !== undefined) return known;
  const codings = parse(header);
  if (header.length <= LONGEST_REMEMBERED) remembered.set(header, codings);
  return codings;
}

function parse(header: string): readonly Coding[] {
  const wishes = new Map<string, number>();
  for (const item of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map(part => part.trim());
    if (name !== '') wishes.set(name === 'x-gzip' ? 'gzip' : name, quality(parameters));
  }
  const rest = wishes.get('*');
  const wishFor = (coding: Coding) =>
    wishes.get(coding) ?? rest ?? (coding === 'identity' ? UNNAMED_IDENTITY : 0);
  const allowed = OFFERED.filter(coding => wishFor(coding) > 0);
  const sorted = allowed.sort((a, b) => wishFor(b) - wishFor(a)); // the sort is stable, so ties keep our order
  return sorted.includes('identity') ? sorted : [...sorted, 'identity'];
}

/** q of identity when not named: acceptable, but less than any named coding. */
const UNNAMED_IDENTITY = 0.0001;

function quality(parameters: string[]): number {
  const given = parameters.find(parameter => parameter.startsWith('q='));
  if (given === undefined) return 1;
  const value = Number(given.slice(2));
  return value >= 0 && value <= 1 ? value : 0; // an invalid q refuses the coding
}
