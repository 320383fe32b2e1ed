import type { DatabaseOptions } from '#db/open.ts';
import type { KnownAbi } from '#evm/abi/abi.ts';
import type { Clock } from '#lib/clock.ts';
import type { Query } from '../engine.ts';
import { isIndexed } from '../index-walk.ts';
import type { Entity, Filter, QueryEngine, RowsQuery } from '../query.ts';
import type { ThreadAnswer } from './messages.ts';
import { queryLane } from './query-lane.ts';
import type { LeftBehind, QueriedIndex } from './query-thread.ts';

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
  /**
   * Queries over one index, which must exist by the first of them. On PostgreSQL the schema is the chain's. Records are
   * decoded by these ABIs and those of the token standards.
   */
  engine(database: DatabaseOptions, abis?: readonly KnownAbi[]): QueryEngine;
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
    engine(options, known = []) {
      // A log cannot go to another thread.
      const { log: _, ...database } = options;
      const index: QueriedIndex = { database, abis: () => JSON.stringify(known.map(withoutSource)) };
      return engineOver((query, asked) => (isQuick(query) ? quick : long).run({ index, query }, asked));
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
  asked: { signal: AbortSignal; request: object | undefined },
) => Promise<ThreadAnswer>;

function engineOver(run: RunQuery): QueryEngine {
  return {
    async records(query, signal, request) {
      const answer = await run(query, { signal, request });
      if (!('isCapped' in answer)) throw new TypeError('The answer is not one of records.');
      return answer;
    },
    async groups(query, signal, request) {
      const answer = await run(query, { signal, request });
      if (!('groups' in answer)) throw new TypeError('The answer is not one of groups.');
      return answer;
    },
    async groupPage(query, signal, request) {
      const answer = await run(query, { signal, request });
      if (!('json' in answer)) throw new TypeError('The answer is not a page of groups.');
      return answer;
    },
  };
}

/** Nothing is decoded by sources, which are long. */
function withoutSource({ source: _, ...known }: KnownAbi): KnownAbi {
  return known;
}

/** Fields whose filters leave a range of an index in the order of keys, each when it is the only one of them. */
const BY_INDEX: Readonly<Record<Entity, readonly string[]>> = {
  blocks: ['miner'],
  transactions: ['from_address', 'to_address', 'function_selector'],
  events: ['topic_1', 'topic_2', 'topic_3'],
};
/** What the indexes of events begin with, in this order. */
const EVENT = ['address', 'topic_0'];
const PLACES = ['block_number', 'block_timestamp'];
/** One of these leaves a block at most, whatever else is asked of it. */
const ONE_BLOCK = ['block_number', 'block_hash', 'hash', 'transaction_hash'];

/**
 * Whether a query ends after about as many steps as it shows or counts rows, however long the chain is. Others may walk
 * all of it, or all of one index, and must not stand in the way of these.
 */
export function isQuick(query: Query): boolean {
  if (query.kind !== 'rows') return false;
  const { filters } = query;
  if (filters.some(({ field, operator }) => operator === 'eq' && ONE_BLOCK.includes(field))) return true;
  return isInOrderOfKeys(query) && isOneIndex(query);
}

function isInOrderOfKeys({ sort }: RowsQuery): boolean {
  return sort.field === 'chain_id' || PLACES.includes(sort.field);
}

/** Of two indexes one is walked, and most of its rows may be none that are meant. */
function isOneIndex({ entity, filters, wallet }: RowsQuery): boolean {
  const others = filters.filter(({ field }) => !PLACES.includes(field));
  const first = others.filter(({ field }) => entity === 'events' && EVENT.includes(field));
  const last = others.filter(filter => !first.includes(filter));
  return (
    last.length + (wallet === undefined ? 0 : 1) <= 1 &&
    last.every(filter => isIndexed(filter) && BY_INDEX[entity].includes(filter.field)) &&
    isBeginning(first, entity === 'events' && last.length > 0)
  );
}

/** Either of the two has an index, and so have both; only the index of both goes on with a further topic. */
function isBeginning(first: readonly Filter[], isTopicToFollow: boolean): boolean {
  if (first.some(({ operator }) => operator !== 'eq')) return false;
  return !isTopicToFollow || EVENT.every(name => first.some(({ field }) => field === name));
}
