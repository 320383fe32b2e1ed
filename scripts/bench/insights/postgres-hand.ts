import type { BulkIndex } from './bulk-index.ts';
import { CONTRACTS, EVENT, PARTY, WALLETS } from './bulk-rows.ts';
import { COUNT_UP_TO, RANGE, rangeStart, spot } from './cases.ts';

/** A hand-written statement for the driver. */
interface HandStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Hand-written SQL of a query: a page and the count of all its rows, or groups. */
export type ByHand = (round: number, index: BulkIndex) => readonly HandStatement[];

const hex = (column: string) => `'0x' || encode(${column}, 'hex')`;

const CHAIN = `(select chain_id from index_state), p.id >> 20, ${hex('b.hash')}`;
const TRANSACTION_JOINS = `join transactions t on t.id = p.id join transaction_details d on d.id = p.id
  join blocks b on b.number = p.id >> 20`;
const TRANSACTION_COLUMNS = `${hex('t.hash')}, ${CHAIN}, t.timestamp / 1000, t.nonce, t.id & 1048575,
  ${hex('t.from_address')}, ${hex('t.to_address')}, t.value, t.gas_price, t.gas_limit, ${hex('t.selector')}, ${hex('t.input')},
  t.max_fee_per_gas, t.max_priority_fee_per_gas, t.type, uint_of(d.r), uint_of(d.s), d.v, ${hex('t.created_contract')}, t.gas_used,
  d.cumulative_gas_used, t.blob_gas_used, t.blob_gas_price, ${hex('d.logs_bloom')}, t.status, d.access_list,
  t.authorization_list`;
const EVENT_JOINS = `join logs l on l.id = p.id join transactions t on t.id = l.transaction_id
  join blocks b on b.number = p.id >> 20`;
const EVENT_COLUMNS = `${hex('t.hash')}, ${CHAIN}, l.timestamp / 1000, l.transaction_id & 1048575, l.id & 1048575,
  ${hex('l.address')}, ${hex('l.data')}, ${hex('l.topic0')}, ${hex('l.topic1')}, ${hex('l.topic2')}, ${hex('l.topic3')}`;

const counting = (sql: string) => `select count(*) from (${sql} limit ${COUNT_UP_TO + 1}) k`;

/** Statements for a page of keys and for the count of all keys. */
function page(keys: { rows: string; count: string; values: readonly unknown[] }, shown: string) {
  return [
    { text: shown.replace('PAGE', keys.rows), values: keys.values },
    { text: counting(keys.count), values: keys.values },
  ] as const;
}

const countInRange: ByHand = (round, index) => {
  const blocks = index.blocks / 10;
  const start = rangeStart(round, index, blocks);
  const text = 'select count(*) from transactions where id >= $1 and id < $2';
  return [{ text, values: [start * 2 ** 20, (start + blocks) * 2 ** 20] }];
};

const sumBySender = (field: string): ByHand => {
  const text = `select ${hex('from_address')}, sum(${field}) from transactions group by from_address`;
  return () => [{ text, values: [] }];
};

/** Hand-written SQL by the name of the case. */
export const BY_HAND: Readonly<Record<string, ByHand>> = {
  'block range, sorted by value, 20 of 5,000 rows'(round, index) {
    const start = rangeStart(round, index, RANGE);
    const where = 'where t.id >= $1 and t.id < $2';
    return page(
      {
        rows: `select t.id, t.value from transactions t ${where} order by t.value desc, t.id desc limit 20`,
        count: `select 1 from transactions t ${where}`,
        values: [start * 2 ** 20, (start + RANGE) * 2 ** 20],
      },
      `select ${TRANSACTION_COLUMNS} from (PAGE) p ${TRANSACTION_JOINS} order by p.value desc, p.id desc`,
    );
  },
  'wallet in and out, newest 50 of 2,000 rows'(round) {
    const side = (name: string, rows: number) =>
      `(select t.id from transactions t where t.${name} = $1 order by t.id desc limit ${rows})`;
    const sides = (rows: number) => `${side('from_address', rows)} union ${side('to_address', rows)}`;
    return page(
      {
        rows: `${sides(50)} order by id desc limit 50`,
        count: sides(COUNT_UP_TO + 1),
        values: [spot(WALLETS, round)],
      },
      `select ${TRANSACTION_COLUMNS} from (PAGE) p ${TRANSACTION_JOINS} order by p.id desc`,
    );
  },
  'events of a contract by a topic, newest 20 of 500 rows'(round) {
    const kind = '(select id from event_kinds where address = $1 and topic0 = $2)';
    const where = `where l.kind = ${kind} and l.topic1 = $3`;
    return page(
      {
        rows: `select l.id from logs l ${where} order by l.id desc limit 20`,
        count: `select 1 from logs l ${where}`,
        values: [spot(CONTRACTS, round), EVENT, PARTY],
      },
      `select ${EVENT_COLUMNS} from (PAGE) p ${EVENT_JOINS} order by p.id desc`,
    );
  },
  'count over a tenth of the rows, 100,000': countInRange,
  'sum(gas_used) of all rows by sender': sumBySender('gas_used'),
  'sum(value) of all rows by sender': sumBySender('value'),
};
