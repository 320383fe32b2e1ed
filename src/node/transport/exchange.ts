import type { Dispatcher, Pool } from 'undici';
import { boundedBody, KNOWN_CODINGS, leave, UnreadableBody } from '#http/fetch/bounded-body.ts';
import { retryAfterMs } from '#http/fetch/retry-after.ts';
import { hiding, readAddress } from '#http/fetch/secret-address.ts';
import { type ParseSlot, parseSlots } from '#lib/json-text/parse-thread.ts';
import { VERSION } from '#lib/version.ts';
import { NodeFailure, type NodeFault } from './errors.ts';

/** Bytes above which an answer counts as large: parsing it would block the event loop for 10 ms and more. */
const LARGE_BYTES = 2 ** 20;
/** Large answers that this process holds at a time. Shared by all nodes, because its memory is. */
const largeSlots = parseSlots(2);
/** Bytes above which an answer is read and parsed alone: it takes ten times its length. */
const HUGE_BYTES = 16 * 2 ** 20;
const hugeSlot = parseSlots(1);

export interface NodeLimits {
  /** Time for a whole answer, to its last byte, in milliseconds. */
  readonly timeoutMs: number;
  /** Most bytes of one answer, before and after decompression. */
  readonly maxAnswerBytes: number;
}

/** Error for an answer above the limit of bytes. */
export class TooManyBytes extends Error {
  override readonly name = 'TooManyBytes';
}

/** An answer of a node, and its length in bytes. */
interface NodeAnswer {
  readonly value: unknown;
  readonly bytes: number;
}

/** HTTP requests to one node. Redirects are not followed. */
export interface NodeExchange {
  /** Host name, without credentials. */
  readonly host: string;
  /**
   * Posts a JSON text and parses the answer; a large one in a thread.
   * @throws NodeFailure, TooManyBytes, or the signal's reason
   */
  post(body: string, signal: AbortSignal): Promise<NodeAnswer>;
  /** Bytes of all answers so far. */
  bytes(): number;
  /** Removes the keys in the node's address from a text that the node sent, and shortens it. */
  withoutSecrets(text: string): string;
}

const POOL = {
  connections: 16,
  keepAliveTimeout: 4_000,
  allowH2: false,
  pipelining: 1,
  // The deadline of the whole answer is ours.
  headersTimeout: 0,
  bodyTimeout: 0,
} as const;

/** Most bytes that are read of an answer with an error status. */
const MAX_REFUSAL_BYTES = 64 * 1024;
const MAX_EXCERPT = 200;
/** Failures of a connection that was kept open and that the node had closed. Nothing was answered. */
const CLOSED_MEANWHILE: readonly unknown[] = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

