import type { Clock } from '#lib/clock.ts';
import type { FieldValues, GroupsAnswer, QueryEngine, RowsAnswer } from '../query.ts';
import type { PackedRows } from '../rows/rows.ts';
import type { PackedAnswer, Query } from './engine.ts';
import { isQuick } from './is-quick.ts';
import { queryLane } from './query-lane.ts';
import type { LeftBehind } from './query-thread.ts';

/** Bounds of the queries of all indexes of a process together. */
export interface QueryBudget {
  /** Long queries at a time. */
  readonly concurrency: number;
  /** Upper bound of the memory of all threads, in bytes, shared out evenly. */
  readonly memoryBytes: number;
}

export interface QueryPoolOptions extends Partial<QueryBudget> {
  readonly clock: Clock;
  /** Time that a query may take from its start on, 10,000 ms unless given. Source: decision 83. */
  readonly deadlineMs?: number;
}

/** Threads that run the queries of several indexes. */
export interface QueryPool {
  /** Queries over one index's SQLite file, which must exist by the first of them. */
  engine(file: string): QueryEngine;
  /** Starts all threads, so that no request waits for one to start. */
  warmUp(): Promise<void>;
  close(): Promise<void>;
}

const DEFAULT_BUDGET: QueryBudget = { concurrency: 2, memoryBytes: 512_000_000 };

/**
 * Opens a pool of two lanes with as many threads each. One is for queries that are quick on any chain, so that a page
 * never waits for an aggregate.
 */
export function openQueryPool({ clock, deadlineMs = 10_000, ...budget }: QueryPoolOptions): QueryPool {
  const { concurrency, memoryBytes } = { ...DEFAULT_BUDGET, ...budget };
  const leftBehind: LeftBehind = { count: 0 };
  const lane = { clock, deadlineMs, leftBehind, threads: concurrency };
  const threadBytes = Math.floor(memoryBytes / (2 * concurrency));
  const quick = queryLane({ ...lane, threadBytes, mostThreads: Number.POSITIVE_INFINITY });
  // Threads that were left behind do not take the place of the others at once.
  const long = queryLane({ ...lane, threadBytes, mostThreads: 2 * concurrency });

  return {
    engine: file => engineOver((query, asked) => (isQuick(query) ? quick : long).run({ file, query }, asked)),
    async warmUp() {
      await Promise.all([quick.warmUp(), long.warmUp()]);
    },
    async close() {
      await Promise.all([quick.close(), long.close()]);
    },
  };
}

type RunQuery = (
  query: Query,
  asked: { signal: AbortSignal; request: object | undefined },
) => Promise<PackedAnswer>;

function engineOver(run: RunQuery): QueryEngine {
  return {
    async rows(query, signal, request) {
      const answer = await run(query, { signal, request });
      if (!('rows' in answer)) throw new TypeError('The answer is not one of rows.');
      return unpacked(answer);
    },
    async groups(query, signal, request): Promise<GroupsAnswer> {
      const answer = await run(query, { signal, request });
      if (!('groups' in answer)) throw new TypeError('The answer is not one of groups.');
      return answer;
    },
  };
}

function unpacked({ fields, rows, total, isCapped }: PackedRows): RowsAnswer {
  return { rows: rows.map(row => fieldValues(fields, row)), total, isCapped };
}

function fieldValues(fields: readonly string[], row: PackedRows['rows'][number]): FieldValues {
  return Object.fromEntries(fields.map((field, index) => [field, row[index] ?? null]));
}
