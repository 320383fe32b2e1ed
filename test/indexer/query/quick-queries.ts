import type { RowsQuery } from '#indexer/query/query.ts';
import type { Entity, Filter } from '#query-model/row-selection.ts';

export function query(entity: Entity, filters: readonly Filter[], parts: Partial<RowsQuery> = {}): RowsQuery {
  return {
    kind: 'rows',
    entity,
    filters,
    sort: { field: 'block_number', order: 'desc' },
    limit: 50,
    offset: 0,
    countUpTo: 10_000,
    ...parts,
  };
}

export const equal = (field: string, value: bigint | string): Filter => ({ field, operator: 'eq', value });

const between = (field: string, from: bigint, to: bigint): Filter[] => [
  { field, operator: 'gte', value: from },
  { field, operator: 'lt', value: to },
];

/** Queries with a number of steps close to the rows that they show or count, with their names. */
export function quickQueries({
  wallet,
  topic,
  hash,
  selector,
}: Readonly<Record<'wallet' | 'topic' | 'hash' | 'selector', string>>): (readonly [
  what: string,
  asked: RowsQuery,
])[] {
  const event = [equal('address', wallet), equal('topic_0', topic)];
  const ofRange = between('block_number', 1n, 9n);
  return [
    ['blocks of a range', query('blocks', ofRange)],
    ['blocks of a time', query('blocks', between('block_timestamp', 1n, 9n))],
    ['a block', query('blocks', [equal('block_hash', hash)])],
    ['transactions of a range', query('transactions', ofRange)],
    ['transactions of a time', query('transactions', between('block_timestamp', 1n, 9n))],
    ['transactions of a block', query('transactions', [equal('block_hash', hash)])],
    ['a transaction', query('transactions', [equal('hash', hash)])],
    ['what one sent', query('transactions', [equal('from_address', wallet)])],
    ['what one received', query('transactions', [equal('to_address', wallet)])],
    ['calls of a function', query('transactions', [equal('function_selector', selector)])],
    ['a wallet', query('transactions', [], { wallet })],
    ['a wallet in a range', query('transactions', ofRange, { wallet })],
    ['all events of a contract', query('events', event.slice(0, 1))],
    ['events of all contracts', query('events', event.slice(1))],
    ['events of all contracts in a range', query('events', [...event.slice(1), ...ofRange])],
    ['events of a contract', query('events', event)],
    ['events in a range', query('events', [...event, ...ofRange])],
    ...[1, 2, 3].map(
      at => [`events with topic ${at}`, query('events', [...event, equal(`topic_${at}`, topic)])] as const,
    ),
    ['events of a transaction', query('events', [...event, equal('transaction_hash', hash)])],
  ];
}
