import type { Entity, Filter, RecordSelection } from '../backends/port/insights-backend.ts';

/** Names that filters have beside the record's fields. */
const FILTER_FIELDS: Readonly<Record<Entity, Readonly<Record<string, string>>>> = {
  blocks: { hash: 'block_hash' },
  transactions: {},
  events: {},
};
const OPERATORS = ['gte', 'gt', 'lte', 'lt'] as const;
const TOPIC = /^topic_\d$/;
const TOPIC_DIGITS = 64;

/** The filters of a request's query, in canonical form: hex in lower case, topics of full length. Decisions 78 and 79. */
export function filtersOf(entity: Entity, query: object): Filter[] {
  return Object.entries(query).flatMap(([name, value]): Filter[] => {
    if (!name.startsWith('filter_') || value === undefined || value === null) return [];
    const { base, operator } = taken(name.slice('filter_'.length));
    const field = FILTER_FIELDS[entity][base] ?? base;
    return [{ field, operator, value: canonical(field, value) }];
  });
}

/** The records of an entity that a request means. */
export function selected<E extends Entity>(
  entity: E,
  query: object,
  more: Pick<RecordSelection, 'wallet' | 'event'> = {},
): RecordSelection & { readonly entity: E } {
  return { entity, filters: filtersOf(entity, query), ...more };
}

function taken(name: string): Pick<Filter, 'operator'> & { base: string } {
  const operator = OPERATORS.find(suffix => name.endsWith(`_${suffix}`));
  return operator === undefined
    ? { base: name, operator: 'eq' }
    : { base: name.slice(0, -operator.length - 1), operator };
}

function canonical(field: string, value: unknown): bigint | string {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return BigInt(value);
  const text = String(value).toLowerCase();
  return TOPIC.test(field) ? `0x${text.replace(/^0x/, '').padStart(TOPIC_DIGITS, '0')}` : text;
}
