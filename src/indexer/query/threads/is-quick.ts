import type { Entity, Filter, RowsQuery } from '../query.ts';
import type { Query } from './engine.ts';

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
    last.every(filter => isIndexed(entity, filter)) &&
    isBeginning(first, entity === 'events' && last.length > 0)
  );
}

/** No call and a selector that is cut off are in no index: the column is null for both. */
function isIndexed(entity: Entity, { field, operator, value }: Filter): boolean {
  return operator === 'eq' && BY_INDEX[entity].includes(field) && value !== '0x';
}

/** Either of the two has an index, and so have both; only the index of both goes on with a further topic. */
function isBeginning(first: readonly Filter[], isTopicToFollow: boolean): boolean {
  if (first.some(({ operator }) => operator !== 'eq')) return false;
  return !isTopicToFollow || EVENT.every(name => first.some(({ field }) => field === name));
}
