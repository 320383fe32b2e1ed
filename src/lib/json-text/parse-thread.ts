import { setImmediate as nextTurn } from 'node:timers/promises';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { assembly, type Piece, type Root } from './pieces.ts';

/** How a text is parsed. */
export interface ParseOptions {
  /** True for bigints in place of integers beyond 2^53. */
  readonly exactIntegers?: boolean;
  /** Most keys and items, over all levels. */
  readonly maxMembers?: number;
}

/** Bytes of a JSON text, and the port that takes its pieces; null follows the last one. */
export interface ParseRequest extends ParseOptions {
  readonly bytes: Uint8Array;
  readonly port: MessagePort;
}

/** Sent after all pieces. */
export type ParseReply =
  | { readonly kind: 'parsed'; readonly root: Root }
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'too_many' };

/** Error for a text with too many keys and items. */
export class TooManyMembers extends Error {
  override readonly name = 'TooManyMembers';
}

const WORKER = new URL('./parse-worker.ts', import.meta.url);
/** Time after which an unused thread ends, which returns its memory. */
const UNUSED_MS = 5_000;
/** Bytes of a text after which the thread ends at once: its heap has grown to several times as much. */
const ENDS_AFTER_BYTES = 16 * 2 ** 20;
/** Heap of the thread. A text of many small values needs ten times its length. */
const HEAP_MIB = 768;

/** Thread that parses JSON texts, one at a time. It starts with the first text and ends when it is not used. */
export interface ParseThread {
  /**
   * Resolves with the value. The bytes are moved to the thread.
   * @throws TooManyMembers; SyntaxError, also when memory runs out
   */
  parse(bytes: Uint8Array, options?: ParseOptions): Promise<unknown>;
}

/** Creates a thread that starts when it is needed. */
export function parseThread(): ParseThread {
  let worker: Worker | undefined;
  let ending: NodeJS.Timeout | undefined;

  function started(): Worker {
    clearTimeout(ending);
    if (worker !== undefined) return worker;
    const created = new Worker(WORKER, { resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB } });
    created.unref();
    worker = created;
    created.once('exit', () => {
      if (worker === created) worker = undefined;
    });
    return created;
  }

  return {
    async parse(bytes, options = {}) {
      const thread = started();
      const unusedMs = bytes.byteLength > ENDS_AFTER_BYTES ? 0 : UNUSED_MS;
      const { port1, port2 } = new MessageChannel();
      try {
        const request: ParseRequest = { ...options, bytes, port: port2 };
        const reply = replyOf(thread);
        thread.ref();
        thread.postMessage(request, [port2, ...movable(bytes)]);
        const outcome = await reply;
        if (outcome.kind === 'too_many') throw new TooManyMembers('The answer has too many keys and items.');
        if (outcome.kind === 'unreadable') throw new SyntaxError('The answer is no JSON.');
        return await assembled(port1, outcome.root);
      } finally {
        port1.close();
        thread.unref();
        ending = setTimeout(() => void thread.terminate(), unusedMs).unref();
      }
    },
  };
}

/** The reply of a thread that parses. @throws SyntaxError when the thread ends instead */
function replyOf(thread: Worker): Promise<ParseReply> {
  const { promise, resolve, reject } = Promise.withResolvers<ParseReply>();
  const end = (error?: unknown) =>
    reject(new SyntaxError('The answer needs too much memory.', { cause: error }));
  const onExit = () => end();
  thread.once('message', resolve);
  thread.once('error', end);
  thread.once('exit', onExit);
  return promise.finally(() => {
    thread.off('message', resolve);
    thread.off('error', end);
    thread.off('exit', onExit);
  });
}

/** Takes one piece per turn of the event loop. */
async function assembled(port: MessagePort, root: Root): Promise<unknown> {
  const { add, result } = assembly();
  for (;;) {
    const received: { message: Piece | null } | undefined = receiveMessageOnPort(port);
    if (received === undefined || received.message === null) return result(root);
    add(received.message);
    await nextTurn();
  }
}

/** The memory of the bytes, when it is theirs alone. */
function movable({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}
