import type { Readable } from 'node:stream';
import { type BodyFault, boundedBody, UnreadableBody } from '#http/fetch/bounded-body.ts';
import type { BackendError } from '../port/backend-error.ts';
import { unavailable } from './exchange-error.ts';

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

const SENTENCES: Readonly<Record<BodyFault, string>> = {
  too_long: 'its answer was too long',
  unknown_coding: 'its answer was compressed in an unknown way',
  not_decompressed: 'its answer could not be decompressed',
  broken_off: 'its answer broke off',
};

/**
 * The text of a body, decompressed and bounded.
 * @throws BackendError `unavailable`; its incident is a transport fault when the connection ended within the body.
 */
export async function readBody({ status, encoding, body }: Unread): Promise<string> {
  const maxBytes = status < 300 ? MAX_ANSWER_BYTES : MAX_REFUSAL_BYTES;
  try {
    return new TextDecoder().decode(await boundedBody(body, { coding: encoding, maxBytes }));
  } catch (error) {
    throw error instanceof UnreadableBody ? failure(status, error) : error;
  }
}

function failure(status: number, { fault, cause }: UnreadableBody): BackendError {
  const facts = { status, cause, isTransport: fault === 'broken_off' };
  return unavailable(SENTENCES[fault], facts, fault === 'too_long' ? 'unreadable' : 'failed');
}