/** Opens the connections to a node with the first request. @throws TypeError for an invalid address */
export function nodeExchange(url: string, { timeoutMs, maxAnswerBytes }: NodeLimits): NodeExchange {
  const address = readAddress(url);
  const host = new URL(url).hostname;
  const hide = hiding(address.secrets);
  const withoutSecrets = (text: string) =>
    hide(text.slice(0, 10 * MAX_EXCERPT))
      .replaceAll(/\s+/g, ' ')
      .trim()
      .slice(0, MAX_EXCERPT);
  const headers = {
    ...address.headers,
    'content-type': 'application/json',
    accept: 'application/json',
    'accept-encoding': KNOWN_CODINGS,
    'user-agent': `tollgate/${VERSION}`,
  };
  const target = address.target('') || '/';
  let bytes = 0;
  let opening: Promise<Pool> | undefined;

  function pool(): Promise<Pool> {
    opening ??= import('undici').then(({ Pool }) => new Pool(address.origin, POOL));
    return opening;
  }

  function failure(fault: NodeFault, facts: { status?: number; cause?: unknown; excerpt?: string } = {}) {
    return new NodeFailure({ host, fault, ...facts });
  }

  async function send(body: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const request = { method: 'POST', path: target, headers, body, signal } as const;
    const connections = await pool();
    try {
      return await connections.request(request);
    } catch (error) {
      signal.throwIfAborted();
      if (!CLOSED_MEANWHILE.includes(codeOf(error))) throw failure('unreachable', { cause: error });
    }
    try {
      return await connections.request(request);
    } catch (error) {
      signal.throwIfAborted();
      throw failure('unreachable', { cause: error });
    }
  }

  async function refusal({ statusCode: status, headers: given, body }: Dispatcher.ResponseData) {
    const coding = single(given['content-encoding']);
    const text = await boundedBody(body, { coding, maxBytes: MAX_REFUSAL_BYTES }).catch(() => undefined);
    return new NodeFailure({
      host,
      fault: status === 429 ? 'limited' : 'refused',
      status,
      retryAfterMs: retryAfterMs(given['retry-after'], Date.now()),
      excerpt: text === undefined ? undefined : withoutSecrets(text.toString()),
    });
  }

  async function post(body: string, given: AbortSignal): Promise<NodeAnswer> {
    const deadline = pausableDeadline(timeoutMs);
    const signal = AbortSignal.any([given, deadline.signal]);
    let slot: ParseSlot | undefined;
    let alone: ParseSlot | undefined;
    /** Waits for its places as the answer grows. Waiting for other answers costs none of the node's time. */
    const makeRoom = async (length: number) => {
      const isComplete = length > HUGE_BYTES ? alone !== undefined : slot !== undefined;
      if (length <= LARGE_BYTES || isComplete) return;
      using _ = deadline.pause();
      slot ??= await largeSlots.take(given);
      if (length > HUGE_BYTES) alone = await hugeSlot.take(given);
    };
    try {
      const response = await send(body, signal);
      const { statusCode: status, headers: answered } = response;
      if (status >= 300 && status < 400) {
        leave(response.body);
        throw failure('refused', { status });
      }
      if (status !== 200) throw await refusal(response);
      const read = await boundedBody(response.body, {
        coding: single(answered['content-encoding']),
        announced: Number(answered['content-length'] ?? 0),
        maxBytes: maxAnswerBytes,
        onBytes: makeRoom,
      });
      bytes += read.byteLength;
      using _ = deadline.pause();
      const value = slot === undefined ? JSON.parse(read.toString()) : await slot.parse(read);
      return { value, bytes: read.byteLength };
    } catch (error) {
      given.throwIfAborted();
      if (deadline.signal.aborted) throw failure('timeout', { cause: error });
      if (error instanceof SyntaxError) throw failure('unreadable', { cause: error });
      if (!(error instanceof UnreadableBody)) throw error;
      if (error.fault === 'too_long') {
        bytes += maxAnswerBytes;
        throw new TooManyBytes(`more than ${maxAnswerBytes} bytes`, { cause: error });
      }
      throw failure(error.fault === 'broken_off' ? 'unreachable' : 'unreadable', { cause: error });
    } finally {
      deadline.end();
      alone?.[Symbol.dispose]();
      slot?.[Symbol.dispose]();
    }
  }

  return { host, post, bytes: () => bytes, withoutSecrets };
}

/** A deadline that can stand still. Its signal aborts when the time has passed. */
function pausableDeadline(timeoutMs: number) {
  const late = new AbortController();
  let leftMs = timeoutMs;
  let startedAt = performance.now();
  let timer = setTimeout(() => late.abort(), leftMs);
  return {
    signal: late.signal,
    pause(): Disposable {
      clearTimeout(timer);
      leftMs -= performance.now() - startedAt;
      return {
        [Symbol.dispose]() {
          startedAt = performance.now();
          timer = setTimeout(() => late.abort(), Math.max(leftMs, 0));
        },
      };
    },
    end: () => clearTimeout(timer),
  };
}

/** Joins a repeated header. The joined value matches no known value. */
function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Code of an error of the connection. */
function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
