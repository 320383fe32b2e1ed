import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip } from 'node:zlib';

/** The codings of `Accept-Encoding` that are understood. */
export const KNOWN_CODINGS = 'gzip, br';

/** What may be wrong with a body: longer than allowed, compressed in an unknown or broken way, or cut short. */
export type BodyFault = 'too_long' | 'unknown_coding' | 'not_decompressed' | 'broken_off';

/** A body that was not read to its end. Its cause is the stream's or zlib's error, if there was one. */
export class UnreadableBody extends Error {
  readonly fault: BodyFault;

  constructor(fault: BodyFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnreadableBody';
    this.fault = fault;
  }
}

/** A map, because a host may name a coding like a member of every object. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['br', () => createBrotliDecompress({ chunkSize: 65_536 })],
  ['gzip', () => createGunzip({ chunkSize: 65_536 })],
]);

class TooLong extends Error {}

/**
 * The bytes of a body, decompressed on the way so that one which grows without end is left as soon as it is too long.
 * `coding` as in `Content-Encoding`; the limit counts bytes before and after decompression.
 * @throws UnreadableBody
 */
export async function boundedBody(
  body: Readable,
  { coding = 'identity', maxBytes }: { coding?: string | undefined; maxBytes: number },
): Promise<Buffer> {
  const named = coding.trim().toLowerCase();
  const decoder = DECODERS.get(named)?.();
  if (decoder === undefined && named !== 'identity') {
    leave(body);
    throw new UnreadableBody('unknown_coding', 'the body is compressed in an unknown way');
  }
  const chunks: Uint8Array[] = [];
  const collect = async (source: AsyncIterable<Uint8Array>) => {
    for await (const chunk of atMost(maxBytes, source)) chunks.push(chunk);
  };
  try {
    if (decoder === undefined) await pipeline(body, collect);
    else
      await pipeline(body, (source: AsyncIterable<Uint8Array>) => atMost(maxBytes, source), decoder, collect);
  } catch (cause) {
    leave(body);
    throw unreadable(cause);
  }
  return Buffer.concat(chunks);
}

/** Ends a body that nobody wants. */
export function leave(body: Readable): void {
  // Without a listener the error that ends the body would end the process.
  body.on('error', () => undefined).destroy();
}

async function* atMost(maxBytes: number, source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new TooLong(`more than ${maxBytes} bytes`);
    yield chunk;
  }
}

function unreadable(cause: unknown): UnreadableBody {
  if (cause instanceof TooLong) return new UnreadableBody('too_long', cause.message, { cause });
  // zlib's codes; a compressed body can be cut short within a complete response.
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return /^(Z_|ERR__)/.test(code)
    ? new UnreadableBody('not_decompressed', 'the body could not be decompressed', { cause })
    : new UnreadableBody('broken_off', 'the body broke off', { cause });
}
