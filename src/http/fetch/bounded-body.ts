import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip } from 'node:zlib';

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
  /** Most bytes, before and after decompression. */
  readonly maxBytes: number;
  /** Called with the decompressed length so far. Nothing more is read until it resolves. */
  readonly onBytes?: ((length: number) => Promise<void>) | undefined;
}

/**
 * Reads the bytes of a body and decompresses them as a stream, so that reading stops as soon as the result is too long.
 * @throws UnreadableBody; `broken_off` when `onBytes` rejects
 */
export async function boundedBody(
  body: Readable,
  { coding = 'identity', maxBytes, onBytes }: BodyReading,
): Promise<Buffer> {
  const named = coding.trim().toLowerCase();
  const decoder = DECODERS.get(named)?.();
  if (decoder === undefined && named !== 'identity') {
    leave(body);
    throw new UnreadableBody('unknown_coding', 'the body is compressed in an unknown way');
  }
  const collected = collection(maxBytes);
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

/** Length from which bytes are collected in a memory that grows. Chunks would stay in memory until they are joined. */
const GROWS_FROM = 2 ** 20;

/** Collects the bytes of a body, at most `maxBytes`. */
function collection(maxBytes: number) {
  let chunks: Uint8Array[] = [];
  let length = 0;
  let memory: ArrayBuffer | undefined;

  function append(chunk: Uint8Array, to: ArrayBuffer): void {
    const place = to.byteLength;
    to.resize(place + chunk.byteLength);
    new Uint8Array(to, place).set(chunk);
  }

  return {
    /** Returns the length so far. */
    add(chunk: Uint8Array): number {
      length += chunk.byteLength;
      chunks.push(chunk);
      if (length < GROWS_FROM) return length;
      memory ??= new ArrayBuffer(0, { maxByteLength: maxBytes });
      for (const one of chunks) append(one, memory);
      chunks = [];
      return length;
    },
    /** Ends the collection. Not every function accepts a memory that may grow, and reading from it is slow. */
    bytes: (): Buffer =>
      memory === undefined ? Buffer.concat(chunks) : Buffer.from(memory.transferToFixedLength()),
  };
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
