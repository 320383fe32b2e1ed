import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { codeOf, unavailable } from './incident.ts';

/** The longest answer that is read, in bytes after decompression. */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** A refusal is a sentence; whoever sends more with a status of 300 or above has nothing to say. */
export const MAX_REFUSAL_BYTES = 64 * 1024;

/** A response whose body has not been read. */
export interface Unread {
  readonly status: number;
  /** As sent; nothing for a body that is not compressed. */
  readonly encoding: string | undefined;
  readonly body: Readable;
}

const DECODERS: Readonly<Record<string, () => Transform>> = {
  br: () => createBrotliDecompress({ chunkSize: 65_536 }),
  gzip: () => createGunzip({ chunkSize: 65_536 }),
};

class TooLong extends Error {}

/**
 * The text of a body, decompressed on the way so that one which grows without end is left as soon as it is too long.
 * @throws BackendError `unavailable`; its incident is a transport fault when the connection ended within the body.
 */
export async function readBody({ status, encoding, body }: Unread): Promise<string> {
  const named = (encoding ?? 'identity').trim().toLowerCase();
  const decoder = DECODERS[named]?.();
  if (decoder === undefined && named !== 'identity') {
    // Without a listener the error that ends the body would end the process.
    body.on('error', () => undefined).destroy();
    throw unavailable('its answer was compressed in an unknown way', { status });
  }
  const limitBytes = status < 300 ? MAX_ANSWER_BYTES : MAX_REFUSAL_BYTES;
  const chunks: Uint8Array[] = [];
  const collect = async (source: AsyncIterable<Uint8Array>) => {
    for await (const chunk of atMost(limitBytes, source)) chunks.push(chunk);
  };
  try {
    if (decoder === undefined) await pipeline(body, collect);
    else
      await pipeline(
        body,
        (source: AsyncIterable<Uint8Array>) => atMost(limitBytes, source),
        decoder,
        collect,
      );
  } catch (cause) {
    throw failure(status, cause);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

async function* atMost(limitBytes: number, source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.byteLength;
    if (bytes > limitBytes) throw new TooLong(`more than ${limitBytes} bytes`);
    yield chunk;
  }
}

function failure(status: number, cause: unknown) {
  if (cause instanceof TooLong)
    return unavailable('its answer was too long', { status, cause }, 'unreadable');
  // zlib's codes; a compressed body can be cut short within a complete response.
  if (/^(Z_|ERR__)/.test(codeOf(cause) ?? ''))
    return unavailable('its answer could not be decompressed', { status, cause });
  return unavailable('its answer broke off', { status, isTransport: true, cause });
}
