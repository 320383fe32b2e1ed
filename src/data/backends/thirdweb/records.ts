import { isObject } from '#lib/json.ts';
import type { Entity, EntityRecords } from '#query-model/row-selection.ts';
import { BackendError, isOfKind } from '../port/backend-error.ts';
import type { InsightsAnswers, InsightsAsk, Records, RecordsQuery } from '../port/insights-backend.ts';
import type { Fields } from '../upstream-json/fields.ts';
import { integerOrNull } from '../upstream-json/values.ts';
import { block } from './normalise/block.ts';
import { event } from './normalise/event.ts';
import type { RecordContext } from './normalise/forms.ts';
import { transactionRecord } from './normalise/transaction.ts';
import { readSelected, upstreamColumn } from './selection.ts';
import { firstOfChains, type Parameters, recordsOf, type ThirdwebSource } from './source.ts';
import { totalsOf } from './totals.ts';

const NORMALISE: { readonly [E in Entity]: (value: unknown, context: RecordContext) => EntityRecords[E] } = {
  blocks: block,
  transactions: transactionRecord,
  events: event,
};

/** Page size and last page that every generation of upstream supports. */
const PAGE_SIZE = 500;
const LAST_PAGE = 20;

/** Rows from upstream with its `meta`. */
interface RecordsAnswer<Record> {
  readonly rows: readonly Record[];
  readonly meta: Fields;
}

/** Records of blocks, transactions and events. */
export function recordAnswers(source: ThirdwebSource): Required<Pick<InsightsAnswers, 'records'>> {
  return {
    async records<E extends Entity>(
      query: RecordsQuery & { readonly entity: E },
      ask: InsightsAsk,
    ): Promise<Records<EntityRecords[E]>> {
      const { rows, meta } = await pageOf(query, ask).catch((error: unknown) => {
        const isTooLong = query.limit > PAGE_SIZE && isOfKind(error, 'rejected');
        return isTooLong ? windowOf(query, ask) : Promise.reject(error);
      });
      const counts = new Map(ask.chainIds.map(id => [id, 0]));
      for (const { chain_id: id } of rows) counts.set(Number(id), (counts.get(Number(id)) ?? 0) + 1);
      const said = {
        items: integerOrNull(meta.total_items),
        isCapped: meta.total_items_capped === true,
      };
      const totals = await totalsOf(source, query, { counts, said }, ask);
      return { records: query.limit === 0 ? [] : rows, ...totals };
    },
  };

  async function pageOf<E extends Entity>(
    query: RecordsQuery & { readonly entity: E },
    ask: InsightsAsk,
  ): Promise<RecordsAnswer<EntityRecords[E]>> {
    // A signature that marks the indexed parameters is enough to decode by, here and upstream.
    const isDecoded = query.decode || query.event?.signature !== undefined;
    const context = { chainIds: ask.chainIds, isDecoded };
    const normalise: (value: unknown, context: RecordContext) => EntityRecords[E] = NORMALISE[query.entity];
    const { rows, meta } = await readSelected(source, query, parametersOf(query), ask, async body => ({
      rows: await recordsOf(body, value => normalise(value, context), ask),
      meta: isObject(body.meta) ? body.meta : {},
    }));
    const { chainIds } = ask;
    return { rows: firstOfChains(rows, { chainIds, limit: askedLimit(query) }), meta };
  }

  /** Assembles a page that is too long for upstream from shorter ones. */
  async function windowOf<E extends Entity>(
    query: RecordsQuery & { readonly entity: E },
    ask: InsightsAsk,
  ): Promise<RecordsAnswer<EntityRecords[E]>> {
    const offset = query.page * query.limit;
    const first = Math.floor(offset / PAGE_SIZE);
    const end = Math.ceil((offset + query.limit) / PAGE_SIZE);
    if (end - 1 > LAST_PAGE) throw tooFarBack();
    const pages = Array.from({ length: end - first }, (_, at) =>
      pageOf({ ...query, limit: PAGE_SIZE, page: first + at }, ask),
    );
    const rows = (await Promise.all(pages)).flatMap(page => page.rows);
    const skipped = offset - first * PAGE_SIZE;
    const ofChain = (id: number) => rows.filter(row => Number(row.chain_id) === id);
    return {
      rows: ask.chainIds.flatMap(id => ofChain(id).slice(skipped, skipped + query.limit)),
      meta: {},
    };
  }
}

/** Limit for upstream, which refuses 0. */
function askedLimit({ limit }: Pick<RecordsQuery, 'limit'>): number {
  return limit === 0 ? 1 : limit;
}

function tooFarBack(): BackendError {
  return new BackendError('unsupported', 'no_such_answer', 'it has no page that far back');
}

function parametersOf({ entity, sort, limit, page, decode }: RecordsQuery): Parameters {
  return [
    ['sort_by', upstreamColumn(entity, sort.field)],
    ['sort_order', sort.order],
    ['limit', String(askedLimit({ limit }))],
    ['page', String(limit === 0 ? 0 : page)],
    ...(decode ? [['decode', 'true'] as const] : []),
  ];
}
