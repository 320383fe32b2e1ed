import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import type { Dispatcher } from 'undici';

/** Supported codings for `Accept-Encoding`. */
export const KNOWN_CODINGS = 'gzip, br';

/** Faults of a body: longer than allowed, in an unknown or invalid compression, or truncated. */
export type BodyFault = 'too_long' | 'unknown_coding' | 'not_decompressed' | 'broken_off';

/** Error for a body that was not read to its end. Its cause is the stream's or zlib's error, if any. */
export class UnreadableBody extends Error {
  readonly fault: BodyFault;

  constructor(fault: BodyFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnreadableBody';
    this.fault = fault;
  }
}

/** A map, because a host may send the name of an object's built-in member as a coding. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['br', () => createBrotliDecompress({ chunkSize: 65_536 })],
  ['gzip', () => createGunzip({ chunkSize: 65_536 })],
]);

class TooLong extends Error {}

interface BodyReading {
  /** The `Content-Encoding`; `identity` when absent. */
  readonly coding?: string | undefined;
  /** The `Content-Length`; 0 when absent. */
  readonly announced?: number;
  /** Most bytes, before and after decompression. */
  readonly maxBytes: number;
  /** Called with the decompressed length so far. Nothing more is read until it resolves. */
  readonly onBytes?: ((length: number) => Promise<void>) | undefined;
}

/** Reads the first bytes of a body, as far as they arrive in time, and leaves the rest. Never rejects. */
export async function beginning(body: Readable, bytes: number, withinMs: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  const timer = setTimeout(() => body.destroy(), withinMs);
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= bytes) break;
    }
  } catch {
    // A body that breaks off has a beginning all the same.
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).subarray(0, bytes);
}

/**
 * Reads the bytes of a body and decompresses them as a stream, so that reading stops as soon as the result is too long.
 * @throws UnreadableBody; `broken_off` when `onBytes` rejects
 */
export async function boundedBody(
  body: Readable,
  { coding = 'identity', announced = 0, maxBytes, onBytes }: BodyReading,
): Promise<Buffer> {
  const named = coding.trim().toLowerCase();
  const decoder = DECODERS.get(named)?.();
  if (decoder === undefined && named !== 'identity') {
    leave(body);
    throw new UnreadableBody('unknown_coding', 'the body is compressed in an unknown way');
  }
  if (announced > maxBytes) {
    leave(body);
    throw new UnreadableBody('too_long', `more than ${maxBytes} bytes`);
  }
  const collected = collection(decoder === undefined ? announced : 0);
  const collect = async (source: AsyncIterable<Uint8Array>) => {
    for await (const chunk of atMost(maxBytes, source)) {
      const length = collected.add(chunk);
      await onBytes?.(length);
    }
  };
  try {
    if (decoder === undefined) await pipeline(body, collect);
    else
      await pipeline(body, (source: AsyncIterable<Uint8Array>) => atMost(maxBytes, source), decoder, collect);
  } catch (cause) {
    leave(body);
    throw unreadable(cause);
  }
  return collected.bytes();
}

/** Length from which the bytes of an announced length are put in their place. An announcement alone takes no memory. */
const PLACED_FROM = 2 ** 20;

/** Collects the bytes of a body. Those of an announced length are not copied again in the end. */
function collection(announced: number) {
  let chunks: Uint8Array[] = [];
  let length = 0;
  let whole: Buffer | undefined;

  return {
    /** Returns the length so far. @throws RangeError for more bytes than announced */
    add(chunk: Uint8Array): number {
      const start = length;
      length += chunk.byteLength;
      if (whole !== undefined) whole.set(chunk, start);
      else chunks.push(chunk);
      if (whole === undefined && length >= PLACED_FROM && announced >= length) {
        whole = Buffer.allocUnsafeSlow(announced);
        whole.set(Buffer.concat(chunks));
        chunks = [];
      }
      return length;
    },
    bytes: (): Buffer => whole?.subarray(0, length) ?? Buffer.concat(chunks),
  };
}

/** Reads and discards a body, up to a limit of bytes and time, so that its connection can be used again. */
export function drop(body: Dispatcher.ResponseData['body'], maxBytes: number, withinMs: number): void {
  const timer = setTimeout(() => body.destroy(), withinMs);
  const forget = () => clearTimeout(timer);
  // A truncated body does not change the status.
  body.dump({ limit: maxBytes }).then(forget, forget);
}

/** Discards a body that is not needed. */
export function leave(body: Readable): void {
  // Without a listener the error that this causes would end the process.
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
  // zlib's error codes. A compressed body can be truncated within a complete response.
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return /^(Z_|ERR__)/.test(code)
    ? new UnreadableBody('not_decompressed', 'the body could not be decompressed', { cause })
    : new UnreadableBody('broken_off', 'the body broke off', { cause });
}
