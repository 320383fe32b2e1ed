import type { Clock } from '#lib/clock.ts';
import type { Query } from '../engine.ts';
import { QueriesBusy } from '../query.ts';
import type { ThreadAnswer } from './messages.ts';
import { type LeftBehind, type QueriedIndex, type QueryThread, queryThread } from './query-thread.ts';

/** Maximum wait for a thread in milliseconds. After that the query is refused (Decision 164). */
const WAIT_MS = 1_000;
/** Maximum wait when a query of the same request is running or has run. */
const WAIT_OF_BEGUN_MS = 5_000;
const MOST_WAITING = 200;

interface Job {
  readonly query: Query;
  readonly index: QueriedIndex;
  readonly signal: AbortSignal;
  readonly request: object | undefined;
  readonly started: PromiseWithResolvers<ThreadAnswer>;
}

export interface QueryLaneOptions {
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly threads: number;
  /** Memory per thread, in bytes. */
  readonly threadBytes: number;
  /** Maximum number of busy and abandoned threads. Beyond it no query starts. */
  readonly mostThreads: number;
  readonly leftBehind: LeftBehind;
}

/** Query threads with a bounded queue. */
export function queryLane(options: QueryLaneOptions) {
  const { threads, mostThreads, leftBehind, clock } = options;
  const waiting: Job[] = [];
  const all = Array.from({ length: threads }, () => queryThread({ ...options, onEnded: startWaiting }));
  const idle = [...all];
  /** Requests with a query that has started. */
  const begun = new WeakSet<object>();
  let isClosed = false;

  function startWaiting(): void {
    for (;;) {
      if (waiting.length === 0) return;
      if (all.length - idle.length + leftBehind.count >= mostThreads) return;
      // The thread that was busy last has the warmest cache.
      const thread = idle.pop();
      const job = thread === undefined ? undefined : waiting.shift();
      if (thread === undefined || job === undefined) return;
      if (job.request !== undefined) begun.add(job.request);
      begin(job, thread);
    }
  }

  function begin(job: Job, thread: QueryThread): void {
    try {
      const { answer, free } = thread.ask(job);
      job.started.resolve(answer);
      void free.then(() => {
        idle.push(thread);
        startWaiting();
      });
    } catch (error) {
      // The system currently has no thread or memory to give.
      idle.push(thread);
      job.started.reject(error);
    }
  }

  async function run(
    asked: { index: QueriedIndex; query: Query },
    { signal, request }: { signal: AbortSignal; request?: object | undefined },
  ): Promise<ThreadAnswer> {
    signal.throwIfAborted();
    if (isClosed) throw new Error('the query engine is closed');
    // Abandoned threads count, because their statements may run inside SQLite for a long time.
    if (leftBehind.count >= mostThreads || waiting.length >= MOST_WAITING) throw new QueriesBusy();
    const job: Job = { ...asked, signal, request, started: Promise.withResolvers() };
    waiting.push(job);
    const giveUp = (reason: unknown) => {
      const position = waiting.indexOf(job);
      if (position < 0) return;
      waiting.splice(position, 1);
      job.started.reject(reason);
    };
    const onAbort = () => giveUp(signal.reason);
    const left = new AbortController();
    signal.addEventListener('abort', onAbort, { once: true });
    startWaiting();
    if (waiting.includes(job)) {
      patience(job, left.signal).then(
        () => giveUp(new QueriesBusy()),
        () => undefined,
      );
    }
    try {
      return await job.started.promise;
    } finally {
      left.abort();
      signal.removeEventListener('abort', onAbort);
    }
  }

  /**
   * Waits as long as a job may wait. A request that has already done work waits longer, because a refusal would waste
   * that work.
   */
  async function patience({ request }: Job, signal: AbortSignal): Promise<void> {
    await clock.sleep(WAIT_MS, signal);
    if (request !== undefined && begun.has(request)) await clock.sleep(WAIT_OF_BEGUN_MS - WAIT_MS, signal);
  }

  return {
    run,
    async warmUp() {
      await Promise.all(all.map(thread => thread.warmUp()));
    },
    async close() {
      isClosed = true;
      for (const job of waiting.splice(0)) job.started.reject(new Error('the query engine is closed'));
      await Promise.all(all.map(thread => thread.close()));
    },
  };
}
