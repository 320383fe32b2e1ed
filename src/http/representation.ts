import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib';

/**
 * A JSON body ready to be sent: its bytes as they are, and the compressed forms that were made of them so far.
 * `etag` is the quoted strong tag of the identity form; the other forms derive theirs from it (`formTag`).
 */
export interface Representation {
  readonly etag: string;
  readonly identity: Buffer;
  readonly br?: Buffer;
  readonly gzip?: Buffer;
}

/** The content codings a representation may be held in. */
export type Coding = 'identity' | 'br' | 'gzip';

const COMPRESSED_FROM_BYTES = 1024;
/** Longer bodies are compressed in the thread pool. Shorter ones take less time than the way there and back. */
const COMPRESSED_AT_ONCE_BYTES = 8 * 1024;
/** Quality of Brotli for bodies that are made while a client waits; files that are kept for ever can afford more. */
const QUICK_BROTLI = 4;
const GZIP_LEVEL = 6;
const TAG_CHARACTERS = 22; // 132 bits of the hash
const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

/** A body in its identity form alone. Equal bytes always give an equal tag. */
export function uncompressed(json: string | Buffer): Representation {
  const identity = typeof json === 'string' ? bytesOf(json) : json;
  return { etag: entityTag(identity), identity };
}

/** All forms of a body that is sent many times. Compression begins at 1 kB. */
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

/** True when nothing has to be compressed to send a coding: the form is there, or the body too short for one. */
export function holdsForm(
  representation: Representation,
  coding: Coding,
  compressedFrom = COMPRESSED_FROM_BYTES,
): boolean {
  return representation[coding] !== undefined || representation.identity.length < compressedFrom;
}

/** Forms being made, so that clients who ask for the same one together wait for one compression. */
const inTheMaking = new WeakMap<Representation, Map<Coding, Promise<Representation>>>();

/** The same body with the form that a coding needs. */
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

/** The quoted tag of a content: equal contents have equal tags. */
export function entityTag(content: string | Buffer): string {
  return `"${hash('sha256', content, 'base64url').slice(0, TAG_CHARACTERS)}"`;
}

/** A text's bytes. `Buffer.from` cuts short ones from shared blocks, which stay in memory for as long as one piece. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/** zlib hands out small pieces of blocks of 16 kB, which would all stay in memory for as long as a piece is kept. */
function inOwnBlock(piece: Buffer): Buffer {
  const block = Buffer.allocUnsafeSlow(piece.length);
  piece.copy(block);
  return block;
}

/** Age of a stored answer in whole seconds, as its header says it. */
export function ageS({ storedAt }: { readonly storedAt: number }, now: number): string {
  return String(Math.max(0, Math.floor((now - storedAt) / 1000)));
}

/** The bytes that all forms of a representation hold in memory. */
export function byteSize({ identity, br, gzip: gz }: Representation): number {
  return identity.length + (br?.length ?? 0) + (gz?.length ?? 0);
}

/** The entity tag of one form: two codings of one body are different bytes and need different strong tags (RFC 9110, 8.8.3.3). */
export function formTag(etag: string, coding: Coding): string {
  if (coding === 'identity') return etag;
  return `${etag.slice(0, -1)}-${coding === 'br' ? 'br' : 'gz'}"`;
}
