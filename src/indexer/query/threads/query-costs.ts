import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Filter } from '#query-model/row-selection.ts';
import type { Query } from '../engine.ts';
import { RANGE_FIELDS } from '../filters.ts';

/** Longest time of a cheap query in milliseconds. */
const CHEAP_MS = 100;
/** Maximum number of shapes remembered. */
const MAX_SHAPES = 10_000;

/** Time that queries of one shape took recently. */
export interface QueryCosts {
  /** True when the latest queries of the shape were cheap; false for an unknown shape. */
  isCheap(shape: string): boolean;
  /** Records the time of a query. An expensive one counts until several cheap ones have followed it. */
  took(shape: string, ms: number): void;
}

/** Remembers the costs of the queries over one index. */
export function queryCosts(): QueryCosts {
  const expectedMs = new LRUCache<string, number>({ max: MAX_SHAPES });
  return {
    isCheap: shape => (expectedMs.get(shape) ?? Number.POSITIVE_INFINITY) <= CHEAP_MS,
    took: (shape, ms) => void expectedMs.set(shape, Math.max(ms, (expectedMs.get(shape) ?? 0) / 2)),
  };
}

/**
 * Identity of all queries that differ only in their values: the fields with their operators, the expressions without
 * their literals, and the magnitudes of the range of blocks and of the page.
 */
export function queryShape(query: Query): string {
  const { kind, entity, filters, wallet } = query;
  const others =
    query.kind === 'rows'
      ? [query.sort, magnitude(query.limit + query.offset), query.decoding !== undefined]
      : [query.keys, query.folds];
  const fields = filters.map(({ field, operator }) => `${field} ${operator}`).sort();
  const ranges = RANGE_FIELDS.map(field => rangeOf(filters, field));
  return hash(
    'sha256',
    JSON.stringify([kind, entity, wallet !== undefined, fields, ranges, others], withoutLiterals),
  );
}

/** Magnitude of the range that the filters on a field select. A range without an end is as long as its bound is high. */
function rangeOf(filters: readonly Filter[], field: string): number | undefined {
  const bounds = filters.filter(filter => filter.field === field);
  const above = bounds.find(({ operator }) => operator === 'lt' || operator === 'lte')?.value;
  const from = bounds.find(({ operator }) => operator === 'gt' || operator === 'gte')?.value ?? 0;
  return above === undefined ? undefined : magnitude(Number(above) - Number(from));
}

function magnitude(count: number): number {
  return Math.ceil(Math.log2(Math.max(1, count)));
}

function withoutLiterals(_name: string, part: unknown): unknown {
  const isLiteral = typeof part === 'object' && part !== null && 'kind' in part && part.kind === 'literal';
  return isLiteral ? 'literal' : part;
}
