import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type DatabaseOptions, fileOf } from '#db/open.ts';
import type { Clock } from '#lib/clock.ts';
import { Unavailable } from '#lib/unavailable.ts';
import type { Query } from '../engine.ts';
import { QueryTooLarge } from '../query.ts';
import type { ThreadAnswer, WorkerMessage, WorkerReply, WorkerSetup } from './messages.ts';

const WORKER = new URL('./worker.ts', import.meta.url);
/** Time for a cancelled query to end. Afterwards it is abandoned with its thread, also by `close`. */
const GRACE_MS = 2_000;
const MIB = 2 ** 20;
/** Part of a thread's memory for new objects, which V8 limits separately. */
const YOUNG_MIB = 16;

/** Index that queries run over. */
export interface QueriedIndex {
  readonly database: DatabaseOptions;
  /** JSON text of the ABIs to decode by. */
  abis(): string;
}

/** Query with its index. `signal` aborts when the caller gives up. */
export interface ThreadRequest {
  readonly index: QueriedIndex;
  readonly query: Query;
  readonly signal: AbortSignal;
  /** Time after which the query ends with `LimitPassed`, before its deadline. No limit when undefined. */
  readonly limitMs?: number | undefined;
}

/** The query took longer than its limit. It may be run again without one. */
export class LimitPassed extends Error {}

/** Thread that runs one query at a time. */
export interface QueryThread {
  /**
   * Runs a query; only one at a time. `free` never rejects. It resolves when the next query may start, which can be
   * after the answer was rejected.
   * @throws when no thread could be started
   */
  ask(request: ThreadRequest): { answer: Promise<ThreadAnswer>; free: Promise<void> };
  /** Starts the thread. Resolves when it accepts queries or has failed to start. */
  warmUp(): Promise<void>;
  /**
   * Ends the running query and the thread. Waits at most two seconds for all threads that it started.
   * A thread that has not ended by then keeps the process alive.
   */
  close(): Promise<void>;
}

interface RunningQuery {
  readonly worker: Worker;
  readonly cancelled: Int32Array;
  /** Indexes whose ABIs the worker has received. */
  readonly decodes: Set<QueriedIndex>;
}

/** Threads abandoned with a query that have not ended yet. */
export interface LeftBehind {
  count: number;
}

export interface QueryThreadOptions {
  /** Memory of the thread in bytes. A query that needs more fails as too large. */
  readonly threadBytes: number;
  /** As in `WorkerSetup`. */
  readonly niceness: number;
  readonly deadlineMs: number;
  readonly clock: Clock;
  /** Incremented and decremented by the thread. */
  readonly leftBehind: LeftBehind;
  /** Called when an abandoned thread has ended. */
  readonly onEnded: () => void;
}

