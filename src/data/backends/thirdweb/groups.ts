import type { Group, Value, ValueType } from '#query-model/expression.ts';
import { identityOf, mergeGroups, noRows } from '#query-model/merge-groups.ts';
import { BackendError } from '../port/backend-error.ts';
import type { GroupSelection, InsightsAnswers, InsightsAsk } from '../port/insights-backend.ts';
import { at, type Fields, required } from '../upstream-json/fields.ts';
import { bigintOrNull, numberOrNull, textOrNull } from '../upstream-json/values.ts';
import { type GroupRequest, groupRequest, type UpstreamGroupColumn } from './group-request.ts';
import { chainIdOf, quantityOrNull, secondsOrNull } from './normalise/forms.ts';
import { aggregationRows, readSelected } from './selection.ts';
import type { ThirdwebSource } from './source.ts';

/** Page size that every generation of upstream supports. */
const PAGE_SIZE = 500;
/** Maximum number of requests per query, the number of pages that every generation supports. */
const MAX_PAGES = 20;

/** Group from upstream. `id` is unique across all chains. */
interface Part extends Group {
  readonly id: Value;
}

/** Aggregations over records. */
export function groupAnswers(source: ThirdwebSource): Required<Pick<InsightsAnswers, 'groups'>> {
  return {
    async groups(query, ask) {
      const request = groupRequest(query, ask.chainIds.length === 1);
      const parts: Part[] = [];
      const seen = new Set<Value>();
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const found = await partsOf(query, request, page, ask);
        const added = found.flat();
        // A group on two pages means that another one is missing: the groups moved between the requests.
        if (added.some(({ id }) => seen.has(id))) throw moved();
        for (const part of added) seen.add(part.id);
        parts.push(...added);
        // A page that is not full is the last one. Without keys there is one group per chain, so one page holds all.
        if (found.length < PAGE_SIZE || request.keys.length === 0) return whole(query, parts);
      }
      throw tooMany();
    },
  };

  function partsOf(
    query: GroupSelection,
    request: GroupRequest,
    page: number,
    ask: InsightsAsk,
  ): Promise<Part[][]> {
    const window = [
      ['limit', String(PAGE_SIZE)],
      ['page', String(page)],
    ] as const;
    return readSelected(source, query, [...request.parameters, ...window], ask, ({ aggregations }) =>
      at('aggregations', aggregationRows(aggregations), rows =>
        rows.map((row, index) => at(index, row, one => partOf(query, request, one, ask))),
      ),
    );
  }
}

/** Converts one row. Rows of chains outside the request are dropped. @throws UnreadableRecord */
function partOf(query: GroupSelection, request: GroupRequest, row: Fields, ask: InsightsAsk): Part[] {
  const chainId = chainIdOf(row, ask);
  if (!ask.chainIds.includes(chainId)) return [];
  const read = ({ name, type }: UpstreamGroupColumn) => groupValue(row[name], type, name);
  const meant = (column: UpstreamGroupColumn) => (column.isWeek ? mondayOf(read(column)) : read(column));
  const keys = request.keys.map(meant);
  const isEmpty = read(request.count) === 0n;
  const folds = query.folds.map(({ kind }, index) => {
    const column = request.folds[index] ?? request.count;
    const value: Value = isEmpty && kind !== 'count' ? null : meant(column);
    if (kind !== 'distinct') return value;
    return value === null ? [] : [value];
  });
  return [
    { id: identityOf([chainId, ...request.keys.map(read)]), keys: keys.slice(0, query.keys.length), folds },
  ];
}

/** Merges the groups. Without keys there is always one group, even for no rows. */
function whole({ keys, folds }: GroupSelection, parts: readonly Part[]): Group[] {
  const nothing = keys.length === 0 ? [{ keys: [], folds: noRows(folds) }] : [];
  const lists = [...nothing, ...parts].map(part => [part]);
  return mergeGroups({ keys, folds }, lists).map(group => ({
    keys: group.keys,
    folds: group.folds.map(value => (typeof value === 'object' && value !== null ? [...value] : value)),
  }));
}

function tooMany(): BackendError {
  return new BackendError(
    'rejected',
    'bad_input',
    `there are more than ${PAGE_SIZE * MAX_PAGES} groups: narrow the filters or group by less`,
  );
}

function moved(): BackendError {
  return new BackendError('unavailable', 'incomplete', 'its groups changed while they were read');
}

/**
 * Reads a value of an aggregation. Integers are numbers or, if wide, text; times are timestamps; a missing value is an
 * empty text.
 * @throws UnreadableRecord for a value of another type.
 */
function groupValue(value: unknown, type: ValueType, name: string): Value {
  if (value === null || value === '') return null;
  switch (type) {
    case 'integer':
      return required(bigintOrNull(value) ?? bigOrNull(quantityOrNull(value)), name);
    case 'time':
      return required(bigOrNull(secondsOrNull(value)), name);
    case 'real':
      return required(numberOrNull(value), name);
    case 'hex':
      return required(textOrNull(value), name).toLowerCase();
    case 'text':
      return required(textOrNull(value), name);
    case 'boolean':
      return value === true || value === 'true' || value === 1;
  }
}

const DAY_S = 86_400n;

/** Monday of a day's week, both in seconds. 1 January 1970 was a Thursday. */
function mondayOf(day: Value): Value {
  if (typeof day !== 'bigint') return day;
  return day - (((day / DAY_S + 3n) % 7n) * DAY_S + (day % DAY_S));
}

function bigOrNull(value: string | number | null): bigint | null {
  return value === null ? null : BigInt(value);
}
