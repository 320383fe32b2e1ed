import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/**
 * A JSON body ready to be sent: its bytes as they are and, from 1 kB on, compressed.
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
/** Quality of Brotli for bodies that are made while a client waits; files that are kept for ever can afford more. */
const QUICK_BROTLI = 4;
const TAG_CHARACTERS = 22; // 132 bits of the hash
const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

/**
 * Makes the forms of a body; compression runs in the thread pool and begins at `compressedFrom` bytes. Equal bytes always
 * give an equal tag.
 */
export async function represent(
  json: string | Buffer,
  {
    compressedFrom = COMPRESSED_FROM_BYTES,
    brotliQuality = QUICK_BROTLI,
  }: { compressedFrom?: number | undefined; brotliQuality?: number } = {},
): Promise<Representation> {
  const identity = typeof json === 'string' ? Buffer.from(json) : json;
  const etag = entityTag(identity);
  if (identity.length < compressedFrom) return { etag, identity };
  const [br, gz] = await Promise.all([
    toBrotli(identity, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: identity.length,
      },
    }),
    toGzip(identity, { level: 6 }),
  ]);
  return { etag, ...inOneBlock(identity, br, gz) };
}

/** The quoted tag of a content: equal contents have equal tags. */
export function entityTag(content: string | Buffer): string {
  return `"${hash('sha256', content, 'base64url').slice(0, TAG_CHARACTERS)}"`;
}

/** zlib hands out small pieces of blocks of 64 kB, which would all stay in memory for as long as a piece is kept. */
function inOneBlock(identity: Buffer, br: Buffer, gz: Buffer): Required<Omit<Representation, 'etag'>> {
  const block = Buffer.allocUnsafeSlow(identity.length + br.length + gz.length);
  const afterIdentity = identity.copy(block);
  const afterBr = afterIdentity + br.copy(block, afterIdentity);
  gz.copy(block, afterBr);
  return {
    identity: block.subarray(0, afterIdentity),
    br: block.subarray(afterIdentity, afterBr),
    gzip: block.subarray(afterBr),
  };
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