/** Creates a query thread. The worker starts with the first query and is replaced when it has ended. */
export function queryThread(options: QueryThreadOptions): QueryThread {
  const { threadBytes, niceness, deadlineMs, clock, leftBehind, onEnded } = options;
  let running: RunningQuery | undefined;
  /** Includes replaced and abandoned workers. */
  const notEnded = new Set<Worker>();
  let isClosing = false;

  function start(): RunningQuery {
    const cacheBytes = Math.floor(threadBytes / 4);
    const setup: WorkerSetup = {
      cancelled: new Int32Array(new SharedArrayBuffer(4)),
      deadlineMs,
      cacheBytes,
      // Decoding code takes 25 MB once loaded. With half of the memory as the limit, a thread restarted after fifteen
      // decoded pages.
      grownBytes: Math.floor((threadBytes * 5) / 8),
      niceness,
    };
    const worker = new Worker(WORKER, {
      workerData: setup,
      resourceLimits: {
        maxYoungGenerationSizeMb: YOUNG_MIB,
        maxOldGenerationSizeMb: Math.max(YOUNG_MIB, Math.floor((threadBytes - cacheBytes) / MIB) - YOUNG_MIB),
      },
    });
    const started: RunningQuery = { worker, cancelled: setup.cancelled, decodes: new Set() };
    const forget = () => {
      if (running === started) running = undefined;
    };
    worker.on('error', forget);
    worker.on('exit', forget);
    notEnded.add(worker);
    worker.once('exit', () => notEnded.delete(worker));
    worker.unref();
    running = started;
    return started;
  }

  function ask({ index, query, signal, limitMs }: ThreadRequest) {
    const { worker, cancelled, decodes } = running ?? start();
    const answer = Promise.withResolvers<ThreadAnswer>();
    const free = Promise.withResolvers<void>();
    const ended = new AbortController();
    let isLate = false;

    const onReply = (reply: WorkerReply) => {
      if (reply.kind === 'ready') return;
      if (reply.kind === 'answer') answer.resolve(reply.answer);
      else if (reply.kind === 'cancelled' && isLate) answer.reject(new QueryTooLarge('deadline'));
      else answer.reject(errorOf(reply));
      if (reply.hasGrown && !isClosing) replace(worker);
      finish();
    };
    const onGone = (cause: unknown) => {
      answer.reject(
        isOutOfMemory(cause)
          ? new QueryTooLarge('memory')
          : new Error('the thread of the query is gone', { cause }),
      );
      finish();
    };
    const onAbort = () => end(signal.reason);

    function finish(): void {
      ended.abort();
      signal.removeEventListener('abort', onAbort);
      worker.off('message', onReply).off('error', onGone).off('exit', onGone);
      if (!isClosing) worker.unref();
      free.resolve();
    }

    /** Rejects at once; the caller need not wait for the thread to react. */
    function end(reason: unknown): void {
      answer.reject(reason);
      cancel();
    }

    function cancel(): void {
      Atomics.store(cancelled, 0, 1);
      post(worker, { kind: 'cancel' });
      clock.sleep(GRACE_MS, ended.signal).then(abandon, () => undefined);
    }

    /** Only the thread knows whether a server still works on the query or cannot be reached any more. */
    function pass(): void {
      if (limitMs !== undefined) end(new LimitPassed());
      else if (fileOf(index.database) !== undefined) end(new QueryTooLarge('deadline'));
      else {
        isLate = true;
        cancel();
      }
    }

    /** SQLite cannot be interrupted from JavaScript. The thread closes when its statement returns. */
    function abandon(): void {
      running = undefined;
      leftBehind.count += 1;
      post(worker, { kind: 'close' });
      worker.once('exit', () => {
        leftBehind.count -= 1;
        onEnded();
      });
      if (isLate) answer.reject(new QueryTooLarge('deadline'));
      onGone(new Error('the query did not end after it was cancelled'));
    }

    clock.sleep(limitMs ?? deadlineMs, ended.signal).then(pass, () => undefined);
    signal.addEventListener('abort', onAbort, { once: true });
    worker.on('message', onReply).on('error', onGone).on('exit', onGone);
    worker.ref();
    Atomics.store(cancelled, 0, 0);
    const isFirstToDecode = query.kind === 'rows' && query.decoding !== undefined && !decodes.has(index);
    if (isFirstToDecode) decodes.add(index);
    const abis = isFirstToDecode ? { abis: index.abis() } : {};
    post(worker, { kind: 'query', database: index.database, query, ...abis });
    return { answer: answer.promise, free: free.promise };
  }

  /** Starts the next thread at once, so that the next query need not wait for it. */
  function replace(worker: Worker): void {
    running = undefined;
    post(worker, { kind: 'close' });
    try {
      start();
    } catch {
      // The next query tries again and reports the reason.
    }
  }

  return {
    ask,
    async warmUp() {
      if (running !== undefined) return;
      try {
        const { worker } = start();
        await Promise.race(['message', 'error', 'exit'].map(event => once(worker, event)));
      } catch {
        // The first query tries again and reports the reason.
      }
    },
    async close() {
      isClosing = true;
      if (running !== undefined) {
        Atomics.store(running.cancelled, 0, 1);
        post(running.worker, { kind: 'close' });
      }
      const waited = new AbortController();
      const patience = clock.sleep(GRACE_MS, waited.signal).catch(() => undefined);
      await Promise.race([Promise.all([...notEnded].map(ended)), patience]);
      waited.abort();
    },
  };
}

/** Keeps the process alive until a thread has ended. */
function ended(worker: Worker): Promise<void> {
  worker.ref();
  return new Promise(resolve => {
    worker.once('exit', () => resolve());
  });
}

/**
 * Posts a message. A thread closes after its query and is never terminated: better-sqlite3 aborts the whole process
 * when that happens inside a call or while it is loading.
 */
function post(worker: Worker, message: WorkerMessage): void {
  worker.postMessage(message);
}

function errorOf(reply: Exclude<WorkerReply, { kind: 'ready' | 'answer' }>): Error {
  switch (reply.kind) {
    case 'tooLarge':
      return new QueryTooLarge(reply.reason);
    case 'unavailable':
      return new Unavailable('The database cannot be reached now', new Error(reply.message));
    case 'failed':
      return new Error(reply.message);
    case 'cancelled':
      return new Error('the query was ended');
  }
}

function isOutOfMemory(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
