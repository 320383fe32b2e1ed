import type Database from 'better-sqlite3';
import { hexOf } from '#db/columns.ts';
import type { PackedAnswer, Query } from '#indexer/query/engine.ts';
import type { RowsQuery } from '#indexer/query/query.ts';
import type { Filter } from '#query-model/row-selection.ts';
import type { BulkIndex } from './bulk-index.ts';
import { CONTRACTS, EVENT, PARTY, SPOTS, WALLETS } from './bulk-rows.ts';
import { EVENT_COLUMNS, EVENT_JOINS, TRANSACTION_COLUMNS, TRANSACTION_JOINS } from './hand-columns.ts';

/** One query to the engine, and the same in hand-written SQL. */
export interface Case {
  readonly name: string;
  /** Query of the given round. Rounds differ in their place in the index, not in the number of matches. */
  query(round: number, index: BulkIndex): Query;
  /** Prepares the statements once. `size` counts the rows or groups of the result. */
  byHand(db: Database): (round: number, index: BulkIndex) => { size: number; first: string };
}

/** Blocks of a range. */
export const RANGE = 500;
export const COUNT_UP_TO = 10_000;
const NEWEST: RowsQuery['sort'] = { field: 'block_number', order: 'desc' };

/** Pages with their counts. They match the same number of rows in an index of any size. */
export const PAGES: readonly Case[] = [
  {
    name: 'block range, sorted by value, 20 of 5,000 rows',
    query: (round, index) => ({
      ...page('transactions', 20, { field: 'value', order: 'desc' }),
      filters: blocksFrom(rangeStart(round, index, RANGE), RANGE),
    }),
    byHand(db) {
      const where = 't.id >= ? and t.id < ?';
      const rows = db.prepare(
        `select ${TRANSACTION_COLUMNS} from (select t.id from transactions t where ${where}
         order by t.value desc, t.id desc limit 20) p ${TRANSACTION_JOINS} order by t.value desc, t.id desc`,
      );
      const count = db.prepare(counting(`select 1 from transactions t where ${where}`));
      return (round, index) => {
        const start = rangeStart(round, index, RANGE);
        return pageOf(rows, count, [start * 2 ** 20, (start + RANGE) * 2 ** 20]);
      };
    },
  },
  {
    name: 'wallet in and out, newest 50 of 2,000 rows',
    query: round => ({
      ...page('transactions', 50, NEWEST),
      filters: [],
      wallet: hexOf(spot(WALLETS, round)),
    }),
    byHand(db) {
      const sides = (columns: string) => `select ${columns} from transactions t where t.from_address = ?
        union select ${columns} from transactions t where t.to_address = ?`;
      const rows = db.prepare(
        `select ${TRANSACTION_COLUMNS} from (${sides('t.id')} order by id desc limit 50) p
         ${TRANSACTION_JOINS} order by t.id desc`,
      );
      const count = db.prepare(counting(`${sides('t.id')} order by id desc`));
      return round => pageOf(rows, count, [spot(WALLETS, round), spot(WALLETS, round)]);
    },
  },
  {
    name: 'events of a contract by a topic, newest 20 of 500 rows',
    query: round => ({
      ...page('events', 20, NEWEST),
      filters: [
        { field: 'address', operator: 'eq', value: hexOf(spot(CONTRACTS, round)) },
        { field: 'topic_0', operator: 'eq', value: hexOf(EVENT) },
        { field: 'topic_1', operator: 'eq', value: hexOf(PARTY) },
      ],
    }),
    byHand(db) {
      const kind = '(select id from event_kinds where address = ? and topic0 = ?)';
      const where = `l.kind = ${kind} and l.topic1 = ?`;
      const rows = db.prepare(
        `select ${EVENT_COLUMNS} from (select l.id from logs l where ${where} order by l.id desc limit 20) p
         ${EVENT_JOINS} order by l.id desc`,
      );
      const count = db.prepare(counting(`select 1 from logs l where ${where}`));
      return round => pageOf(rows, count, [spot(CONTRACTS, round), EVENT, PARTY]);
    },
  },
];

