import type { ServerResponse } from 'node:http';
import type { Middleware } from 'koa';
import { type Client, limitKey } from '../client-address.ts';
import { HttpError } from '../errors.ts';

/** Bytes of unfinished responses that one client address may have in a process (Decision 275). */
const MAX_PER_ADDRESS = 64 * 2 ** 20;
/** Suggested retry delay in seconds, enough to read some of the earlier responses. */
const RETRY_AFTER_S = 5;

/**
 * Sizes of unfinished responses by client address (IPv6: /64). A response counts with its whole length until its last
 * byte is passed to the operating system. See `limitKey` for clients that are not counted.
 */
export interface UnsentBytes {
  /**
   * False when a response of this length must not be sent, because earlier ones wait. A single response may have any
   * length.
   */
  hasRoom(client: Client, bytes: number): boolean;
  /** Counts a response until it is finished or its connection breaks. */
  count(client: Client, bytes: number, response: ServerResponse): void;
}

export function unsentBytes(): UnsentBytes {
  const unsent = new Map<string, number>();

  return {
    hasRoom(client, bytes) {
      if (unsent.size === 0) return true;
      const held = unsent.get(limitKey(client) ?? '') ?? 0;
      return held === 0 || held + bytes <= MAX_PER_ADDRESS;
    },
    count(client, bytes, response) {
      const key = limitKey(client);
      if (key === undefined || bytes === 0 || response.closed) return;
      unsent.set(key, (unsent.get(key) ?? 0) + bytes);
      response.once('close', () => {
        const left = (unsent.get(key) ?? 0) - bytes;
        if (left > 0) unsent.set(key, left);
        else unsent.delete(key);
      });
    },
  };
}

/**
 * Refuses requests of a client that does not read its responses with 429: before any work once it has reached the
 * limit, and in place of an answer that would exceed it. A change that took effect is always answered.
 */
export function readersOnly(unsent: UnsentBytes): Middleware {
  return async (ctx, next) => {
    const { client } = ctx.state;
    if (!unsent.hasRoom(client, 1)) throw tooMuchUnread();
    await next();
    if (ctx.method === 'HEAD') return;
    const bytes = lengthOf(ctx.body);
    if (ctx.method === 'GET' && !unsent.hasRoom(client, bytes)) throw tooMuchUnread();
    unsent.count(client, bytes, ctx.res);
  };
}

function tooMuchUnread(): HttpError {
  return new HttpError(
    429,
    'Earlier responses to your address are not read yet: read them before you ask for more',
    {
      headers: { 'Retry-After': String(RETRY_AFTER_S) },
    },
  );
}

/** Length of a prepared body. Koa writes other bodies as JSON; they are short. */
function lengthOf(body: unknown): number {
  if (Buffer.isBuffer(body)) return body.length;
  return typeof body === 'string' ? Buffer.byteLength(body) : 0;
}
