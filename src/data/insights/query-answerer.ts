import type { InsightsSchemas } from '../../contract/contracts/insights.ts';
import type { Caller } from '../../contract/contracts/operations.ts';
import { InvalidParameter } from '../../contract/contracts/violations.ts';
import type { Group } from '../../query-model/expression.ts';
import { fieldNamed } from '../../query-model/fields.ts';
import { answerOf } from '../../query-model/group-answer.ts';
import type { Entity, EntityRecords, WrittenGroups } from '../../query-model/row-selection.ts';
import {
  type InsightsOperationId,
  type RecordSelection,
  type Records,
  recordValues,
} from '../backends/port/insights-backend.ts';
import type { ChainsAnswer } from '../fallback/ask-chains.ts';
import type { HandlerResponse } from '../serve/cached-answers.ts';
import { planOf } from './expressions/plan.ts';
import { checkPage } from './limits.ts';
import { chainsAskedFor } from './select-chains.ts';
import type { InsightsOptions, ServeInsights } from './serve-through-cache.ts';
import { sortRecords } from './sort-records.ts';

/** Parameters common to all queries. */
interface QueryParameters {
  readonly chain_id?: readonly number[];
  readonly chain?: readonly number[];
  readonly limit: number;
  readonly page: number;
  readonly sort_by?: string;
  readonly sort_order: 'asc' | 'desc';
  readonly group_by?: readonly string[];
  readonly aggregate?: readonly string[];
  readonly decode?: boolean;
}

/** One query, with its operation and parameters. */
interface Question<E extends Entity> {
  readonly operation: Extract<InsightsOperationId, `query${string}`>;
  readonly selected: RecordSelection & { readonly entity: E };
  readonly query: QueryParameters;
  /** Contract or wallet of the path, repeated in `meta`. */
  readonly about?: { readonly address: string; readonly signature?: string };
}

/** Rows or groups, with their `meta`. */
interface QueryAnswer<E extends Entity> {
  data?: EntityRecords[E][];
  aggregations?: InsightsSchemas['Aggregations'];
  meta: InsightsSchemas['Meta'];
}

/**
 * Time limit of a query. It may wait 10 seconds for its client's turn and 5 seconds for a thread, and then has its own
 * deadline of 10 seconds; the rest lets its error reach the client.
 */
export const QUERY_TIMEOUT_MS = 26_000;

/** Maximum number of keys, values and distinct values in the groups of all chains together. */
const MAX_VALUES_MERGED = 200_000;

/** Answers the queries for blocks, transactions and events, with records or with groups of them. */
export function queryAnswerer(configured: InsightsOptions, serve: ServeInsights) {
  const { timeoutMs } = configured;
  return async <E extends Entity>(
    caller: Caller,
    question: Question<E>,
  ): Promise<HandlerResponse<QueryAnswer<E>>> => {
    const { query } = question;
    checkPage(query);
    const isAggregated = query.aggregate !== undefined || query.group_by !== undefined;
    return isAggregated ? groups(caller, question) : records(caller, question);
  };

  function records<E extends Entity>(caller: Caller, { operation, selected, query, about }: Question<E>) {
    const { limit, page, sort_by: sortBy = 'block_number', sort_order: order, decode = false } = query;
    const { entity } = selected;
    const field = fieldNamed(entity, sortBy);
    if (field === undefined) throw new InvalidParameter('sort_by', `must name a field of ${entity}`);
    const sort = { field, order };
    const wanted = { ...selected, sort, limit, page, decode };
    return serve(caller, {
      operation,
      chains: chainsAskedFor(configured, query, caller),
      identity: { ...wanted, ...sameRecords(selected), about },
      timeoutMs: Math.max(timeoutMs, QUERY_TIMEOUT_MS),
      ask: (backend, ask) => backend.insights?.records?.(wanted, ask),
      namesFailed: true,
      bodyOf: (asked): QueryAnswer<E> => ({
        data: sortRecords(
          entity,
          asked.parts.flatMap(({ result }) => recordValues(result.records)),
          sort,
        ),
        meta: metaOfRecords(asked, { ...about, page, limit }),
      }),
      writtenBody(asked) {
        const [only, another] = asked.parts;
        const records = only?.result.records;
        if (another !== undefined || !(records instanceof Uint8Array)) return undefined;
        return written({ data: records }, metaOfRecords(asked, { ...about, page, limit }));
      },
    });
  }

  function groups<E extends Entity>(caller: Caller, { operation, selected, query, about }: Question<E>) {
    const { limit, page, sort_by, sort_order, group_by, aggregate } = query;
    const plan = planOf(selected.entity, {
      sort_order,
      aggregate,
      group_by,
      sort_by,
    });
    const chains = chainsAskedFor(configured, query, caller);
    // Groups of several chains are merged before a page is cut.
    const cut = chains.length > 1 ? {} : { page: { plan, limit, page } };
    const wanted = { ...selected, keys: plan.keys, folds: plan.folds, ...cut };
    const meta = (asked: ChainsAnswer<unknown>, total: number) => {
      const pages = limit === 0 ? 0 : Math.ceil(total / limit);
      return metaOf(asked, { ...about, page, limit, total, pages, isCapped: false });
    };
    return serve<readonly Group[] | WrittenGroups, QueryAnswer<E>>(caller, {
      operation,
      chains,
      // The text is part of the identity because it names the columns.
      identity: {
        selected: { ...selected, ...sameRows(selected) },
        // Commas and repetition both separate expressions (Decision 183), so both get the same identity.
        aggregate: aggregate?.join(),
        group_by: group_by?.join(),
        sort_by,
        sort_order,
        limit,
        page,
        about,
      },
      timeoutMs: Math.max(timeoutMs, QUERY_TIMEOUT_MS),
      ask: (backend, ask) => backend.insights?.groups?.(wanted, ask),
      namesFailed: true,
      bodyOf(asked): QueryAnswer<E> {
        const lists = asked.parts.flatMap(({ result }) => ('json' in result ? [] : [result]));
        checkSize(lists);
        const { rows: aggregations, total } = answerOf(plan, lists, { limit, page });
        return { aggregations, meta: meta(asked, total) };
      },
      writtenBody(asked) {
        const result = asked.parts[0]?.result;
        if (result === undefined || !('json' in result)) return undefined;
        return written({ aggregations: result.json }, meta(asked, result.total));
      },
    });
  }
}

