import { type ParseThread, parseThread } from './parse-thread.ts';

/** Bytes above which an answer counts as large: parsing it would block the event loop for 10 ms and more. */
export const LARGE_BYTES = 2 ** 20;
/** Large answers that this process holds at a time, of all nodes. */
const AT_A_TIME = 2;

/** A place for one large answer. It is given back when its value has arrived. */
export interface LargeSlot extends Disposable {
  parse(bytes: Uint8Array): Promise<unknown>;
}

/** Places for large answers, in the order of their requests. */
function largeAnswers() {
  const free: ParseThread[] = Array.from({ length: AT_A_TIME }, parseThread);
  const waiting: ((thread: ParseThread) => void)[] = [];

  function giveBack(thread: ParseThread): void {
    const next = waiting.shift();
    if (next === undefined) free.push(thread);
    else next(thread);
  }

  return {
    /** Waits for a place. @throws the signal's reason when it aborts first */
    async take(signal: AbortSignal): Promise<LargeSlot> {
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

/** Shared by all nodes of a process, because its memory is. */
export const largeSlots = largeAnswers();
