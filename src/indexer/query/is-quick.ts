import type { Query } from './engine.ts';
import type { Entity, RowsQuery } from './query.ts';

/** Fields whose filters leave a range of keys or of an index, in the order of keys. */
const BY_INDEX: Readonly<Record<Entity, readonly string[]>> = {
  blocks: ['block_hash', 'miner'],
  transactions: ['hash', 'from_address', 'to_address', 'function_selector'],
  events: ['address', 'topic_0', 'topic_1', 'topic_2', 'topic_3'],
};
const PLACES = ['block_number', 'block_timestamp'];
/** One of these leaves a block at most, whatever else is asked of it. */
const ONE_BLOCK = ['block_number', 'block_hash', 'hash', 'transaction_hash'];

/**
 * Whether a query ends after about as many steps as it shows or counts rows, however long the chain is. Others may walk
 * all of it, and must not stand in the way of these.
 */
export function isQuick(query: Query): boolean {
  if (query.kind !== 'rows') return false;
  if (query.filters.some(({ field, operator }) => operator === 'eq' && ONE_BLOCK.includes(field)))
    return true;
  return isInOrderOfKeys(query) && query.filters.every(filter => isIndexed(query.entity, filter));
}

function isInOrderOfKeys({ sort }: RowsQuery): boolean {
  return sort.field === 'chain_id' || PLACES.includes(sort.field);
}

function isIndexed(entity: Entity, { field, operator }: RowsQuery['filters'][number]): boolean {
  return PLACES.includes(field) || (operator === 'eq' && BY_INDEX[entity].includes(field));
}
