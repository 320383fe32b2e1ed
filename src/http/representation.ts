import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import {
  brotliCompress,
  brotliCompressSync,
  brotliDecompress,
  constants,
  gunzip,
  gzip,
  gzipSync,
} from 'node:zlib';

/**
 * Body ready to be sent: its bytes, and the compressed forms created so far. `etag` is the quoted strong tag of the
 * identity form; the other forms derive theirs from it (`formTag`).
 */
export interface Representation {
  readonly etag: string;
  readonly identity: Buffer;
  readonly br?: Buffer;
  readonly gzip?: Buffer;
}

/** Content codings of a representation. */
const CODINGS = ['identity', 'br', 'gzip'] as const;
export type Coding = (typeof CODINGS)[number];

const COMPRESSED_FROM_BYTES = 1024;
/**
 * Maximum length for compression on the main thread. Using the thread pool for shorter bodies takes longer than
 * compressing them.
 */
const COMPRESSED_AT_ONCE_BYTES = 8 * 1024;
/** Brotli quality while a client waits. Files that are kept can use a higher one. */
const QUICK_BROTLI = 4;
const GZIP_LEVEL = 6;
const TAG_CHARACTERS = 22; // 132 bits of the hash
const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);
const fromBrotli = promisify(brotliDecompress);
const fromGzip = promisify(gunzip);

/** Creates the identity form of a body. Equal bytes always have equal tags. */
export function uncompressed(json: string | Buffer): Representation {
  const identity = typeof json === 'string' ? bytesOf(json) : json;
  return { etag: entityTag(identity), identity };
}

/** Creates all forms of a body that is sent many times. Bodies below 1 kB are not compressed. */
export async function represent(
  json: string | Buffer,
  { brotliQuality = QUICK_BROTLI }: { brotliQuality?: number } = {},
): Promise<Representation> {
  const plain = uncompressed(json);
  if (holdsForm(plain, 'br')) return plain;
  const { identity } = plain;
  const [br, gz] = await Promise.all([
    toBrotli(identity, brotliOptions(identity, brotliQuality)),
    toGzip(identity, { level: GZIP_LEVEL }),
  ]);
  return { ...plain, br: inOwnBlock(br), gzip: inOwnBlock(gz) };
}

/** True when a coding can be sent without compression: its form exists, or the body is too short to compress. */
export function holdsForm(
  representation: Representation,
  coding: Coding,
  compressedFrom = COMPRESSED_FROM_BYTES,
): boolean {
  return representation[coding] !== undefined || representation.identity.length < compressedFrom;
}

/** Forms in progress, so that concurrent requests for the same form share one compression. */
const inTheMaking = new WeakMap<Representation, Map<Coding, Promise<Representation>>>();

/** Returns the representation with the form for a coding. */
export async function withForm(
  representation: Representation,
  coding: Coding,
  compressedFrom?: number,
): Promise<Representation> {
  if (coding === 'identity' || holdsForm(representation, coding, compressedFrom)) return representation;
  if (representation.identity.length < COMPRESSED_AT_ONCE_BYTES)
    return { ...representation, [coding]: compressedAtOnce(representation.identity, coding) };
  const forms = inTheMaking.get(representation) ?? new Map<Coding, Promise<Representation>>();
  inTheMaking.set(representation, forms);
  const made = forms.get(coding) ?? compressed(representation, coding);
  forms.set(coding, made);
  return made;
}

async function compressed(
  representation: Representation,
  coding: Exclude<Coding, 'identity'>,
): Promise<Representation> {
  const { identity } = representation;
  const bytes = await (coding === 'br'
    ? toBrotli(identity, brotliOptions(identity, QUICK_BROTLI))
    : toGzip(identity, { level: GZIP_LEVEL }));
  return { ...representation, [coding]: inOwnBlock(bytes) };
}

function compressedAtOnce(identity: Buffer, coding: Exclude<Coding, 'identity'>): Buffer {
  return inOwnBlock(
    coding === 'br'
      ? brotliCompressSync(identity, brotliOptions(identity, QUICK_BROTLI))
      : gzipSync(identity, { level: GZIP_LEVEL }),
  );
}

function brotliOptions(identity: Buffer, quality: number) {
  return {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: quality,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_SIZE_HINT]: identity.length,
    },
  };
}

/** Quoted entity tag of content. Equal content has equal tags. */
export function entityTag(content: string | Buffer): string {
  return `"${hash('sha256', content, 'base64url').slice(0, TAG_CHARACTERS)}"`;
}

/** True when every compressed form decompresses to the identity form. A longer content is not decompressed further. */
export async function formsAreEqual({ identity, br, gzip: gz }: Representation): Promise<boolean> {
  const options = { maxOutputLength: Math.max(1, identity.length) };
  try {
    const contents = await Promise.all([
      ...(br === undefined ? [] : [fromBrotli(br, options)]),
      ...(gz === undefined ? [] : [fromGzip(gz, options)]),
    ]);
    return contents.every(content => content.equals(identity));
  } catch {
    return false; // not compressed at all, broken off, or too long
  }
}

/** Encodes a text. `Buffer.from` slices short buffers from shared blocks. One slice keeps its whole block in memory. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/** Copies all forms of a representation that is kept in memory into blocks of their own. */
export function inOwnBlocks({ etag, identity, br, gzip: gz }: Representation): Representation {
  return {
    etag,
    identity: inOwnBlock(identity),
    ...(br === undefined ? {} : { br: inOwnBlock(br) }),
    ...(gz === undefined ? {} : { gzip: inOwnBlock(gz) }),
  };
}

/**
 * Copies a slice of a larger block, such as a small result of zlib or a short decoded text. One slice keeps its whole
 * block in memory.
 */
export function inOwnBlock(piece: Buffer): Buffer {
  if (piece.byteLength === piece.buffer.byteLength) return piece;
  const block = Buffer.allocUnsafeSlow(piece.length);
  piece.copy(block);
  return block;
}

/** Age of a stored answer in whole seconds, for the Age header. */
export function ageS({ storedAt }: { readonly storedAt: number }, now: number): string {
  return String(Math.max(0, Math.floor((now - storedAt) / 1000)));
}

/** Memory of all forms of a representation, in bytes. */
export function byteSize({ identity, br, gzip: gz }: Representation): number {
  return identity.length + (br?.length ?? 0) + (gz?.length ?? 0);
}

/** True when an `If-Match` names the version of this identity tag, in any coding (RFC 9110, 13.1.1). */
export function matchesVersion(header: string, etag: string): boolean {
  if (header.trim() === '*') return true;
  const named: readonly string[] = header.match(/"[^"]*"/g) ?? [];
  return CODINGS.some(coding => named.includes(formTag(etag, coding)));
}

/**
 * Entity tag of one form. Two codings of one body are different bytes and need different strong tags (RFC 9110,
 * 8.8.3.3).
 */
export function formTag(etag: string, coding: Coding): string {
  if (coding === 'identity') return etag;
  return `${etag.slice(0, -1)}-${coding === 'br' ? 'br' : 'gz'}"`;
}
