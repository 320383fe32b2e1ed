import { type ParseThread, parseThread } from './parse-thread.ts';

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
