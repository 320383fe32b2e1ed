import type { DatabaseOptions } from '#db/open.ts';
import type { KnownAbi } from '#evm/abi/abi.ts';
import type { Clock } from '#lib/clock.ts';
import type { WaitingClients } from '#lib/request-counters.ts';
import type { Query } from '../engine.ts';
import { isInKeyOrder, RANGE_FIELDS } from '../filters.ts';
import { INDEXES, isIndexed } from '../index-walk.ts';
import type { QueryEngine, RowsQuery } from '../query.ts';
import type { ThreadAnswer } from './messages.ts';
import { queryCosts, queryShape } from './query-costs.ts';
import { queryLane } from './query-lane.ts';
import { type LeftBehind, LimitPassed, type QueriedIndex } from './query-thread.ts';

/** Limits of the queries of all indexes in a process. */
export interface QueryBudget {
  /** Number of long queries at a time. */
  readonly concurrency: number;
  /** Maximum memory of all threads in bytes, divided evenly. */
  readonly memoryBytes: number;
}

export interface QueryPoolOptions extends Partial<QueryBudget> {
  readonly clock: Clock;
  /** Time limit of a query from its start, 10,000 ms by default (Decision 83). */
  readonly deadlineMs?: number;
}

/** Threads that run the queries of several indexes. */
export interface QueryPool {
  /**
   * Engine for queries over one index, which must exist when the first query runs. On PostgreSQL the schema is the
   * chain's.
   * Records are decoded by these ABIs and those of the token standards.
   */
  engine(database: DatabaseOptions, abis?: readonly KnownAbi[]): QueryEngine;
  /** Starts a thread of each lane, so that the first requests wait for none to start. */
  warmUp(): Promise<void>;
  close(): Promise<void>;
}

const DEFAULT_BUDGET: QueryBudget = { concurrency: 2, memoryBytes: 512_000_000 };

/** Time after which a query that seemed to be cheap ends, to be run again as a long one. */
const CHEAP_LIMIT_MS = 250;
/**
 * Steps by which the priority of long queries is below that of everything else. While two threads want one core, the
 * one of a long query has a tenth of it.
 */
const LONG_NICENESS = 10;
/** Maximum wait of a query for its client's turn, from its arrival. */
const WAIT_FOR_TURN_MS = 10_000;
/** Maximum number of answers for which queries of one client wait, in each lane. */
const MAX_WAITING_PAGES = 100;
const MAX_WAITING_LONG = 4;

/**
 * Opens a pool of two lanes with the same number of threads. The quick lane is for queries that are fast on any chain,
 * and for queries of a shape that was cheap recently. So neither waits for a long query.
 */
export function openQueryPool({ clock, deadlineMs = 10_000, ...budget }: QueryPoolOptions): QueryPool {
  const { concurrency, memoryBytes } = { ...DEFAULT_BUDGET, ...budget };
  const leftBehind: LeftBehind = { count: 0 };
  const lane = { clock, deadlineMs, leftBehind, threads: concurrency };
  const threadBytes = Math.floor(memoryBytes / (2 * concurrency));
  const quick = queryLane({
    ...lane,
    threadBytes,
    niceness: 0,
    mostThreads: Number.POSITIVE_INFINITY,
    mostWaitingPerClient: MAX_WAITING_PAGES,
  });
  // Up to `concurrency` abandoned threads do not reduce the capacity.
  const long = queryLane({
    ...lane,
    threadBytes,
    niceness: LONG_NICENESS,
    mostThreads: 2 * concurrency,
    mostWaitingPerClient: MAX_WAITING_LONG,
  });

  return {
    engine(options, known = []) {
      // A logger cannot be passed to another thread.
      const { log: _, ...database } = options;
      const index: QueriedIndex = { database, abis: () => JSON.stringify(known.map(withoutSource)) };
      const costs = queryCosts();
      return engineOver(async (query, asked) => {
        const request = { index, query, ...asked, turnBy: clock.now() + WAIT_FOR_TURN_MS };
        if (isQuick(query)) return quick.run(request);
        const shape = queryShape(query);
        const onRan = (ms: number) => asked.signal.aborted || costs.took(shape, ms);
        if (costs.isCheap(shape)) {
          try {
            return await quick.run({ ...request, onRan, limitMs: CHEAP_LIMIT_MS });
          } catch (error) {
            if (!(error instanceof LimitPassed)) throw error;
          }
        }
        return long.run({ ...request, onRan });
      });
    },
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
  asked: { signal: AbortSignal; clients: WaitingClients | undefined },
) => Promise<ThreadAnswer>;

function engineOver(run: RunQuery): QueryEngine {
  return {
    async records(query, signal, clients) {
      const answer = await run(query, { signal, clients });
      if (!('isCapped' in answer)) throw new TypeError('The query thread did not answer with records.');
      return answer;
    },
    async groups(query, signal, clients) {
      const answer = await run(query, { signal, clients });
      if (!('groups' in answer)) throw new TypeError('The query thread did not answer with groups.');
      return answer;
    },
    async groupPage(query, signal, clients) {
      const answer = await run(query, { signal, clients });
      if (!('json' in answer)) throw new TypeError('The query thread did not answer with a page of groups.');
      return answer;
    },
  };
}

/** Removes the source, which is long and not needed for decoding. */
function withoutSource({ source: _, ...known }: KnownAbi): KnownAbi {
  return known;
}

/** Fields that select at most one block, regardless of the other filters. */
const ONE_BLOCK = ['block_number', 'block_hash', 'hash', 'transaction_hash'];

/**
 * True when a query takes about as many steps as it shows or counts rows, regardless of the chain's length.
 * Other queries may scan the whole chain or a whole index and must not delay these for long.
 */
export function isQuick(query: Query): boolean {
  if (query.kind !== 'rows') return false;
  const { filters } = query;
  if (filters.some(({ field, operator }) => operator === 'eq' && ONE_BLOCK.includes(field))) return true;
  return isInKeyOrder(query.sort.field) && isOneIndex(query);
}

/**
 * True when one index covers the filters. With two indexes the database scans one, and most of its rows may not match.
 */
function isOneIndex({ entity, filters, wallet }: RowsQuery): boolean {
  const others = filters.filter(({ field }) => !RANGE_FIELDS.includes(field));
  if (wallet !== undefined || others.length === 0) return others.length === 0;
  const fields = others.filter(isIndexed).map(({ field }) => field);
  return INDEXES[entity].some(
    index => index.length === others.length && index.every(name => fields.includes(name)),
  );
}
