import type { Clock } from '#lib/clock.ts';
import type { WaitingClients } from '#lib/request-counters.ts';
import { QueriesBusy } from '../query.ts';
import { clientTurns, type Wait } from './client-turns.ts';
import type { ThreadAnswer } from './messages.ts';
import { type LeftBehind, type QueryThread, queryThread, type ThreadRequest } from './query-thread.ts';

/** Maximum wait for a thread in milliseconds. After that the query is refused (Decision 164). */
const WAIT_MS = 1_000;
/** Maximum wait when a query for the same answer is running or has run. */
const WAIT_OF_BEGUN_MS = 5_000;
const MAX_WAITING = 200;

interface Job extends ThreadRequest {
  readonly clients: WaitingClients | undefined;
  readonly started: PromiseWithResolvers<ThreadAnswer>;
  hasBegun: boolean;
  /** Called when the thread is free again, with the time that the query took in it. */
  onFree(ms: number): void;
}

/** Query in a lane, and the clients that wait for it; without clients it takes no turn. */
export interface LaneRequest extends ThreadRequest {
  readonly clients: WaitingClients | undefined;
  /** Time at which a query that still waits for its client's turn is refused. */
  readonly turnBy: number;
  /** Called with the time that the query took in a thread, also when it failed. */
  onRan?(ms: number): void;
}

export interface QueryLaneOptions {
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly threads: number;
  /** Memory per thread, in bytes. */
  readonly threadBytes: number;
  /** As in `WorkerSetup`. */
  readonly niceness: number;
  /** Maximum number of busy and abandoned threads. Beyond it no query starts. */
  readonly mostThreads: number;
  /** Maximum number of answers for which queries of one client wait for their turn. */
  readonly mostWaitingPerClient: number;
  readonly leftBehind: LeftBehind;
}

/**
 * Query threads with a bounded queue. Each client has one query in the queue or in a thread, so that clients take turns
 * whatever the number of their queries.
 */
export function queryLane(options: QueryLaneOptions) {
  const { threads, mostThreads, mostWaitingPerClient, leftBehind, clock } = options;
  const turns = clientTurns({ mostWaiting: mostWaitingPerClient });
  const waiting: Job[] = [];
  const all = Array.from({ length: threads }, () => queryThread({ ...options, onEnded: startWaiting }));
  const idle = [...all];
  /** Answers with a query that has started. */
  const begun = new WeakSet<WaitingClients>();
  let isClosed = false;

  function startWaiting(): void {
    for (;;) {
      if (waiting.length === 0) return;
      if (all.length - idle.length + leftBehind.count >= mostThreads) return;
      // The thread that was busy last has the warmest cache.
      const thread = idle.pop();
      const job = thread === undefined ? undefined : waiting.shift();
      if (thread === undefined || job === undefined) return;
      if (job.clients !== undefined) begun.add(job.clients);
      begin(job, thread);
    }
  }

  function begin(job: Job, thread: QueryThread): void {
    const startedAt = clock.now();
    try {
      const { answer, free } = thread.ask(job);
      job.hasBegun = true;
      job.started.resolve(answer);
      void free.then(() => {
        job.onFree(clock.now() - startedAt);
        idle.push(thread);
        startWaiting();
      });
    } catch (error) {
      // The system currently has no thread or memory to give.
      idle.push(thread);
      job.started.reject(error);
    }
  }

  /** Queues for a thread. */
  function queue(job: Job): Wait<ThreadAnswer> {
    if (isClosed) throw new Error('the query engine is closed');
    // Abandoned threads count, because their statements may run inside SQLite for a long time.
    if (leftBehind.count >= mostThreads || waiting.length >= MAX_WAITING) throw new QueriesBusy();
    waiting.push(job);
    startWaiting();
    return {
      taken: job.started.promise,
      leave(reason) {
        const position = waiting.indexOf(job);
        if (position < 0) return;
        waiting.splice(position, 1);
        job.started.reject(reason);
      },
    };
  }

  async function run({ turnBy, onRan, ...request }: LaneRequest): Promise<ThreadAnswer> {
    const { signal, clients } = request;
    signal.throwIfAborted();
    const turn =
      clients &&
      (await untilTaken(turns.take(clients), signal, ended => clock.sleep(turnBy - clock.now(), ended)));
    const started = Promise.withResolvers<ThreadAnswer>();
    const onFree = (ms: number) => {
      onRan?.(ms);
      turn?.client?.charge(ms);
      turn?.end();
    };
    const job: Job = { ...request, started, hasBegun: false, onFree };
    try {
      signal.throwIfAborted();
      return await untilTaken(queue(job), signal, ended => patience(clients, ended));
    } finally {
      if (!job.hasBegun) turn?.end();
    }
  }

  /**
   * Waits as long as a query may wait for a thread. A query for an answer that has already done work waits longer,
   * because a refusal would waste that work.
   */
  async function patience(clients: WaitingClients | undefined, signal: AbortSignal): Promise<void> {
    await clock.sleep(WAIT_MS, signal);
    if (clients !== undefined && begun.has(clients)) await clock.sleep(WAIT_OF_BEGUN_MS - WAIT_MS, signal);
  }

  return {
    run,
    /** Starts the thread that takes the first query. Each further one takes 25 MB, so it starts when it is needed. */
    async warmUp() {
      await all.at(-1)?.warmUp();
    },
    async close() {
      isClosed = true;
      for (const job of waiting.splice(0)) job.started.reject(new Error('the query engine is closed'));
      await Promise.all(all.map(thread => thread.close()));
    },
  };
}

/** Waits in a queue. Leaves it when the caller gives up, and as busy when `patience` resolves. */
async function untilTaken<Taken>(
  wait: Wait<Taken>,
  signal: AbortSignal,
  patience: (ended: AbortSignal) => Promise<void>,
): Promise<Taken> {
  const ended = new AbortController();
  const onAbort = () => wait.leave(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  patience(ended.signal).then(
    () => wait.leave(new QueriesBusy()),
    () => undefined,
  );
  try {
    return await wait.taken;
  } finally {
    ended.abort();
    signal.removeEventListener('abort', onAbort);
  }
}
