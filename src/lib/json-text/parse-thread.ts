import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { assembly, type Piece, type Root } from './pieces.ts';

/** Options of parsing a text. */
interface ParseOptions {
  /** True for bigints in place of integers beyond 2^53. */
  readonly exactIntegers?: boolean;
  /** Most keys and items, over all levels. */
  readonly maxMembers?: number;
}

/** Bytes of a JSON text, and the port on which each message asks for a reply. */
export interface ParseRequest extends ParseOptions {
  readonly bytes: Uint8Array;
  readonly port: MessagePort;
}

/** The pieces of a value and then its root, or a failure. */
export type ParseReply =
  | { readonly kind: 'piece'; readonly piece: Piece }
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
/** Bytes of a text after which the thread ends at once: it has no other way to return their memory soon. */
const ENDS_AFTER_BYTES = 16 * 2 ** 20;
/** Heap of the thread. A text that is one long string needs a few times its length. */
const HEAP_MIB = 512;
/** Pieces under way: one is put together while the next one is cut. */
const PIECES_UNDER_WAY = 2;

/** Thread that parses JSON texts, one at a time. It starts with the first text and ends when it is not used. */
export interface ParseThread {
  /**
   * Resolves with the value. The bytes are moved to the thread.
   * @throws TooManyMembers; SyntaxError, also when memory runs out
   */
  parse(bytes: Uint8Array, options?: ParseOptions): Promise<unknown>;
}

/** Creates a thread that starts when it is needed. */
function parseThread(): ParseThread {
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
      const end = endOf(thread);
      try {
        const request: ParseRequest = { ...options, bytes, port: port2 };
        thread.ref();
        thread.postMessage(request, [port2, ...movable(bytes)]);
        return await Promise.race([assembled(port1), end.failure]);
      } finally {
        end.forget();
        port1.close();
        thread.unref();
        ending = setTimeout(() => {
          // A text that comes before it has ended gets another thread.
          if (worker === thread) worker = undefined;
          void thread.terminate();
        }, unusedMs).unref();
      }
    },
  };
}

/** Rejects with a SyntaxError when a thread ends. */
function endOf(thread: Worker) {
  const { promise: failure, reject } = Promise.withResolvers<never>();
  const end = (error?: unknown) =>
    reject(new SyntaxError('The answer needs too much memory.', { cause: error }));
  const onExit = () => end();
  thread.once('error', end);
  thread.once('exit', onExit);
  return {
    failure,
    forget(): void {
      thread.off('error', end);
      thread.off('exit', onExit);
    },
  };
}

/**
 * Asks for pieces and puts them together. Few are under way, so that they neither fill the memory nor block the event
 * loop.
 */
function assembled(port: MessagePort): Promise<unknown> {
  const { add, result } = assembly();
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const ask = () => port.postMessage(null);
  port.on('message', (reply: ParseReply) => {
    if (reply.kind === 'too_many') reject(new TooManyMembers('The answer has too many keys and items.'));
    else if (reply.kind === 'unreadable') reject(new SyntaxError('The answer is no JSON.'));
    else if (reply.kind === 'parsed') resolve(result(reply.root));
    else {
      add(reply.piece);
      ask();
    }
  });
  for (let count = 0; count < PIECES_UNDER_WAY; count += 1) ask();
  return promise;
}

/** The memory of the bytes, when it is theirs alone. */
function movable({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}

/** A place for one large JSON text. It is given back when its value has arrived. */
export interface ParseSlot extends Disposable {
  parse: ParseThread['parse'];
}

/** Places for so many large JSON texts at a time, in the order of their requests. Each has a thread. */
export function parseSlots(count: number) {
  const free: ParseThread[] = Array.from({ length: count }, parseThread);
  const waiting: ((thread: ParseThread) => void)[] = [];

  function giveBack(thread: ParseThread): void {
    const next = waiting.shift();
    if (next === undefined) free.push(thread);
    else next(thread);
  }

  return {
    /** Waits for a place. @throws the signal's reason when it aborts first */
    async take(signal: AbortSignal): Promise<ParseSlot> {
      signal.throwIfAborted();
      const thread = free.pop() ?? (await nextFree(signal));
      let isTaken = true;
      return {
        parse: thread.parse,
        [Symbol.dispose]() {
          if (isTaken) giveBack(thread);
          isTaken = false;
        },
      };
    },
  };

  function nextFree(signal: AbortSignal): Promise<ParseThread> {
    const { promise, resolve, reject } = Promise.withResolvers<ParseThread>();
    const abort = () => {
      waiting.splice(waiting.indexOf(resolve), 1);
      reject(signal.reason);
    };
    waiting.push(resolve);
    signal.addEventListener('abort', abort, { once: true });
    return promise.finally(() => signal.removeEventListener('abort', abort));
  }
}