/** JSON text of a `QueryAnswer` around its rows. Not allocated from the shared pool, because the cache may keep it. */
function written(
  list: { readonly data: Uint8Array } | { readonly aggregations: Uint8Array },
  meta: InsightsSchemas['Meta'],
): Buffer {
  const [name, rows] = 'data' in list ? ['data', list.data] : ['aggregations', list.aggregations];
  const before = Buffer.from(`{"${name}":`);
  const behind = Buffer.from(`,"meta":${JSON.stringify(meta)}}`);
  const body = Buffer.allocUnsafeSlow(before.length + rows.length + behind.length);
  body.set(before);
  body.set(rows, before.length);
  body.set(behind, before.length + rows.length);
  return body;
}

/** Identity of the event: different spellings have the same rows. */
function sameRows({ event }: RecordSelection) {
  return event === undefined ? {} : { event: { topic0: event.topic0 } };
}

/**
 * Identity of the event for records. A signature with `indexed` always decodes, and its names appear in the records.
 */
function sameRecords(selected: RecordSelection) {
  const signature = selected.event?.signature;
  return signature === undefined ? sameRows(selected) : { ...sameRows(selected), signature, decode: true };
}

/**
 * Limits merging, because it runs on the main thread.
 * @throws InvalidParameter above the limit.
 */
function checkSize(lists: readonly (readonly Group[])[]): void {
  let values = 0;
  for (const { keys, folds } of lists.flat()) {
    values += keys.length + folds.length;
    for (const fold of folds) if (typeof fold === 'object' && fold !== null) values += fold.length;
  }
  if (values <= MAX_VALUES_MERGED) return;
  throw new InvalidParameter(
    'group_by',
    `makes more than ${MAX_VALUES_MERGED} values in groups over these chains: ask for fewer chains, group by fewer fields, aggregate less, or filter`,
  );
}

/** Values of `meta` apart from the chains. */
interface MetaFacts {
  readonly address?: string;
  readonly signature?: string;
  readonly page: number;
  readonly limit: number;
  readonly total: number;
  readonly pages: number;
  readonly isCapped: boolean;
}

function metaOfRecords(
  asked: ChainsAnswer<Records<unknown>>,
  facts: Omit<MetaFacts, 'total' | 'pages' | 'isCapped'>,
): InsightsSchemas['Meta'] {
  const results = asked.parts.map(({ result }) => result);
  return metaOf(asked, {
    ...facts,
    total: results.reduce((sum, result) => sum + result.total, 0),
    pages: Math.max(...results.map(result => result.pages)),
    isCapped: results.some(result => result.isCapped),
  });
}

/**
 * `meta` of a query's answer (Decisions 74 and 75). A chain on which a name is unknown has no matches, which counts as
 * an answer (Decision 80).
 */
export function metaOf(
  { chains, answered, failed }: ChainsAnswer<unknown>,
  { address, signature, page, limit, total, pages, isCapped }: MetaFacts,
): InsightsSchemas['Meta'] {
  const silent = failed
    .filter(({ failures }) => failures.at(-1)?.error.kind !== 'not_found')
    .map(({ chain }) => chain.id);
  const firstBlocks = answered.flatMap(({ chain, firstBlock }) =>
    firstBlock === undefined ? [] : [{ chain_id: chain.id, block_number: firstBlock }],
  );
  return {
    chain_ids: chains.map(({ id }) => id).filter(id => !silent.includes(id)),
    ...(silent.length === 0 ? {} : { failed_chain_ids: silent }),
    ...(firstBlocks.length === 0 ? {} : { first_blocks: firstBlocks }),
    ...(address === undefined ? {} : { address }),
    ...(signature === undefined ? {} : { signature }),
    page,
    limit_per_chain: limit,
    total_items: total,
    ...(isCapped ? { total_items_capped: true } : {}),
    total_pages: pages,
  };
}