/** `count()` over the blocks of a range. */
export function countOver(name: string, blocksOf: (index: BulkIndex) => number): Case {
  return {
    name,
    query: (round, index) => ({
      kind: 'groups',
      entity: 'transactions',
      filters: blocksFrom(rangeStart(round, index, blocksOf(index)), blocksOf(index)),
      keys: [],
      folds: [{ kind: 'count' }],
      limit: 1,
    }),
    byHand(db) {
      const count = db.prepare('select count(*) from transactions where id >= ? and id < ?').pluck();
      return (round, index) => {
        const start = rangeStart(round, index, blocksOf(index));
        const bounds = [start * 2 ** 20, (start + blocksOf(index)) * 2 ** 20];
        return { size: 1, first: String(count.get(...bounds)) };
      };
    },
  };
}

/** Sum over all rows by sender. The hand-written SQL also adds amounts as BigInt in a JavaScript function. */
export function sumBySender(field: 'gas_used' | 'value'): Case {
  return {
    name: `sum(${field}) of all rows by sender`,
    query: () => ({
      kind: 'groups',
      entity: 'transactions',
      filters: [],
      keys: [{ kind: 'field', name: 'from_address' }],
      folds: [{ kind: 'sum', of: { kind: 'field', name: field } }],
      limit: 100_000,
    }),
    byHand(db) {
      if (field === 'value') {
        db.aggregate<bigint>('sum_of_amounts', {
          start: () => 0n,
          step: (sum, amount) => sum + BigInt(String(amount).slice(2)),
          result: sum => String(sum),
        });
      }
      const sum = field === 'value' ? 'sum_of_amounts(value)' : 'sum(gas_used)';
      const groups = db.prepare(
        `select '0x' || lower(hex(from_address)), ${sum} from transactions group by from_address`,
      );
      return () => {
        const all = groups.raw().all();
        return { size: all.length, first: String(all[0]) };
      };
    },
  };
}

/** Outcome of the engine's answer, in the form of `byHand`. */
export function outcomeOf(answer: PackedAnswer): { size: number; first: string } {
  if ('groups' in answer) {
    const [first] = answer.groups;
    return { size: answer.groups.length, first: String([...(first?.keys ?? []), ...(first?.folds ?? [])]) };
  }
  const hash = answer.fields.indexOf('hash') < 0 ? 'transaction_hash' : 'hash';
  const [first] = answer.rows;
  return { size: answer.rows.length, first: `${first?.[answer.fields.indexOf(hash)]} of ${answer.total}` };
}

function pageOf(
  rows: ReturnType<Database['prepare']>,
  count: ReturnType<Database['prepare']>,
  bindings: readonly unknown[],
) {
  const shown = rows.all(...bindings);
  const total = count.pluck().get(...bindings);
  const [first] = shown;
  const hash = typeof first === 'object' && first !== null && 'record_hash' in first ? first.record_hash : '';
  return { size: shown.length, first: `${hash} of ${total}` };
}

function counting(sql: string): string {
  return `select count(*) from (${sql} limit ${COUNT_UP_TO + 1})`;
}

function page(entity: RowsQuery['entity'], limit: number, sort: RowsQuery['sort']) {
  return { kind: 'rows', entity, sort, limit, offset: 0, countUpTo: COUNT_UP_TO } as const;
}

function blocksFrom(start: number, blocks: number): Filter[] {
  return [
    { field: 'block_number', operator: 'gte', value: BigInt(start) },
    { field: 'block_number', operator: 'lt', value: BigInt(start + blocks) },
  ];
}

/** One of `SPOTS` places between beginning and end, so that caches are equally warm in an index of any size. */
export function rangeStart(round: number, index: BulkIndex, blocks: number): number {
  return Math.floor(((round % SPOTS) * (index.blocks - blocks)) / SPOTS);
}

export function spot(list: readonly Buffer[], round: number): Buffer {
  const chosen = list[round % SPOTS];
  if (chosen === undefined) throw new RangeError('there is no such spot');
  return chosen;
}
