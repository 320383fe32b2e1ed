import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { DatabaseOptions } from '#db/open.ts';
import type { Clock } from '#lib/clock.ts';
import { Unavailable } from '#lib/unavailable.ts';
import type { Query } from '../engine.ts';
import { QueryTooLarge } from '../query.ts';
import type { ThreadAnswer, WorkerMessage, WorkerReply, WorkerSetup } from './messages.ts';

const WORKER = new URL('./worker.ts', import.meta.url);
/** A query that was told to end and has not after this long is left behind with its thread, also by `close`. */
const GRACE_MS = 2_000;
const MIB = 2 ** 20;
/** Part of a thread's memory for new objects, which V8 bounds apart from the others. */
const YOUNG_MIB = 16;

/** An index that queries are about. */
export interface QueriedIndex {
  readonly database: DatabaseOptions;
  /** JSON text of the ABIs to decode by. */
  abis(): string;
}

/** A query with its index, until its caller gives up. */
export interface ThreadRequest {
  readonly index: QueriedIndex;
  readonly query: Query;
  readonly signal: AbortSignal;
}

/** One thread for queries, which asks for the next one only when it is free. */
export interface QueryThread {
  /**
   * Runs a query; only one at a time. `free` never rejects and resolves when the next may come, which can be after the
   * answer was rejected. @throws when no thread could be started
   */
  ask(request: ThreadRequest): { answer: Promise<ThreadAnswer>; free: Promise<void> };
  /** Starts the thread; resolves when it takes queries, or has failed to start. */
  warmUp(): Promise<void>;
  /**
   * Ends the query that runs and the thread, and waits for all threads that it has started and that have not ended,
   * for two seconds at most. A thread that has not ended by then keeps the process alive.
   */
  close(): Promise<void>;
}

interface RunningQuery {
  readonly worker: Worker;
  readonly cancelled: Int32Array;
  /** Indexes whose ABIs the worker has. */
  readonly decodes: Set<QueriedIndex>;
}

/** Threads that were left behind with a query and have not ended. */
export interface LeftBehind {
  count: number;
}

export interface QueryThreadOptions {
  /** Memory of the thread, in bytes. A query that needs more is too large. */
  readonly threadBytes: number;
  readonly deadlineMs: number;
  readonly clock: Clock;
  /** Counted up and down by the thread. */
  readonly leftBehind: LeftBehind;
  /** Called when one of those has ended. */
  readonly onEnded: () => void;
}

/** Starts its thread at the first query, and another one when that is gone. */
export function queryThread(options: QueryThreadOptions): QueryThread {
  const { threadBytes, deadlineMs, clock, leftBehind, onEnded } = options;
  let running: RunningQuery | undefined;
  /** With those that were replaced or left behind. */
  const notEnded = new Set<Worker>();
  let isClosing = false;

  function start(): RunningQuery {
    const cacheBytes = Math.floor(threadBytes / 4);
    const setup: WorkerSetup = {
      cancelled: new Int32Array(new SharedArrayBuffer(4)),
      deadlineMs,
      cacheBytes,
      // What decodes takes 25 MB of it once loaded: with half, a thread began anew after fifteen decoded pages.
      grownBytes: Math.floor((threadBytes * 5) / 8),
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

  function ask({ index, query, signal }: ThreadRequest) {
    const { worker, cancelled, decodes } = running ?? start();
    const answer = Promise.withResolvers<ThreadAnswer>();
    const free = Promise.withResolvers<void>();
    const ended = new AbortController();

    const onReply = (reply: WorkerReply) => {
      if (reply.kind === 'ready') return;
      if (reply.kind === 'answer') answer.resolve(reply.answer);
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

    /** The caller need not wait for the thread to notice. */
    function end(reason: unknown): void {
      answer.reject(reason);
      Atomics.store(cancelled, 0, 1);
      post(worker, { kind: 'cancel' });
      clock.sleep(GRACE_MS, ended.signal).then(abandon, () => undefined);
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
      onGone(new Error('it did not end when it was told to'));
    }

    clock.sleep(deadlineMs, ended.signal).then(
      () => end(new QueryTooLarge('deadline')),
      () => undefined,
    );
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

  /** The next thread starts now, so that the next query need not wait for it. */
  function replace(worker: Worker): void {
    running = undefined;
    post(worker, { kind: 'close' });
    try {
      start();
    } catch {
      // The next query tries again, and fails with the reason.
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
        // The first query tries again, and fails with the reason.
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
 * A thread that is told to close ends after its query. It is never terminated: better-sqlite3 aborts the whole process
 * when that happens inside a call or while it is being loaded.
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
