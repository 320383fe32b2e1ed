import type { IncomingMessage } from 'node:http';
import { isObject } from '../../lib/json.ts';
import type { Json, JsonObject } from '../contracts/document.ts';
import { InvalidBody } from '../contracts/violations.ts';

/** The longest body that is read, in bytes. */
const MAX_BYTES = 256 * 1024;
const MAX_DEPTH = 16;
/** Keys and items, over all levels. */
const MAX_MEMBERS = 5_000;
/** How long the rest of an unwanted body is read and dropped, so that its sender gets to read the answer. */
const LINGER_MS = 1_000;

/** Parameters of the media type; an empty one is legal (RFC 9110, 5.6.6). */
const JSON_PARAMETERS: readonly string[] = ['', 'charset=utf-8', 'charset="utf-8"'];

/**
 * The bytes of a request's body, 256 KiB at most (Decision 101).
 * @throws InvalidBody when there are more; the connection ends after its answer.
 */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  if (declaredLength(request) <= MAX_BYTES) {
    const source: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
    try {
      for await (const chunk of source) {
        length += chunk.length;
        if (length > MAX_BYTES) break;
        chunks.push(chunk);
      }
    } catch (cause) {
      throw new InvalidBody('', 'broke off', { cause });
    }
    if (length <= MAX_BYTES) return Buffer.concat(chunks, length);
  }
  await dropBody(request);
  throw new InvalidBody('', `must not be longer than ${MAX_BYTES} bytes`, {
    headers: { Connection: 'close' },
  });
}

/**
 * Reads on for a moment over a body that nobody asked for and that may be long. Resolves to whether the connection has to
 * end after the answer, because there may be more.
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

/** What `Content-Length` says: 0 without a body, infinite for one in chunks. */
function declaredLength({ headers }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return Number.POSITIVE_INFINITY;
  return Number(headers['content-length'] ?? 0);
}

/**
 * The object that a body holds; an empty body holds an empty one.
 * @throws InvalidBody for everything that is not plain JSON of bounded depth and size (Decision 101).
 */
export function parseBody(bytes: Buffer, headers: IncomingMessage['headers']): JsonObject {
  if (bytes.length === 0) return {};
  const { 'content-type': type = '', 'content-encoding': coding = 'identity' } = headers;
  if (!isJsonType(type)) throw new InvalidBody('', 'must be of the Content-Type application/json');
  if (coding.trim().toLowerCase() !== 'identity') throw new InvalidBody('', 'must not be compressed');
  const value = parsed(bytes);
  if (!isObject(value)) throw new InvalidBody('', 'must be a JSON object');
  checkMembers(value, { path: [], left: MAX_MEMBERS });
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

interface Walk {
  readonly path: string[];
  left: number;
}

/** Refuses what is nested too deep, has too many members, or holds a text that a database may not take. */
function checkMembers(value: Json, walk: Walk): void {
  if (typeof value === 'string') checkText(value, walk);
  if (typeof value !== 'object' || value === null) return;
  if (walk.path.length >= MAX_DEPTH) throw new InvalidBody('', `must not have more than ${MAX_DEPTH} levels`);
  for (const [key, member] of Object.entries(value)) {
    walk.left -= 1;
    if (walk.left < 0) throw new InvalidBody('', `must not have more than ${MAX_MEMBERS} keys and items`);
    if (key === '__proto__') throw new InvalidBody('', 'must not have a key __proto__');
    checkText(key, walk);
    walk.path.push(key);
    checkMembers(member, walk);
    walk.path.pop();
  }
}

function checkText(text: string, { path }: Walk): void {
  if (text.includes('\0')) throw new InvalidBody(path.join('.'), 'must not hold a NUL character');
  if (!text.isWellFormed()) throw new InvalidBody(path.join('.'), 'must not hold half of a surrogate pair');
}
