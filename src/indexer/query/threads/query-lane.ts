import type { Clock } from '#lib/clock.ts';
import type { Query } from '../engine.ts';
import { QueriesBusy } from '../query.ts';
import type { ThreadAnswer } from './messages.ts';
import { type LeftBehind, type QueriedIndex, type QueryThread, queryThread } from './query-thread.ts';

/** Wait for a thread, in milliseconds, after which a query is refused. Decision 164. */
const WAIT_MS = 1_000;
/** The same while another query of the same request runs or has run. */
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
  /** Memory of one thread, in bytes. */
  readonly threadBytes: number;
  /** Threads that work, with those that were left behind, beyond which no query starts. */
  readonly mostThreads: number;
  readonly leftBehind: LeftBehind;
}

/** Threads with a bounded queue in front of them. */
export function queryLane(options: QueryLaneOptions) {
  const { threads, mostThreads, leftBehind, clock } = options;
  const waiting: Job[] = [];
  const all = Array.from({ length: threads }, () => queryThread({ ...options, onEnded: startWaiting }));
  const idle = [...all];
  /** Requests of which a query has started. */
  const begun = new WeakSet<object>();
  let isClosed = false;

  function startWaiting(): void {
    for (;;) {
      if (waiting.length === 0) return;
      if (all.length - idle.length + leftBehind.count >= mostThreads) return;
      // The one that was busy last has the warmest cache.
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
      // The system has no thread or no memory to give just now.
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
    // A statement that does not end inside SQLite may run for long.
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

  /** The work that a request has had done already would be lost with its last chain. */
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
