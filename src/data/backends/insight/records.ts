import type {
  Entity,
  EntityRecords,
  InsightsAnswers,
  InsightsAsk,
  Records,
  RecordsQuery,
} from '../../port/insights.ts';
import { isFields } from '../../upstream/fields.ts';
import { integerOrNull } from '../../upstream/values.ts';
import { columnOf } from './columns.ts';
import { block } from './normalise/block.ts';
import { event } from './normalise/event.ts';
import type { Place } from './normalise/forms.ts';
import { transaction } from './normalise/transaction.ts';
import { readSelected } from './selection.ts';
import { type InsightSource, type Parameters, recordsOf } from './source.ts';
import { totalsOf } from './totals.ts';

const NORMALISE: { readonly [E in Entity]: (value: unknown, place: Place) => EntityRecords[E] } = {
  blocks: block,
  transactions: transaction,
  events: event,
};

/** Rows of blocks, transactions and events. */
export function recordAnswers(source: InsightSource): Required<Pick<InsightsAnswers, 'records'>> {
  return {
    async records<E extends Entity>(
      query: RecordsQuery & { readonly entity: E },
      ask: InsightsAsk,
    ): Promise<Records<EntityRecords[E]>> {
      const place = { chainIds: ask.chainIds, isDecoded: query.decode };
      const normalise: (value: unknown, place: Place) => EntityRecords[E] = NORMALISE[query.entity];
      const answer = await readSelected(source, query, parametersOf(query), ask, body => ({
        rows: recordsOf(body, value => normalise(value, place)),
        meta: isFields(body.meta) ? body.meta : {},
      }));
      // A service that ignores `chain_id` tells of its own chain.
      const rows = answer.rows.filter(row => ask.chainIds.includes(Number(row.chain_id)));
      const counts = new Map(ask.chainIds.map(id => [id, 0]));
      for (const { chain_id: id } of rows) counts.set(Number(id), (counts.get(Number(id)) ?? 0) + 1);
      const said = {
        items: integerOrNull(answer.meta.total_items),
        isCapped: answer.meta.total_items_capped === true,
      };
      const totals = await totalsOf(source, query, { counts, said }, ask);
      return { records: query.limit === 0 ? [] : rows, ...totals };
    },
  };
}

function parametersOf({ entity, sort, limit, page, decode }: RecordsQuery): Parameters {
  return [
    ['sort_by', columnOf(entity, sort.field)],
    ['sort_order', sort.order],
    // Upstream refuses 0.
    ['limit', String(limit === 0 ? 1 : limit)],
    ['page', String(limit === 0 ? 0 : page)],
    ...(decode ? [['decode', 'true'] as const] : []),
  ];
}
