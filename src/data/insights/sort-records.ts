import { fieldShape } from '../../query-model/fields.ts';
import type { Entity } from '../../query-model/row-selection.ts';

/** Position of a record, most significant part first. The chain comes after the block. */
const POSITION_FIELDS: Readonly<Record<Entity, readonly string[]>> = {
  blocks: ['block_number', 'chain_id'],
  transactions: ['block_number', 'chain_id', 'transaction_index'],
  events: ['block_number', 'chain_id', 'transaction_index', 'log_index'],
};

type Comparable = bigint | string | null;

/** Sorts records of all chains: by a field, then by position, all in the same direction, nulls last (Decision 81). */
export function sortRecords<Record extends object>(
  entity: Entity,
  records: readonly Record[],
  sort: { readonly field: string; readonly order: 'asc' | 'desc' },
): Record[] {
  const names = [sort.field, ...POSITION_FIELDS[entity]];
  const readers = names.map(name => readerOf(entity, name));
  const direction = sort.order === 'asc' ? 1 : -1;
  return records
    .map(record => ({ record, keys: readers.map(read => read(record)) }))
    .sort((a, b) => {
      for (const [index, key] of a.keys.entries()) {
        const result = compare(key, b.keys[index] ?? null, direction);
        if (result !== 0) return result;
      }
      return 0;
    })
    .map(({ record }) => record);
}

function compare(a: Comparable, b: Comparable, direction: 1 | -1): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return a < b ? -direction : direction;
}

/** Reads a field for comparison. Amounts and chain ids are text in records but compare as numbers. */
function readerOf(entity: Entity, name: string): (record: object) => Comparable {
  const isInteger = ['integer', 'time'].includes(fieldShape(entity, name)?.type ?? 'text');
  const topic = /^topic_(\d)$/.exec(name)?.[1];
  return record => {
    const value = topic === undefined ? member(record, name) : topicOf(record, Number(topic));
    if (value === undefined || value === null) return null;
    return isInteger && typeof value !== 'object' ? BigInt(String(value)) : String(value);
  };
}

function topicOf(record: object, index: number): unknown {
  const topics = member(record, 'topics');
  return Array.isArray(topics) ? topics[index] : undefined;
}

function member(record: object, name: string): unknown {
  return Reflect.get(record, name);
}
