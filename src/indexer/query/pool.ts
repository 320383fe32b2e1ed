import type { Clock } from '../../lib/clock.ts';
import type { PackedAnswer, Query } from './engine.ts';
import { isQuick } from './is-quick.ts';
import {
  type FieldValues,
  type GroupsAnswer,
  QueriesBusy,
  type QueryEngine,
  type RowsAnswer,
} from './query.ts';
import { type LeftBehind, queryThread } from './query-thread.ts';
import type { PackedRows } from './rows.ts';

export interface QueryPoolOptions {
  /** Path of the index's SQLite file, which must be there by the first query. */
  file: string;
  clock: Clock;
  /** What a query may take from its start on, 10,000 ms unless given. Source: decision 83. */
  deadlineMs?: number;
  /** What a query may wait for a thread before, 5,000 ms unless given. */
  waitMs?: number;
  /** Threads for queries that may walk the whole chain, 2 unless given. */
  longThreads?: number;
}

/** Threads of long queries at a time, with those that were left behind and have not ended. */
const MOST_LONG_THREADS = 4;

interface Job {
  readonly query: Query;
  readonly signal: AbortSignal;
  readonly started: PromiseWithResolvers<PackedAnswer>;
}

/**
 * A query engine over threads, which are started when they are needed. One is for queries that are quick on any chain,
 * so that a page never waits for an aggregate.
 */
export function openQueryPool(options: QueryPoolOptions): QueryEngine {
  const { file, clock, deadlineMs = 10_000, waitMs = 5_000, longThreads = 2 } = options;
  const leftBehind: LeftBehind = { count: 0 };
  const lane = { file, clock, deadlineMs, waitMs, leftBehind };
  const quick = queryLane({ ...lane, threads: 1, mostThreads: Number.POSITIVE_INFINITY });
  const long = queryLane({ ...lane, threads: longThreads, mostThreads: MOST_LONG_THREADS });
  const run = (query: Query, signal: AbortSignal) => (isQuick(query) ? quick : long).run(query, signal);
  return {
    async rows(query, signal) {
      const answer = await run(query, signal);
      if (!('rows' in answer)) throw new TypeError('The answer is not one of rows.');
      return unpacked(answer);
    },
    async groups(query, signal): Promise<GroupsAnswer> {
      const answer = await run(query, signal);
      if (!('groups' in answer)) throw new TypeError('The answer is not one of groups.');
      return answer;
    },
    async close() {
      await Promise.all([quick.close(), long.close()]);
    },
  };
}

interface QueryLaneOptions {
  readonly file: string;
  readonly deadlineMs: number;
  readonly waitMs: number;
  readonly clock: Clock;
  readonly threads: number;
  /** Threads that work, with those that were left behind, beyond which no query starts. */
  readonly mostThreads: number;
  readonly leftBehind: LeftBehind;
}

function queryLane(options: QueryLaneOptions) {
  const { threads, mostThreads, leftBehind, clock, waitMs } = options;
  const waiting: Job[] = [];
  const all = Array.from({ length: threads }, () => queryThread({ ...options, onEnded: startWaiting }));
  const idle = [...all];
  let isClosed = false;

  function startWaiting(): void {
    for (;;) {
      if (waiting.length === 0) return;
      if (all.length - idle.length + leftBehind.count >= mostThreads) return;
      // The one that was busy last has the warmest cache.
      const thread = idle.pop();
      const job = thread === undefined ? undefined : waiting.shift();
      if (thread === undefined || job === undefined) return;
      const { answer, free } = thread.ask(job.query, job.signal);
      job.started.resolve(answer);
      void free.then(() => {
        idle.push(thread);
        startWaiting();
      });
    }
  }

  async function run(query: Query, signal: AbortSignal): Promise<PackedAnswer> {
    signal.throwIfAborted();
    if (isClosed) throw new Error('the query engine is closed');
    // What is stuck inside of SQLite may be so for long.
    if (leftBehind.count >= mostThreads) throw new QueriesBusy();
    const job: Job = { query, signal, started: Promise.withResolvers() };
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
      clock.sleep(waitMs, left.signal).then(
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

  return {
    run,
    async close() {
      isClosed = true;
      for (const job of waiting.splice(0)) job.started.reject(new Error('the query engine is closed'));
      await Promise.all(all.map(thread => thread.close()));
    },
  };
}

function unpacked({ fields, rows, total, isCapped }: PackedRows): RowsAnswer {
  return { rows: rows.map(row => fieldValues(fields, row)), total, isCapped };
}

function fieldValues(fields: readonly string[], row: PackedRows['rows'][number]): FieldValues {
  return Object.fromEntries(fields.map((field, index) => [field, row[index] ?? null]));
}
