import type { IncomingMessage } from 'node:http';
import { isObject } from '../../lib/json.ts';
import { countMembers } from '../../lib/json-text/member-count.ts';
import type { Json, JsonObject } from '../contracts/document.ts';
import { InvalidBody } from '../contracts/violations.ts';

/** Maximum length of a body in bytes, where its operation names no other. */
const MAX_BYTES = 256 * 1024;
const MAX_DEPTH = 16;
/** Maximum number of keys and items, over all levels. Repeated keys count. */
const MAX_MEMBERS = 5_000;
/** Time in which the rest of an unwanted body is read and dropped, so that the client gets to read the response. */
const LINGER_MS = 1_000;

/** Accepted parameters of the media type; an empty one is legal (RFC 9110, 5.6.6). */
const JSON_PARAMETERS: readonly string[] = ['', 'charset=utf-8', 'charset="utf-8"'];

/**
 * Reads the bytes of a request's body, at most 256 KiB unless the operation allows more (Decision 101).
 * @throws InvalidBody when it is longer; the connection closes after the response.
 */
export async function readBody(request: IncomingMessage, maxBytes = MAX_BYTES): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  if (declaredLength(request) <= maxBytes) {
    const source: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
    try {
      for await (const chunk of source) {
        length += chunk.length;
        if (length > maxBytes) break;
        chunks.push(chunk);
      }
    } catch (cause) {
      throw new InvalidBody('', 'broke off', { cause });
    }
    if (length <= maxBytes) return Buffer.concat(chunks, length);
  }
  await dropBody(request);
  throw new InvalidBody('', `must not be longer than ${maxBytes} bytes`, {
    headers: { Connection: 'close' },
  });
}

/**
 * Reads and drops a refused body for a short time. Resolves to true when the connection must close after the response,
 * because more data may follow.
 */
export async function dropBody(request: IncomingMessage): Promise<boolean> {
  if (request.complete || declaredLength(request) <= MAX_BYTES) return false;
  const { promise, resolve } = Promise.withResolvers<void>();
  const linger = setTimeout(resolve, LINGER_MS);
  request.once('close', resolve).once('end', resolve).resume();
  await promise;
  clearTimeout(linger);
  return true;
}

/** Length from `Content-Length`: 0 without a body, infinite for a chunked one. */
function declaredLength({ headers }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return Number.POSITIVE_INFINITY;
  return Number(headers['content-length'] ?? 0);
}

/**
 * Parses the JSON object in a body; an empty body gives an empty object.
 * @throws InvalidBody unless it is plain JSON of bounded depth and size (Decision 101).
 */
export function parseBody(bytes: Buffer, headers: IncomingMessage['headers']): JsonObject {
  if (bytes.length === 0) return {};
  const { 'content-type': type = '', 'content-encoding': coding = 'identity' } = headers;
  if (!isJsonType(type)) throw new InvalidBody('', 'must be of the Content-Type application/json');
  if (coding.trim().toLowerCase() !== 'identity') throw new InvalidBody('', 'must not be compressed');
  if (countMembers(bytes, MAX_MEMBERS) > MAX_MEMBERS)
    throw new InvalidBody('', `must not have more than ${MAX_MEMBERS} keys and items`);
  const value = parsed(bytes);
  if (!isObject(value)) throw new InvalidBody('', 'must be a JSON object');
  checkMembers(value, []);
  return value;
}

function isJsonType(type: string): boolean {
  const [media, ...parameters] = type.split(';').map(part => part.trim().toLowerCase());
  return media === 'application/json' && parameters.every(parameter => JSON_PARAMETERS.includes(parameter));
}

function parsed(bytes: Buffer): Json {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new InvalidBody('', 'must be valid JSON in UTF-8', { cause });
  }
}

/** Refuses values that are nested too deep or contain text that a database may reject. */
function checkMembers(value: Json, path: string[]): void {
  if (typeof value === 'string') checkText(value, path);
  if (typeof value !== 'object' || value === null) return;
  if (path.length >= MAX_DEPTH) throw new InvalidBody('', `must not have more than ${MAX_DEPTH} levels`);
  for (const [key, member] of Object.entries(value)) {
    if (key === '__proto__') throw new InvalidBody('', 'must not have a key __proto__');
    checkText(key, path);
    path.push(key);
    checkMembers(member, path);
    path.pop();
  }
}

function checkText(text: string, path: readonly string[]): void {
  if (text.includes('\0')) throw new InvalidBody(path.join('.'), 'must not hold a NUL character');
  if (!text.isWellFormed()) throw new InvalidBody(path.join('.'), 'must not hold half of a surrogate pair');
}
